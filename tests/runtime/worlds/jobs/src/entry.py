"""The bot with one more door for tests: `POST /do` reads and writes its database past the rules."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from workers import Response

from bot.app import house_of
from bot.jobs import store
from bot.runs.flow import RunFlow
from bot.worker import Default as Bot
from config_do.object import ConfigDO
from schedule_do.object import ScheduleDO

__all__ = ["ConfigDO", "Default", "RunFlow", "ScheduleDO"]


class Default(Bot):
    async def fetch(self, request: Any) -> Any:
        if urlsplit(request.url).path != "/do":
            return await super().fetch(request)
        name, args = await request.json()
        return Response.json({"value": await getattr(self, f"do_{name}")(*args)})

    async def do_sql(self, sql: str, *params: Any) -> Any:
        answer = await house_of(self.env, self.ctx).db.run(sql, *params)
        return {"rows": list(answer.rows), "changes": answer.changes}

    async def do_due(self, now_ms: int) -> Any:
        """What the one query of a tick finds, and the rows that D1 says it read."""
        found = await store.due(house_of(self.env, self.ctx).db, now_ms)
        return {"jobs": len(found.jobs), "rows_read": found.rows_read}
