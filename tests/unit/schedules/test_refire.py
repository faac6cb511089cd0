"""A button names one minute of one row: it is dispatched once, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.all import REGISTRY
from bot.runs import ledger
from bot.schedules.fire import Fired, refire
from bot.schedules.firing import run_id_of
from bot.words import Refused, State, Trigger
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.unit.builders import entry, ms

DUE = ms("2026-09-01T03:00:00+00:00")
KEY = run_id_of("rownightly", DUE)


def house(now: str = "2026-09-01T03:10:00+00:00", due: int | None = DUE, **row: Any) -> TestHouse:
    made = make_house(commands=REGISTRY)
    made.clock.set(now)
    claimed = {} if due is None else {"last_due_at": due, "last_fired_at": due}
    made.config.put({"schedules.nightly": entry(**claimed, last_claimed_at=due, **row)})
    return made


def press(at: TestHouse, by: str = "slack:U042", key: str = KEY) -> Fired | Refused:
    return run(refire(at, "nightly", key, by=by, now_ms=at.clock.now_ms()))


def test_the_minute_is_dispatched_under_its_id_and_says_who_pressed() -> None:
    at = house()
    assert press(at) == Fired("nightly", KEY, State.RUNNING, Trigger.REFIRE, DUE, by="slack:U042")
    assert at.engine.started == [KEY]


def test_whoever_presses_later_is_answered_with_its_run() -> None:
    at = house()
    press(at)
    run(ledger.finish(at.db, KEY, state=State.OK, code=None, output="x", now_ms=1))
    again = press(at, "slack:U043")
    assert isinstance(again, Fired)
    assert (again.run_id, again.state, again.by) == (KEY, State.OK, "slack:U042")
    assert at.engine.started == [KEY]


@pytest.mark.parametrize(
    "made",
    [
        {"due": None},
        {"due": DUE + 3_600_000, "now": "2026-09-01T04:10:00+00:00"},
        {"now": "2026-09-01T03:00:10+00:00"},
        {"last_skipped": True},
    ],
    ids=["never claimed", "overtaken", "starting", "skipped"],
)
def test_anything_else_is_a_conflict(made: dict[str, Any]) -> None:
    at = house(**made)
    refusal = press(at)
    assert isinstance(refusal, Refused)
    assert refusal.code == "conflict"
    assert at.engine.started == []


def test_a_run_of_another_name_is_not_answered_with() -> None:
    at = house()
    press(at)
    at.config.put({"schedules.other": entry("other")})
    refusal = run(refire(at, "other", KEY, by="slack:U042", now_ms=at.clock.now_ms()))
    assert isinstance(refusal, Refused)


def test_a_row_that_is_gone_is_no_schedule() -> None:
    at = house()
    at.config.put({"schedules.nightly": None})
    refusal = press(at)
    assert isinstance(refusal, Refused)
    assert refusal.code == "no_schedule"
