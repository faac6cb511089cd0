import dataclasses

import pytest

from bot.authz.actor import Actor, Surface
from bot.commands.all import REGISTRY
from bot.dispatch.admit import admit
from bot.dispatch.message import IncomingMessage
from bot.ports import EngineStatus, Fault
from bot.runs import ledger
from bot.runs.watchdog import DEADLINE_MS, MAX_RESUMES, STALL_MS, Remedy, remedy, watch
from bot.words import Source
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import entry, ms

ALIVE, ABSENT, ENDED = EngineStatus.ALIVE, EngineStatus.ABSENT, EngineStatus.ENDED


def admitted(house, run_id="run1", **values):
    message = IncomingMessage(
        run_id=run_id,
        actor=Actor(Surface.WEB, "alice"),
        grants=(),
        source=Source.MESSAGE,
        text="whoami",
        **values,
    )
    run(admit(house, [message], house.clock.now_ms()))
    return run(ledger.get(house.db, run_id))


def refused_write(house):
    message = IncomingMessage(
        run_id="run1",
        actor=Actor(Surface.SCHEDULE, "nightly"),
        grants=(),
        source=Source.SCHEDULE,
        text="schedule pause nightly",
        name="nightly",
        row_id="row1",
        due_at=house.clock.now_ms(),
        claimed_at=house.clock.now_ms(),
        channel="web:ops",
    )
    run(admit(house, [message], house.clock.now_ms()))


class TestRemedy:
    @pytest.fixture
    def made(self):
        return admitted(make_house(commands=REGISTRY))

    @pytest.mark.parametrize(
        ("status", "quiet_ms", "what"),
        [
            (ALIVE, 0, Remedy.LEAVE),
            (ABSENT, STALL_MS - 1, Remedy.LEAVE),
            (ABSENT, STALL_MS, Remedy.START),
            (ALIVE, STALL_MS, Remedy.RESUME),
            (ENDED, 0, Remedy.END),
            (ALIVE, DEADLINE_MS + 1, Remedy.END),
            (ALIVE, -3_600_000, Remedy.RESUME),
        ],
    )
    def test_by_how_the_instance_stands_and_how_long_it_is_quiet(
        self, made, status, quiet_ms, what
    ):
        assert remedy(made, status, made.touched_at + quiet_ms) is what

    def test_a_run_is_resumed_so_often_and_then_ended(self, made):
        tired = dataclasses.replace(made, resumed=MAX_RESUMES + 1)
        assert remedy(tired, ALIVE, made.touched_at) is Remedy.END


class TestARound:
    def test_starts_what_was_admitted_and_never_started(self):
        house = make_house(commands=REGISTRY)
        admitted(house)
        house.clock.advance(minutes=3)
        assert run(watch(house)).started == ["run1"]
        assert house.engine.started == ["run1"]

    def test_resumes_what_stalled(self):
        house = make_house(commands=REGISTRY)
        admitted(house)
        house.engine.statuses["run1"] = ALIVE
        house.clock.advance(minutes=3)
        assert run(watch(house)).resumed == ["run1"]
        assert house.engine.resumed == ["run1"]
        assert run(watch(house)).resumed == [], "it is given its two minutes again"

    def test_ends_what_died_frees_its_slot_and_says_so_in_its_thread(self):
        house = make_house(commands=REGISTRY)
        opened = run(house.web.open_thread("web:ops", "hello", key="t", now_ms=0))
        admitted(house, thread=opened.thread)
        house.engine.statuses["run1"] = ENDED
        run(watch(house))
        made = run(ledger.get(house.db, "run1"))
        assert (made.state, made.code, made.delivery) == ("failed", "interrupted", "delivered")
        assert "interrupted" in house.web.texts(opened.thread)[-1]
        assert admitted(house, "run2", thread=opened.thread).live, "the slot is free"

    def test_starts_the_hand_back_of_a_refused_write_that_was_never_started(self):
        house = make_house(commands=REGISTRY)
        refused_write(house)
        house.clock.advance(minutes=3)
        assert run(watch(house)).started == ["run1"]
        assert run(watch(house)).started == [], "it is given its two minutes"

    def test_hands_back_by_itself_what_an_instance_died_over(self):
        house = make_house(commands=REGISTRY)
        refused_write(house)
        house.engine.statuses["run1"] = ENDED
        assert run(watch(house)).ended == ["run1"]
        made = run(ledger.get(house.db, "run1"))
        assert (made.state, made.code, made.delivery) == ("refused", "schedule_write", "delivered")
        assert "schedule pause nightly" in made.output
        ((_, said),) = house.web.threads.items()
        assert "schedule pause nightly" in said
        assert run(house.history.history("nightly", 1, None))[0].delivery == "delivered"
        assert run(watch(house)).ended == []

    def test_leaves_alone_what_ended_by_itself_while_it_looked(self):
        async def meanwhile(point):
            if point == "engine.status":
                await ledger.finish(house.db, "run1", state="ok", code=None, output="", now_ms=1)

        house = make_house(commands=REGISTRY)
        admitted(house)
        house.engine.statuses["run1"] = ENDED
        house.engine.pause = meanwhile
        assert run(watch(house)).ended == []
        assert run(ledger.get(house.db, "run1")).state == "ok"

    def test_goes_on_when_one_run_cannot_be_tended(self):
        house = make_house(commands=REGISTRY)
        admitted(house, "run1")
        admitted(house, "run2")
        house.clock.advance(minutes=3)
        failed = []

        async def fails_once(point):
            if point == "engine.status" and not failed:
                failed.append(point)

                raise Fault("engine is down")

        house.engine.pause = fails_once
        report = run(watch(house))
        assert len(report.errors) == 1
        assert len(report.started) == 1

    def test_writes_down_a_claim_that_never_started_and_never_fires_it(self):
        house = make_house(commands=REGISTRY)
        due_at = ms("2026-09-01T03:00:00+00:00")
        claimed = entry(last_fired_at=due_at, last_claimed_at=due_at, last_due_at=due_at)
        house.config.put({"schedules.nightly": claimed})
        house.clock.set(due_at + 600_000)
        assert run(watch(house)).unstarted == ["nightly"]
        assert run(house.history.history("nightly", 1, None))[0].state == "claimed_not_started"
        assert house.engine.started == []
        assert run(ledger.recent(house.db, state=None, name=None, limit=9)) == []

    def test_says_once_in_the_rows_channel_how_such_a_claim_is_fired(self):
        house = make_house(commands=REGISTRY)
        due_at = ms("2026-09-01T03:00:00+00:00")
        claimed = entry(last_fired_at=due_at, last_claimed_at=due_at, last_due_at=due_at)
        house.config.put({"schedules.nightly": claimed})
        house.clock.set(due_at + 600_000)
        run(watch(house))
        run(watch(house))
        ((thread, said),) = house.web.threads.items()
        assert thread.startswith("web:ops/")
        assert "claimed_not_started" in said
        assert "schedule fire nightly" in said


class TestAnEngineThatDoesNotAnswer:
    @pytest.mark.parametrize("point", ["engine.status", "engine.stop"])
    def test_keeps_no_thread_busy_past_the_deadline(self, point):
        async def fails(at):
            if at == point:
                raise Fault("the engine is down")

        house = make_house(commands=REGISTRY)
        opened = run(house.web.open_thread("web:ops", "hello", key="t", now_ms=0))
        admitted(house, thread=opened.thread)
        house.engine.statuses["run1"] = ALIVE
        house.engine.pause = fails
        house.clock.advance(ms=DEADLINE_MS + 1)
        run(watch(house))
        made = run(ledger.get(house.db, "run1"))
        assert (made.state, made.code) == ("failed", "timed_out")
