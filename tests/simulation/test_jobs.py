"""Every interleaving of small histories of jobs: nothing fires twice, nothing is silent."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from bot.authz.actor import Actor, Surface
from bot.commands.registry import Registry
from bot.commands.who import COMMANDS
from bot.dispatch.turn import run_turn
from bot.jobs import service, store
from bot.jobs.job import Job
from bot.jobs.service import Draft
from bot.jobs.tick import tick_jobs
from bot.ports import EngineStatus
from bot.pushes import flush
from bot.runs.watchdog import watch
from bot.words import Code, Refused
from tests.simulation.explore import History, explore, sample
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.turns import KeptSteps
from tests.unit.builders import ms

ALICE = Actor(Surface.WEB, "alice")
START = ms("2026-09-01T03:00:00+00:00")
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


class World:
    """One house with jobs, shared by the tasks of a history."""

    def __init__(self, *, deep: bool = False) -> None:
        self.history = History(deep=deep)
        self.house: TestHouse = make_house(pause=self.history.pause, commands=Registry(COMMANDS))
        self.house.clock.set(START)
        self.steps: dict[str, KeptSteps] = {}
        self.ids = 0

    def add(self, **draft: Any) -> Job:
        made = run(self.create(**draft))
        assert isinstance(made, Job), made
        return made

    async def create(self, **draft: Any) -> Job | Refused:
        self.ids += 1
        return await service.create(
            self.house,
            ALICE,
            Draft(**{"name": "n", "prompt": "whoami", **draft}),
            job_id=f"job{self.ids}",
            now_ms=self.house.clock.now_ms(),
        )

    async def delete(self, job: Job) -> Refused | None:
        return await service.delete(self.house, ALICE, job.id)

    def at(self, minutes: int) -> None:
        self.house.clock.set(START + minutes * MINUTE + 5_000)

    async def tick(self) -> Any:
        return await tick_jobs(self.house, self.house.clock.now_ms())

    async def turn(self, run_id: str) -> None:
        """One life of a run."""
        await run_turn(self.house, run_id, self.steps.setdefault(run_id, KeptSteps()))
        self.house.engine.statuses[run_id] = EngineStatus.ENDED

    def settle(self) -> None:
        """What comes later in any life: the watchdog, each started run's end, and the pushes."""
        self.house.clock.advance(minutes=5)
        run(watch(self.house))
        for run_id in list(self.house.engine.started):
            run(self.turn(run_id))
        run(watch(self.house))
        self.house.background.finish()
        run(flush(self.house))

    def sql(self, sql: str) -> list[dict[str, Any]]:
        return self.house.db.sql(sql)

    def check(self) -> None:
        """At any time: one run and one row a due instant, and no instance without either."""
        runs = self.sql("SELECT id, row_id, due_at, actor FROM runs")
        instants = Counter((made["row_id"], made["due_at"]) for made in runs)
        assert all(count == 1 for count in instants.values()), instants
        assert {made["actor"] for made in runs} <= {"web:alice"}
        claims = {row["run_id"] for row in self.sql("SELECT run_id FROM job_runs")}
        started = self.house.engine.started
        assert len(started) == len(set(started))
        assert set(started) <= {made["id"] for made in runs} <= claims

    def check_settled(self) -> None:
        """In the end: every claim has its end and its one event, pushed once or known not to be."""
        self.check()
        rows = self.sql("SELECT * FROM job_runs")
        assert all(row["ended_at"] is not None for row in rows), rows
        told = self.sql("SELECT key, kind, push, push_at FROM events")
        keys = Counter(event["key"] for event in told)
        assert all(count == 1 for count in keys.values())
        assert {row["run_id"] for row in rows} <= set(keys)
        assert all(event["push_at"] is None for event in told), told
        posts = Counter(post["id"] for post in self.sql("SELECT id FROM messages"))
        assert all(count == 1 for count in posts.values())
        for job in self.sql("SELECT * FROM jobs"):
            fired = any(row["job_id"] == job["id"] for row in rows)
            given_up = f"{job['id']}-abandoned" in keys
            if job["run_at"] is not None and job["last_fired_at"] is not None:
                assert fired != given_up, "a one-shot ran or was given up, never both or neither"


def due_world(*, deep: bool = False, **draft: Any) -> World:
    """A world in which one job has just fallen due."""
    w = World(deep=deep)
    w.add(**draft or {"schedule": "*/1m"})
    w.at(1)
    return w


ONCE: dict[str, Any] = {"run_in_minutes": 1}


class TestTwoTicks:
    @pytest.mark.parametrize("draft", [{}, ONCE])
    def test_of_one_instant_one_fires_and_one_loses(self, draft: dict[str, Any]):
        def make():
            w = due_world(**draft)
            ticks = [w.history.add(name, w.tick()) for name in ("old", "new")]

            def check():
                reports = [tick.result for tick in ticks]
                assert sorted(each.started for each in reports) == [0, 1]
                assert sum(each.claimed for each in reports) == 1
                assert all(each.claimed + each.lost == each.due for each in reports)
                w.check()
                w.settle()
                w.check_settled()
                assert [row["state"] for row in w.sql("SELECT * FROM job_runs")] == ["ok"]

            return w.history, check

        assert explore(make, preemptions=3) > 20

    def test_one_of_which_dies_anywhere(self):
        def make():
            w = due_world(deep=True, **ONCE)
            w.history.add("old", w.tick(), crashes=1)
            w.history.add("new", w.tick())

            def check():
                w.check()
                w.settle()
                w.check_settled()
                (event,) = w.sql("SELECT kind FROM events")
                assert event["kind"] in ("job_result", "job_error")

            return w.history, check

        assert explore(make, preemptions=2) > 50

    def test_of_a_stale_one_shot_one_tells_its_owner(self):
        def make():
            w = World()
            w.add(**ONCE)
            w.house.clock.set(START + 2 * DAY)
            for name in ("old", "new"):
                w.history.add(name, w.tick(), crashes=1 if name == "old" else 0)

            def check():
                w.settle()
                w.check_settled()
                assert w.sql("SELECT * FROM runs") == []
                assert w.sql("SELECT enabled FROM jobs") == [{"enabled": 0}]
                assert [e["kind"] for e in w.sql("SELECT kind FROM events")] == ["job_abandoned"]

            return w.history, check

        assert explore(make) > 20


class TestOneTick:
    def test_that_dies_or_whose_stores_fail_leaves_nothing_silent(self):
        def make():
            w = due_world(deep=True)
            w.history.add("first", w.tick(), crashes=1, faults=1)

            def check():
                w.check()
                for minute in (2, 3):
                    w.at(minute)
                    assert run(w.tick()).started == 1, "the next minutes go on"
                    w.check()
                w.settle()
                w.check_settled()
                assert len(w.sql("SELECT * FROM events")) in (2, 3)

            return w.history, check

        assert explore(make) > 20

    def test_beside_a_delete_the_job_runs_at_most_once_and_does_not_come_back(self):
        def make():
            w = due_world()
            (row,) = w.sql("SELECT id FROM jobs")
            tick = w.history.add("tick", w.tick())
            w.history.add("delete", w.delete(_of(w, row["id"])))

            def check():
                w.check()
                assert w.sql("SELECT * FROM jobs") == []
                assert tick.result.started == len(w.sql("SELECT * FROM job_runs"))
                w.settle()
                w.check_settled()
                assert w.sql("SELECT * FROM jobs") == []

            return w.history, check

        assert explore(make) > 5


def _of(w: World, job_id: str) -> Job:
    found = run(store.get(w.house.db, ALICE.id, job_id))
    assert isinstance(found, Job)
    return found


class TestCreates:
    def test_at_nine_of_several_at_once_one_is_the_tenth(self):
        def make():
            w = World()
            for _ in range(9):
                w.add(schedule="*/5m")
            tasks = [w.history.add(f"add{n}", w.create(schedule="*/5m")) for n in range(3)]

            def check():
                made = [task.result for task in tasks]
                assert sum(isinstance(each, Job) for each in made) == 1
                refused = [each for each in made if isinstance(each, Refused)]
                assert {each.code for each in refused} == {Code.TOO_MANY}
                assert w.sql("SELECT count(*) AS n FROM jobs") == [{"n": 10}]

            return w.history, check

        assert explore(make) > 20


class TestRun:
    @pytest.mark.parametrize("limit", ["crashes", "faults"])
    def test_that_dies_anywhere_or_whose_stores_fail_is_told_once(self, limit: str):
        def make():
            w = due_world(deep=True, **ONCE)
            run(w.tick())
            (run_id,) = w.house.engine.started
            w.history.add("life", w.turn(run_id), **{limit: 1})

            def check():
                w.settle()
                w.check_settled()
                (row,) = w.sql("SELECT state FROM job_runs")
                (event,) = w.sql("SELECT kind FROM events")
                assert (row["state"] == "ok") == (event["kind"] == "job_result")

            return w.history, check

        assert explore(make) > 10

    def test_that_ends_while_the_watchdog_ends_it_is_told_once_and_alike(self):
        def make():
            w = due_world(**ONCE)
            run(w.tick())
            (run_id,) = w.house.engine.started
            w.history.add("turn", w.turn(run_id))
            w.house.clock.advance(minutes=40)
            w.history.add("watchdog", watch(w.house))

            def check():
                w.settle()
                w.check_settled()
                (row,) = w.sql("SELECT state, code FROM job_runs")
                (made,) = w.sql("SELECT state, code FROM runs")
                assert row == made
                (event,) = w.sql("SELECT kind FROM events")
                assert (row["state"] == "ok") == (event["kind"] == "job_result")

            return w.history, check

        assert explore(make, preemptions=2) > 50


def test_random_histories_of_ticks_runs_deletes_and_clock_steps():
    def make(draw: random.Random):
        w = World()
        for _ in range(draw.randrange(1, 5)):
            w.add(**draw.choice(({"schedule": "*/1m"}, {"schedule": "*/3m"}, ONCE)))
        for _ in range(draw.randrange(3)):
            run(w.tick())
            w.house.clock.advance(minutes=draw.choice((0, 1, 2, -3, 3 * 24 * 60)))
        w.house.clock.set(max(w.house.clock.now_ms(), START))
        for n in range(draw.randrange(1, 4)):
            limits = {"crashes": draw.randrange(2), "faults": draw.randrange(2)}
            w.history.add(f"tick{n}", w.tick(), **limits)
        if w.house.engine.started:
            run_id = draw.choice(w.house.engine.started)
            w.history.add("turn", w.turn(run_id), crashes=draw.randrange(2))

        def check():
            w.check()
            w.settle()
            w.check_settled()

        return w.history, check

    sample(make, range(300))
