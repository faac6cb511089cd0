import pytest

from bot.authz.actor import Actor, Surface
from bot.commands.all import REGISTRY
from bot.commands.registry import Invocation
from bot.runs import ledger
from bot.schedules.fire import Fired, fire, refire
from bot.schedules.listing import listing
from bot.schedules.tick import tick
from bot.words import Refused, State, Trigger
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import entry, grant, ms

NOW = "2026-09-01T03:10:00+00:00"
DUE = ms("2026-09-01T03:00:00+00:00")
KEY = "rownightly-20260901T0300"
CLAIMED = {"last_fired_at": DUE + 5_000, "last_claimed_at": DUE + 5_000, "last_due_at": DUE}


def house_with(**values):
    house = make_house(commands=REGISTRY)
    house.clock.set(NOW)
    house.config.put({"schedules.nightly": entry(**values)})
    return house


def shown(house):
    """The last firing as it is listed: its state, and its run."""
    (listed,) = run(listing(house, house.clock.now_ms(), "nightly"))
    return listed.view["last"]["state"], listed.view["last"]["run_id"]


def press(house, call="call1", by="web:alice"):
    return run(fire(house, "nightly", by=by, call_id=call, now_ms=house.clock.now_ms()))


class TestAClaimThatNeverStarted:
    def test_is_dispatched_under_the_id_of_its_minute(self):
        house = house_with(**CLAIMED, coalesced=3)
        fired = press(house)
        assert isinstance(fired, Fired)
        assert (fired.run_id, fired.trigger, fired.due_at) == (
            "rownightly-20260901T0300",
            Trigger.REFIRE,
            DUE,
        )
        made = run(ledger.get(house.db, fired.run_id))
        assert (made.by, made.actor, made.coalesced) == ("web:alice", "schedule:nightly", 3)
        stored = house.config.get().entries["schedules.nightly"]
        assert (stored["lastRunId"], stored["lastFiredAt"]) == (fired.run_id, DUE + 5_000)
        assert house.engine.started == [fired.run_id]

    def test_pressed_again_while_it_runs_is_the_same_press(self):
        house = house_with(**CLAIMED)
        assert press(house, "call1").run_id == press(house, "call2", "web:bob").run_id
        assert len(house.engine.started) == 1

    def test_pressed_again_right_after_its_run_ended_is_the_same_press(self):
        house = house_with(**CLAIMED)
        first = press(house, "call1")
        run(
            ledger.finish(
                house.db,
                first.run_id,
                state=State.OK,
                code=None,
                output="done",
                now_ms=house.clock.now_ms(),
            )
        )
        house.clock.advance(seconds=50)
        assert press(house, "call2").run_id == first.run_id
        house.clock.advance(seconds=10)
        assert press(house, "call3").trigger is Trigger.HAND

    def test_is_counted_among_claims_with_no_run(self):
        house = house_with(**CLAIMED)
        press(house)
        summary = run(house.history.tick_summary(house.clock.now_ms()))
        assert summary["claims_without_run"]["d30"] == 1


class TestAMinuteWhoseStandingThreadIsBusy:
    @pytest.fixture
    def house(self):
        house = house_with(thread="standing")
        self.live = press(house, "earlier").run_id
        house.config.put({"schedules.nightly": entry(thread="standing", **CLAIMED)})
        return house

    def end_the_live_run(self, house):
        ended = {"state": State.OK, "code": None, "output": "x"}
        assert run(ledger.finish(house.db, self.live, now_ms=house.clock.now_ms(), **ended))

    @pytest.mark.parametrize("by_button", [False, True])
    def test_waits_for_the_next_press(self, house, by_button):
        def pressed(call):
            if by_button:
                now_ms = house.clock.now_ms()
                return run(refire(house, "nightly", KEY, by="slack:U042", now_ms=now_ms))
            return press(house, call)

        before = house.config.get()
        assert pressed("call1").code == "thread_busy"
        assert pressed("call2").code == "thread_busy"
        assert run(ledger.get(house.db, KEY)) is None
        assert house.config.get() == before
        assert shown(house) == ("claimed_not_started", None)
        self.end_the_live_run(house)
        fired = pressed("call3")
        assert (fired.run_id, fired.trigger, fired.state) == (KEY, Trigger.REFIRE, State.RUNNING)
        assert house.engine.started == [self.live, KEY]
        assert shown(house) == ("running", KEY)

    def test_that_was_dispatched_meanwhile_is_not_called_busy(self, house):
        self.end_the_live_run(house)
        first = press(house, "call1")
        assert first.run_id == KEY
        assert press(house, "call2").run_id == KEY


class TestAnyOtherRow:
    def test_runs_once_by_hand_and_keeps_its_slot(self):
        house = house_with()
        before = house.config.get()
        fired = press(house)
        assert (fired.trigger, fired.due_at, fired.state) == (Trigger.HAND, None, State.RUNNING)
        assert house.config.get() == before
        assert run(house.history.history("nightly", 1, None))[0].by == "web:alice"

    def test_the_same_call_repeated_makes_one_run(self):
        house = house_with()
        assert press(house).run_id == press(house).run_id
        assert len(house.engine.started) == 1

    def test_two_calls_are_two_runs(self):
        house = house_with()
        assert press(house, "call1").run_id != press(house, "call2").run_id

    def test_a_paused_row_can_be_fired_by_hand(self):
        assert isinstance(press(house_with(enabled=False)), Fired)

    def test_one_that_is_starting_is_left_to_start(self):
        house = house_with(**CLAIMED)
        house.clock.set(DUE + 20_000)
        refusal = press(house)
        assert isinstance(refusal, Refused)
        assert refusal.code == "conflict"

    def test_a_live_standing_thread_is_busy(self):
        house = house_with(thread="standing", cron="* * * * *")
        run(tick(house))
        refusal = press(house)
        assert isinstance(refusal, Refused)
        assert refusal.code == "thread_busy"
        assert len(house.engine.started) == 1


@pytest.mark.parametrize(
    ("name", "code"), [("nobody", "no_schedule"), ("resident-watchdog", "catalog_schedule")]
)
def test_what_is_no_stored_row_cannot_be_fired(name, code):
    house = house_with()
    refusal = run(fire(house, name, by="web:alice", call_id="c", now_ms=0))
    assert isinstance(refusal, Refused)
    assert refusal.code == code


class TestASchedule:
    def test_that_a_schedule_fired_fires_no_other(self):
        house = house_with(text="schedule fire nightly", grants=["schedule:fire"])
        first = press(house, by="schedule:other")
        actor = Actor(Surface.SCHEDULE, "nightly")
        call = Invocation(actor, (grant("schedule:fire"),), first.run_id, house.clock.now_ms())
        outcome = run(house.commands.invoke(house, call, "schedule fire", {"name": "nightly"}))
        assert outcome.code == "forbidden"
        assert len(house.engine.started) == 1

    def test_that_the_tick_fired_may_fire_one(self):
        house = house_with(text="schedule fire nightly", grants=["schedule:fire"])
        first = press(house)
        actor = Actor(Surface.SCHEDULE, "nightly")
        call = Invocation(actor, (grant("schedule:fire"),), first.run_id, house.clock.now_ms())
        outcome = run(house.commands.invoke(house, call, "schedule fire", {"name": "nightly"}))
        assert outcome.kind == "ok"
        assert len(house.engine.started) == 2
