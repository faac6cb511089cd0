"""ScheduleDO's client: ``bot.ports.HistoryStore`` over an object's RPC door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from bot.objects import Namespace, call
from bot.ports import Fault, Firing, Json, TickRecord

OBJECT = "history"
"""The name of the one object: ``env.SCHEDULES.getByName(OBJECT)``."""
RECORD_BATCH = 200


class ScheduleClient:
    """Firing history and tick statistics, over the object's namespace binding."""

    def __init__(self, namespace: Namespace):
        self._namespace = namespace

    async def record(self, firings: Sequence[Firing]) -> None:
        """Insert or advance firings by key, a batch at a time. Raises Fault."""
        for start in range(0, len(firings), RECORD_BATCH):
            batch = [asdict(firing) for firing in firings[start : start + RECORD_BATCH]]
            await self._ask("POST", "/schedules/record", {"firings": batch})

    async def latest(self, claims: Mapping[str, str | None]) -> Mapping[str, Firing]:
        """The last firing of each row by row id, see ``HistoryStore.latest``. Raises Fault."""
        if not claims:
            return {}
        rows = ",".join(f"{row_id}:{key or ''}" for row_id, key in claims.items())
        body = await self._ask("GET", f"/schedules/latest?{urlencode({'rows': rows})}")
        return {row_id: Firing(**firing) for row_id, firing in body["firings"].items()}

    async def history(
        self, name: str, limit: int, before_ms: int | None = None, row_id: str | None = None
    ) -> Sequence[Firing]:
        """At most ``limit`` (1 to 200) firings of a name or a row, newest first. Raises Fault."""
        query = {"name": name} | _page(limit, before_ms)
        if row_id is not None:
            query["row"] = row_id
        body = await self._ask("GET", f"/schedules/history?{urlencode(query)}")
        return [Firing(**firing) for firing in body["firings"]]

    async def record_tick(self, tick: TickRecord) -> None:
        """Keep one tick's figures. Raises Fault."""
        await self._ask("POST", "/ticks/record", {"tick": asdict(tick)})

    async def ticks(self, limit: int, before_ms: int | None = None) -> Sequence[TickRecord]:
        """At most ``limit`` (1 to 200) ticks, newest first. Raises Fault."""
        body = await self._ask("GET", f"/ticks/history?{urlencode(_page(limit, before_ms))}")
        return [TickRecord(**tick) for tick in body["ticks"]]

    async def tick_summary(self, now_ms: int) -> Json:
        """``{last, h24, d30, claims_without_run}``, see ``Schedules.summary``. Raises Fault."""
        return await self._ask("GET", f"/ticks/summary?now={now_ms}")

    async def strips(self, since_ms: int, bucket_ms: int) -> Json:
        """``{ticks, firings}`` counted by bucket, see ``Firings.strips``. Raises Fault."""
        return await self._ask("GET", f"/strips?since={since_ms}&bucket={bucket_ms}")

    async def _ask(self, method: str, path: str, value: Json = None) -> Json:
        status, body = await call(self._namespace.getByName(OBJECT), method, path, value)
        if status != 200:
            raise Fault(f"{method} {path}: {status} {body and body.get('detail')}")
        return body


def _page(limit: int, before_ms: int | None) -> dict[str, Any]:
    return {"limit": limit} | ({} if before_ms is None else {"before": before_ms})
