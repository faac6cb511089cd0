"""The world of a history: a house, what its people do, and the invariants afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot import org
from bot.authz.grants import Grant
from bot.commands.registry import Registry
from bot.commands.schedule import COMMANDS as SCHEDULE_COMMANDS
from bot.dispatch.turn import run_turn
from bot.ports import EngineStatus, Json, StepWork
from bot.runs.watchdog import watch
from bot.schedules import edit
from bot.schedules.cron import latest_fire
from bot.schedules.edit import Draft
from bot.schedules.fire import fire
from bot.schedules.firing import claim_firing, run_id_of
from bot.schedules.row import Row, rows_of
from bot.schedules.tick import tick
from tests.simulation.explore import History
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.unit.builders import entry, ms

START = ms("2026-09-01T02:58:00+00:00")
ALL = (Grant("all"),)
DEFAULTS = {"created_at": START, "text": "schedule list", "grants": ["schedule:read"]}


class MemorySteps:
    """Durable steps: a step that ended is answered from ``kept``; a crash keeps what ended."""

    def __init__(self, kept: dict[str, str], ran: list[str]):
        self.kept = kept
        self.ran = ran

    async def do(self, name: str, work: StepWork, *, retries: int = 0) -> Json:
        if name not in self.kept:
            for attempt in range(retries + 1):
                try:
                    self.ran.append(name)
                    self.kept[name] = json.dumps(await work())
                    break
                except Exception:
                    if attempt == retries:
                        raise
        return json.loads(self.kept[name])

    async def sleep(self, name: str, ms: int) -> None:
        if name not in self.kept:
            self.ran.append(name)
            self.kept[name] = json.dumps(ms)


@dataclass
class World:
    """One house shared by the tasks of a history, and what is known of it from outside."""

    history: History
    house: TestHouse = field(init=False)
    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.house = make_house(pause=self.history.pause, commands=Registry(SCHEDULE_COMMANDS))
        self.house.clock.set(START)

    # --- set-up ---------------------------------------------------------------------

    def row(self, name: str, **values: Any) -> None:
        """Store a row, made at ``START``."""
        made = entry(name, **{**DEFAULTS, **values})
        self.added[made["id"]] = made
        self.house.config.put({f"schedules.{name}": made})

    def at(self, iso: str) -> None:
        self.house.clock.set(ms(iso))

    # --- what people and the platform do ----------------------------------------------

    async def tick(self) -> Any:
        return await tick(self.house)

    async def press(self, name: str, by: str = "web:alice", call: str = "call1") -> Any:
        return await fire(self.house, name, by=by, call_id=call, now_ms=self.house.clock.now_ms())

    async def add(self, name: str, row_id: str, cron: str = "0 3 * * *") -> Any:
        draft = Draft(name, cron, "schedule list", "web:ops")
        made = await edit.add(
            self.house,
            draft,
            author="web:alice",
            held=ALL,
            row_id=row_id,
            now_ms=self.house.clock.now_ms(),
        )
        if isinstance(made, Row):
            self.added[row_id] = dict(self.house.config.get().entries[f"schedules.{name}"])
        return made

    async def remove(self, name: str) -> Any:
        gone = await edit.remove(self.house, name)
        if gone is True:
            self.removed.add(name)
        return gone

    async def set_config(self, value: int) -> Any:
        def decision(document: Any) -> Any:
            return {"note": value}, True

        return await org.change(self.house.config, decision)

    async def turn(self, run_id: str) -> None:
        """One life of a run's Workflow instance."""
        kept = self.steps.setdefault(run_id, {})
        ran = self.ran.setdefault(run_id, [])
        await run_turn(self.house, run_id, MemorySteps(kept, ran))
        self.house.engine.statuses[run_id] = EngineStatus.ENDED

    # --- afterwards ---------------------------------------------------------------------

    def settle(self) -> None:
        """What comes later in any life: rounds of the watchdog and every started run's end."""
        for _ in range(2):
            self.house.clock.advance(minutes=5)
            run(watch(self.house))
            for run_id in list(self.house.engine.started):
                run(self.turn(run_id))

    def runs(self) -> list[dict[str, Any]]:
        return self.house.db.sql("SELECT * FROM runs ORDER BY admitted_at, id")

    def rows(self) -> dict[str, Row]:
        entries = self.house.config.get().entries
        return {row.name: row for row in rows_of(entries) if isinstance(row, Row)}

    def check(self) -> None:
        """The invariants of ``docs/architecture.md``, over all that is left."""
        self.check_runs()
        for row in self.rows().values():
            if row.stored.enabled:
                self.check_accounted(row)
        for name in self.removed:
            back = self.rows().get(name)
            assert back is None or back.stored.id not in self._ids_of(name, but_last=True), (
                f"{name} came back"
            )

    def _ids_of(self, name: str, *, but_last: bool) -> set[str]:
        ids = [row_id for row_id, made in self.added.items() if made["name"] == name]
        return set(ids[:-1] if but_last and len(ids) > 1 else ids if not but_last else [])

    def check_runs(self) -> None:
        seen: set[tuple[str, int]] = set()
        for made in self.runs():
            row = self.added[made["row_id"]]
            assert made["actor"] == f"schedule:{row['name']}"
            assert json.loads(made["grants"]) == row["grants"]
            if made["due_at"] is not None:
                minute = (made["row_id"], made["due_at"])
                assert minute not in seen, f"{minute} has two runs"
                seen.add(minute)
                assert made["id"] == run_id_of(*minute)
        ledger_ids = {made["id"] for made in self.runs()}
        started = self.house.engine.started
        assert len(started) == len(set(started)), "an instance was started twice"
        assert set(started) <= ledger_ids, "an instance has no ledger row"

    def check_handed_back(self, made: Mapping[str, Any]) -> None:
        """The command stands once in the thread of a refused write, and in the ledger."""
        assert made["delivery"] in ("delivered", "unknown")  # unknown: the answer was lost
        assert made["text"] in made["output"]
        posted = [text for text in self.house.web.texts(made["thread"]) if made["code"] in text]
        assert len(posted) == 1 or (not posted and made["delivery"] == "unknown"), posted
        assert all(made["text"] in text for text in posted)

    def check_accounted(self, row: Row) -> None:
        """Every due minute up to the last claim is a run, a skip, folded, or claimed and shown."""
        stored = row.stored
        if stored.last_due_at is None:
            return
        claims = self._claims(row)
        assert stored.last_due_at in claims, "the last claim does not show"
        latest = latest_fire(
            row.cron, row.zone, stored.created_at, stored.last_due_at, cap=1_000_000
        )
        assert latest is not None
        assert sum(1 + folded for folded in claims.values()) == latest.coalesced + 1, (
            f"{row.name}: claims {claims} do not account for {latest.coalesced + 1} due minutes"
        )

    def _claims(self, row: Row) -> Mapping[int, int]:
        """Due minute to how many were folded into it, over ledger, history and the row."""
        stored = row.stored
        firings = [
            firing
            for firing in run(self.house.history.history(row.name, 200, None))
            if firing.row_id == stored.id and firing.due_at is not None
        ]
        runs = {made["id"]: made for made in self.runs() if made["row_id"] == stored.id}
        claims = {firing.due_at: firing.coalesced for firing in firings if firing.due_at}
        claims |= {m["due_at"]: m["coalesced"] for m in runs.values() if m["due_at"]}
        current = claim_firing(stored, {}, self.house.clock.now_ms())
        assert current is not None and current.due_at is not None
        claims[current.due_at] = current.coalesced
        return claims
