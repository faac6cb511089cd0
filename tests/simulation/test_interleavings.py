"""Every interleaving of small histories; see ``docs/architecture.md``, "Fires once"."""

from __future__ import annotations

import pytest

from bot.schedules.fire import Fired
from bot.words import Refused
from tests.simulation.explore import History, explore
from tests.simulation.world import World
from tests.support.drive import run

DUE = "2026-09-01T03:00:05+00:00"
LATER = "2026-09-01T03:02:00+00:00"


def world(*, deep: bool = False) -> World:
    made = World(History(deep=deep))
    made.row("nightly")
    made.at(DUE)
    return made


class TestTwoTicks:
    def test_of_one_minute_one_fires_and_one_loses(self):
        def make():
            w = world()
            ticks = [w.history.add(name, w.tick()) for name in ("old", "new")]

            def check():
                started = [tick.result.started for tick in ticks if tick.result.started]
                assert len(started) == 1, "one tick and only one fires"
                assert [made["state"] for made in w.runs()] == ["running"]
                w.check()
                w.settle()
                assert [made["state"] for made in w.runs()] == ["ok"]
                assert len(w.house.web.texts()) == 1, "one outcome"
                w.check()

            return w.history, check

        assert explore(make) > 100

    def test_one_of_which_dies_anywhere(self):
        def make():
            w = world()
            w.history.add("old", w.tick(), crashes=1)
            w.history.add("new", w.tick())

            def check():
                w.check()
                w.settle()
                w.check()
                assert len(w.runs()) <= 1
                if not w.runs():
                    assert w.rows()["nightly"].stored.last_claimed_at is not None
                    _refire_starts_it_once(w)

            return w.history, check

        assert explore(make) > 400


def _refire_starts_it_once(w: World) -> None:
    """A claim that never started is shown, and a person's presses start it once."""
    w.at(LATER)
    first = run(w.press("nightly", call="press1"))
    assert isinstance(first, Fired)
    again = run(w.press("nightly", call="press2"))
    assert isinstance(again, Fired)
    assert again.run_id == first.run_id, "a press while the re-fired run lives is the same press"
    w.settle()
    w.check()
    made = w.runs()
    assert [(one["state"], one["trigger"], one["by"]) for one in made] == [
        ("ok", "refire", "web:alice")
    ]


class TestOneTickDies:
    def test_and_the_next_minutes_go_on(self):
        """A crash or a failing store at any effect of one tick, then two more ticks."""

        def make():
            w = World(History(deep=True))
            w.row("often", cron="* * * * *")
            w.at(DUE)
            w.history.add("first", w.tick(), crashes=1, faults=1)

            def check():
                w.check_runs()
                for minute in (1, 2):
                    w.house.clock.advance(minutes=1)
                    report = run(w.tick())
                    assert report.started, f"minute {minute} fires whatever happened before"
                    w.check()
                w.settle()
                w.check()
                assert all(made["state"] == "ok" for made in w.runs())

            return w.history, check

        assert explore(make) > 20

    def test_and_a_refused_write_is_handed_back_once(self):
        def make():
            w = World(History(deep=True))
            w.row("writer", text="schedule pause writer")
            w.at(DUE)
            w.history.add("tick", w.tick(), crashes=1, faults=1)

            def check():
                w.settle()
                w.check()
                if w.runs():
                    (made,) = w.runs()
                    assert (made["state"], made["code"]) == ("refused", "schedule_write")
                    assert made["started_at"] is None
                    w.check_handed_back(made)

            return w.history, check

        assert explore(make) > 20

    def test_twice_in_a_row_and_nothing_is_lost_silently(self):
        def make():
            w = World(History(deep=True))
            w.row("often", cron="* * * * *")
            w.at(DUE)

            async def two_ticks():
                await w.tick()

            w.history.add("first", two_ticks(), crashes=1, faults=1)

            def check():
                w.house.clock.advance(minutes=1)
                again = w.history.add("second", w.tick(), crashes=1)
                # The second tick dies after its third effect at the latest.
                for _ in range(3):
                    if not again.ended:
                        w.history.step(again)
                if not again.ended:
                    w.history.crash(again)
                w.house.clock.advance(minutes=1)
                run(w.tick())
                w.settle()
                w.check()

            return w.history, check

        assert explore(make) > 20


class TestAgainstPeople:
    @pytest.mark.parametrize("what", ["remove", "config set", "add"])
    def test_a_tick_beside(self, what):
        def make():
            w = world()
            w.history.add("tick", w.tick())
            work = {
                "remove": lambda: w.remove("nightly"),
                "config set": lambda: w.set_config(1),
                "add": lambda: w.add("other", "rowother"),
            }[what]
            w.history.add(what, work())

            def check():
                w.check()
                if what == "remove":
                    assert "nightly" not in w.rows(), "what was removed stays removed"
                else:
                    w.house.clock.advance(minutes=1)
                    run(w.tick())
                    assert len(w.runs()) == 1, "late by one tick at most, and once"
                if what == "add":
                    assert set(w.rows()) == {"nightly", "other"}, "no writer loses a write"
                w.settle()
                w.check()

            return w.history, check

        # A removal reads and writes twice where it leaves a claim behind: far too many paths.
        assert explore(make, preemptions=4 if what == "remove" else None) > 20

    def test_removed_and_added_again_is_a_new_row(self):
        def make():
            w = world()
            w.history.add("tick", w.tick())

            async def anew():
                await w.remove("nightly")
                return await w.add("nightly", "rownew")

            w.history.add("anew", anew())

            def check():
                assert w.rows()["nightly"].stored.id == "rownew"
                assert w.rows()["nightly"].stored.last_due_at is None
                w.settle()
                w.check_runs()

            return w.history, check

        assert explore(make, preemptions=4) > 50

    def test_two_people_press_fire_at_once_on_a_claim_that_never_started(self):
        def make():
            w = world()
            tick = w.history.add("tick", w.tick())
            while w.house.config.get().entries["schedules.nightly"].get("lastDueAt") is None:
                w.history.step(tick)
            w.history.crash(tick)
            w.at(LATER)
            presses = [
                w.history.add(by, w.press("nightly", by=f"web:{by}", call=by))
                for by in ("alice", "bob")
            ]

            def check():
                runs = [made for made in w.runs() if made["trigger"] == "refire"]
                assert len(runs) == 1
                assert len(w.runs()) == 1
                assert {press.result.run_id for press in presses} == {runs[0]["id"]}
                w.settle()
                w.check()

            return w.history, check

        assert explore(make, preemptions=3) > 100

    def test_fire_by_hand_beside_a_tick_leaves_the_slot(self):
        def make():
            w = World(History())
            w.row("nightly")
            w.history.add("tick", w.tick())
            press = w.history.add("press", w.press("nightly"))

            def check():
                assert isinstance(press.result, Fired)
                stored = w.rows()["nightly"].stored
                assert (stored.last_fired_at, stored.last_due_at) == (None, None)
                assert [made["trigger"] for made in w.runs()] == ["hand"]
                w.settle()
                w.check()

            return w.history, check

        assert explore(make) > 5


class TestStandingThread:
    def test_of_a_live_run_refuses_the_next_minute(self):
        def make():
            w = World(History())
            w.row("often", cron="* * * * *", thread="standing")
            w.at(DUE)
            run(w.tick())
            (first,) = w.house.engine.started
            w.house.clock.advance(minutes=1)
            w.history.add("turn", w.turn(first))
            tick = w.history.add("tick", w.tick())

            def check():
                made = {one["state"]: one for one in w.runs()}
                if tick.result.refused:
                    assert tick.result.refused == [("often", "thread_busy")]
                    assert made["refused"]["code"] == "thread_busy"
                w.settle()
                w.check()
                threads = {one["thread"] for one in w.runs() if one["thread"]}
                assert len(threads) == 1, "one standing thread, opened once"
                assert len(w.house.web.threads) == 1

            return w.history, check

        assert explore(make, preemptions=3) > 100


class TestHandbackDies:
    def test_anywhere_and_is_posted_once(self):
        """The instance that posts a hand-back dies, or a store fails under it."""

        def make():
            w = World(History(deep=True))
            w.row("writer", text="schedule pause writer")
            w.at(DUE)
            run(w.tick())
            (run_id,) = w.house.engine.started
            w.history.add("life", w.turn(run_id), crashes=1, faults=1)

            def check():
                w.settle()
                w.check()
                (made,) = w.runs()
                w.check_handed_back(made)

            return w.history, check

        assert explore(make) > 5


class TestRunDies:
    def test_anywhere_and_is_resumed_without_doing_a_finished_step_again(self):
        def make():
            w = world(deep=True)
            run(w.tick())
            (run_id,) = w.house.engine.started
            w.history.add("life", w.turn(run_id), crashes=1)

            def check():
                w.settle()
                (made,) = w.runs()
                assert (made["state"], made["delivery"]) == ("ok", "delivered")
                assert len(w.house.web.texts()) == 1, "one outcome, not two"
                w.check()

            return w.history, check

        assert explore(make) > 5


def test_refused_values_are_not_results():
    w = world()
    assert isinstance(run(w.press("nobody")), Refused)
