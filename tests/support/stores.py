"""``ConfigStore`` and ``HistoryStore`` over the objects' own stores, without the objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from bot.ports import Document, Firing, Json, Swap, TickRecord
from config_do.documents import Documents, TooLarge, Won, bad_change
from schedule_do.firings import FOREVER_MS
from schedule_do.routes import Schedules
from tests.support.drive import Pause, Port, no_pause
from tests.support.sql import MemorySql


class MemoryConfig(Port):
    """Documents in memory. ``put`` writes past the port, for set-up and for other writers."""

    def __init__(self, pause: Pause = no_pause):
        super().__init__(pause)
        self.documents = Documents(MemorySql())

    async def read(self, tier: str) -> Document:
        await self.pause("config.read")
        document = self.get(tier)
        await self.pause("config.read done")
        return document

    async def swap(
        self,
        tier: str,
        expected_version: int,
        changes: Mapping[str, Json],
        *,
        upkeep: bool = False,
    ) -> Swap:
        await self.pause("config.swap")
        for key, value in changes.items():
            reason = bad_change(key, value)
            if reason is not None:
                return Swap(won=False, version=expected_version, refusal=reason)
        swap = self.documents.swap(tier, expected_version, changes, upkeep=upkeep)
        await self.pause("config.swap done")
        if isinstance(swap, TooLarge):
            return Swap(won=False, version=expected_version, refusal=swap.detail)
        return Swap(won=isinstance(swap, Won), version=swap.version)

    def get(self, tier: str = "org") -> Document:
        """The document at once, without the port's hook; a copy of its own each time."""
        stored = self.documents.read(tier)
        return Document(stored.version, json.loads(stored.entries))

    def put(self, changes: Mapping[str, Json], tier: str = "org") -> int:
        """Write entries at once, whatever the version; the new version."""
        swap = self.documents.swap(tier, self.documents.version(tier), changes)
        assert isinstance(swap, Won), swap
        return swap.version


class MemoryHistory(Port):
    """Firing history in memory. ``schedules`` is the store itself."""

    def __init__(self, pause: Pause = no_pause):
        super().__init__(pause)
        self.schedules = Schedules(MemorySql())

    async def record(self, firings: Sequence[Firing]) -> None:
        await self.pause("history.record")
        self.schedules.firings.record(firings)
        await self.pause("history.record done")

    async def latest(self, claims: Mapping[str, str | None]) -> Mapping[str, Firing]:
        await self.pause("history.latest")
        latest = self.schedules.firings.latest(claims)
        await self.pause("history.latest done")
        return latest

    async def history(
        self, name: str, limit: int, before_ms: int | None = None, row_id: str | None = None
    ) -> Sequence[Firing]:
        await self.pause("history.history")
        firings = self.schedules.firings.history(name, limit, before_ms, row_id)
        await self.pause("history.history done")
        return firings

    async def record_tick(self, tick: TickRecord) -> None:
        await self.pause("history.record_tick")
        self.schedules.ticks.record(tick)
        await self.pause("history.record_tick done")

    async def ticks(self, limit: int, before_ms: int | None = None) -> Sequence[TickRecord]:
        await self.pause("history.ticks")
        ticks = self.schedules.ticks.history(limit, FOREVER_MS if before_ms is None else before_ms)
        await self.pause("history.ticks done")
        return ticks

    async def tick_summary(self, now_ms: int) -> Json:
        await self.pause("history.tick_summary")
        summary = self.schedules.summary(now_ms)
        await self.pause("history.tick_summary done")
        return summary

    async def strips(self, since_ms: int, bucket_ms: int) -> Json:
        await self.pause("history.strips")
        strips = self.schedules.strips(since_ms, bucket_ms)
        await self.pause("history.strips done")
        return strips
