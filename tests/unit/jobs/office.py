"""A house with people's jobs in it: made, ticked, run and told, step by step."""

from __future__ import annotations

from typing import Any

from bot.authz.actor import Actor, parse_actor
from bot.commands.all import REGISTRY
from bot.dispatch.turn import run_turn
from bot.jobs import service
from bot.jobs.job import Job
from bot.jobs.service import Draft
from bot.jobs.tick import JobsReport, tick_jobs
from bot.ports import EngineStatus
from bot.runs.watchdog import watch
from tests.support.drive import Pause, no_pause, run
from tests.support.house import TestHouse, make_house
from tests.support.turns import KeptSteps
from tests.unit.builders import ms

ALICE = "web:alice"
MONDAY = "2026-03-02T10:07:00+00:00"


def person(written: str = ALICE) -> Actor:
    made = parse_actor(written)
    assert isinstance(made, Actor), made
    return made


class Office:
    """It opens at 10:07 on a Monday. ``house`` is open to the test."""

    def __init__(self, pause: Pause = no_pause, **overrides: Any):
        self.house: TestHouse = make_house(pause=pause, commands=REGISTRY, **overrides)
        self.house.clock.set(MONDAY)
        self.turned: set[str] = set()

    def at(self, iso: str) -> None:
        """Set the clock, by a whole time or by ``HH:MM`` of the Monday."""
        self.house.clock.set(ms(f"2026-03-02T{iso}:00+00:00" if len(iso) == 5 else iso))

    def try_add(self, owner: str = ALICE, *, thread: str | None = None, **draft: Any) -> Any:
        """Make a job; what is not said is ``whoami`` every 30 minutes."""
        if "run_in_minutes" not in draft:
            draft.setdefault("schedule", "*/30m")
        return run(
            service.create(
                self.house,
                person(owner),
                Draft(**{"name": "stretch", "prompt": "whoami", **draft}),
                job_id=self.house.ids.new(),
                now_ms=self.house.clock.now_ms(),
                thread=thread,
            )
        )

    def add(self, owner: str = ALICE, **draft: Any) -> Job:
        made = self.try_add(owner, **draft)
        assert isinstance(made, Job), made
        return made

    def tick(self, iso: str | None = None) -> JobsReport:
        """One tick's part of jobs, and the pushes that it leaves to later."""
        if iso is not None:
            self.at(iso)
        report = run(tick_jobs(self.house, self.house.clock.now_ms()))
        self.house.background.finish()
        return report

    def turns(self) -> list[str]:
        """Carry every started run to its end; their ids."""
        ran = [run_id for run_id in self.house.engine.started if run_id not in self.turned]
        for run_id in ran:
            self.turned.add(run_id)
            run(run_turn(self.house, run_id, KeptSteps()))
            self.house.engine.statuses[run_id] = EngineStatus.ENDED
        return ran

    def watch(self) -> Any:
        """One round of the watchdog."""
        report = run(watch(self.house))
        self.house.background.finish()
        return report

    def events(self, owner: str = ALICE) -> list[dict[str, Any]]:
        """The owner's ring as it lies in the database."""
        return self.house.db.sql("SELECT * FROM events WHERE owner = ? ORDER BY seq", owner)

    def job_runs(self) -> list[dict[str, Any]]:
        return self.house.db.sql("SELECT * FROM job_runs ORDER BY claimed_at, run_id")

    def rows(self) -> list[dict[str, Any]]:
        return self.house.db.sql("SELECT * FROM jobs ORDER BY created_at, id")

    def runs(self) -> list[dict[str, Any]]:
        return self.house.db.sql("SELECT * FROM runs ORDER BY admitted_at, id")

    def own_thread(self, subject: str = "alice") -> list[str]:
        """What the person's own web thread says."""
        return [
            row["text"]
            for row in self.house.db.sql(
                "SELECT text FROM messages WHERE thread = ? ORDER BY rowid", f"web:@{subject}/jobs"
            )
        ]
