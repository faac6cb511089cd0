"""The bot with one more door for tests: `POST /do` uses an owner's tools without a model."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from workers import Response

from bot.agent.personal import capabilities_of_owner
from bot.agent.seal import open_secret
from bot.agent.telegram_tool import consume_link_code
from bot.agent.tools import ToolCall
from bot.app import house_of
from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import grants_of
from bot.cloudflare.seal import AesSeal
from bot.runs.flow import RunFlow
from bot.runs.ledger import Run
from bot.words import Refused, Source, State
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

    async def do_tools(self, owner: str) -> Any:
        house = house_of(self.env, self.ctx)
        own = await capabilities_of_owner(house, _run(owner))
        tools = {tool.name: dict(tool.parameters) for tool in own.tools}
        return {"tools": tools, "missing": list(own.missing)}

    async def do_call(self, owner: str, tool: str, args: dict[str, Any], key: str) -> Any:
        house = house_of(self.env, self.ctx)
        own = await capabilities_of_owner(house, _run(owner))
        named = {each.name: each for each in own.tools}
        call = ToolCall(house, _run(owner), args, key, house.clock.now_ms())
        result = await named[tool].call(call)
        return {"text": result.text, "ok": result.ok, "untrusted": result.untrusted}

    async def do_link(self, code: str, chat: int) -> Any:
        house = house_of(self.env, self.ctx)
        linked = await consume_link_code(house, code, chat, chat, house.clock.now_ms())
        return linked.code if isinstance(linked, Refused) else linked

    async def do_sealed(self, owner: str) -> Any:
        """An owner's rows of MCP servers as they are stored, and opened."""
        house = house_of(self.env, self.ctx)
        rows = (await house.db.run("SELECT * FROM mcp_servers WHERE owner = ?", owner)).rows
        return [[row["secret"], await open_secret(house, row)] for row in rows]

    async def do_close(self, key: str, secret: str, place: str) -> Any:
        return await AesSeal(key).close(secret, place=place)

    async def do_open(self, key: str, sealed: str, place: str) -> Any:
        return await AesSeal(key).open(sealed, place=place)


def _run(owner: str) -> Run:
    actor = parse_actor(owner)
    assert isinstance(actor, Actor)
    values = dict.fromkeys(Run.__slots__)
    return Run(
        **{
            **values,
            "id": "run1",
            "actor": owner,
            "grants": grants_of(actor, {}, frozenset()),
            "source": Source.MESSAGE,
            "text": "use it",
            "state": State.RUNNING,
        }
    )
