"""What is shown of a row's past: under clocks that were wrong, of re-used names, of broken rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.authz.actor import Actor, Surface
from bot.commands.all import REGISTRY
from bot.commands.registry import Invocation
from bot.schedules import listing
from bot.schedules.edit import remove
from bot.schedules.fire import Fired, fire
from bot.schedules.row import StoredRow
from bot.schedules.tick import tick
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.unit.builders import entry, grant, ms

HOURLY = "0 * * * *"
AHEAD, BACK = "2036-06-01", "2035-06-01"


@pytest.fixture
def house() -> TestHouse:
    return make_house(commands=REGISTRY)


def add(house: TestHouse, now: str, row_id: str = "row1", **values: Any) -> None:
    house.clock.set(now)
    made = {"id": row_id, "cron": HOURLY, "created_at": ms(now), **values}
    house.config.put({"schedules.n": entry("n", **made)})


def tick_at(house: TestHouse, now: str) -> None:
    house.clock.set(now)
    assert run(tick(house)).claimed == ["n"]


def press(house: TestHouse) -> Fired:
    call_id = f"call{house.clock.now_ms()}"
    fired = run(fire(house, "n", by="web:alice", call_id=call_id, now_ms=house.clock.now_ms()))
    assert isinstance(fired, Fired)
    return fired


def claim_without_run(house: TestHouse, due: str, now: str) -> None:
    """What a tick leaves that dies right after its claim."""
    stored = {**house.config.get().entries["schedules.n"]}
    stored.pop("lastRunId", None)
    at = ms(due)
    claim = {"lastDueAt": at, "lastFiredAt": at + 2_000, "lastClaimedAt": at + 2_000}
    house.config.put({"schedules.n": {**stored, **claim}})
    house.clock.set(now)


def last(house: TestHouse) -> tuple[str | None, str, str] | None:
    (shown,) = run(listing.listing(house, house.clock.now_ms(), "n"))
    each = shown.view["last"]
    return each and (each["due_at"], each["trigger"], each["state"])


def firings(house: TestHouse, limit: int = 50, before: int | None = None) -> list[str]:
    found = run(listing.firings(house, "n", limit, before))
    assert isinstance(found, list)
    return [each["due_at"] or each["trigger"] for each in found]


class TestAClockThatRanAhead:
    @pytest.fixture(autouse=True)
    def _ahead(self, house: TestHouse) -> None:
        add(house, f"{BACK}T00:00:30+00:00")
        tick_at(house, f"{AHEAD}T01:00:01+00:00")
        tick_at(house, f"{BACK}T02:00:01+00:00")

    def test_the_last_firing_is_the_one_under_the_corrected_clock(self, house: TestHouse) -> None:
        assert last(house) == (f"{BACK}T02:00:00+00:00", "tick", "running")
        tick_at(house, f"{BACK}T03:00:01+00:00")
        assert last(house) == (f"{BACK}T03:00:00+00:00", "tick", "running")
        due = [f"{BACK}T03:00:00+00:00", f"{BACK}T02:00:00+00:00", f"{AHEAD}T01:00:00+00:00"]
        assert firings(house) == due
        assert firings(house, limit=1) == due[:1]
        assert firings(house, 1, ms(f"{BACK}T02:00:01+00:00")) == due[2:]

    def test_a_claim_with_no_run_shows(self, house: TestHouse) -> None:
        due = f"{BACK}T04:00:00+00:00"
        claim_without_run(house, due, f"{BACK}T04:05:00+00:00")
        assert last(house) == (due, "tick", "claimed_not_started")
        assert firings(house, limit=1) == [due]
        ticks = run(listing.ticks(house, house.clock.now_ms()))
        assert ticks["claims_without_run"]["d30"] == 1
        assert press(house).trigger == "refire"
        assert last(house) == (due, "refire", "running")
        assert firings(house).count(due) == 1

    def test_a_press_by_hand_is_the_last_firing(self, house: TestHouse) -> None:
        house.clock.set(f"{BACK}T02:10:00+00:00")
        press(house)
        assert last(house) == (None, "hand", "running")
        assert firings(house, limit=2) == ["hand", f"{BACK}T02:00:00+00:00"]


def test_a_press_under_a_clock_that_ran_ahead_hides_no_later_claim(house: TestHouse) -> None:
    add(house, f"{BACK}T00:00:30+00:00")
    house.clock.set(f"{AHEAD}T00:10:00+00:00")
    press(house)
    tick_at(house, f"{BACK}T01:00:01+00:00")
    assert last(house) == (f"{BACK}T01:00:00+00:00", "tick", "running")
    claim_without_run(house, f"{BACK}T02:00:00+00:00", f"{BACK}T02:05:00+00:00")
    assert last(house) == (f"{BACK}T02:00:00+00:00", "tick", "claimed_not_started")


class TestANameThatIsUsedAgain:
    @pytest.fixture(autouse=True)
    def _removed(self, house: TestHouse) -> None:
        add(house, f"{AHEAD}T00:00:30+00:00", "row0")
        tick_at(house, f"{AHEAD}T01:00:01+00:00")
        assert run(remove(house, "n")) is True
        add(house, f"{BACK}T00:00:30+00:00", "row1")

    def test_has_not_fired_yet(self, house: TestHouse) -> None:
        assert last(house) is None
        assert firings(house) == []

    def test_shows_its_own_firings_alone(self, house: TestHouse) -> None:
        press(house)
        assert last(house) == (None, "hand", "running")
        assert firings(house, limit=1) == ["hand"]
        tick_at(house, f"{BACK}T01:00:01+00:00")
        assert last(house) == (f"{BACK}T01:00:00+00:00", "tick", "running")
        assert firings(house, limit=1) == [f"{BACK}T01:00:00+00:00"]

    def test_keeps_the_past_of_all_its_rows_for_when_it_is_removed(self, house: TestHouse) -> None:
        tick_at(house, f"{BACK}T01:00:01+00:00")
        assert run(remove(house, "n")) is True
        assert firings(house) == [f"{BACK}T01:00:00+00:00", f"{AHEAD}T01:00:00+00:00"]


class TestTicks:
    def test_are_the_firings_of_keep_alive(self, house: TestHouse) -> None:
        for minute in (0, 1, 2):
            house.clock.set(f"{BACK}T00:0{minute}:01+00:00")
            run(tick(house))
        house.background.finish()
        found = run(listing.firings(house, "keep-alive", 2, None))
        assert isinstance(found, list)
        assert [each["due_at"] for each in found] == [
            f"{BACK}T00:02:00+00:00",
            f"{BACK}T00:01:00+00:00",
        ]
        rest = run(listing.firings(house, "keep-alive", 2, ms(f"{BACK}T00:01:01+00:00")))
        assert isinstance(rest, list)
        assert [each["due_at"] for each in rest] == [f"{BACK}T00:00:00+00:00"]
        (shown,) = run(listing.listing(house, house.clock.now_ms(), "keep-alive"))
        assert shown.view["last"] == found[0]

    def test_none_yet_are_no_firings(self, house: TestHouse) -> None:
        assert run(listing.firings(house, "keep-alive", 2, None)) == []
        (shown,) = run(listing.listing(house, house.clock.now_ms(), "keep-alive"))
        assert shown.view["last"] is None


FIELDS = [field.alias or name for name, field in StoredRow.model_fields.items()]
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**15, "", "x", "x" * 5000, "\x00\n🎉"),
    *([], [1], [None], [[]], [{"a": 1}], ["x"], {}, {"a": [1]}, {"": None}),
]
TEXTS = ("cron", "zone", "channel", "thread", "paused_reason", "describe")


def show(house: TestHouse, name: str) -> dict[str, Any]:
    """The row as every surface shows it; whatever cannot be shown raises."""
    call: Any = house.commands
    actor = Actor(Surface.HTTP, "ci")
    invocation = Invocation(actor, (grant("all"),), "c", house.clock.now_ms())
    listed = run(call.invoke(house, invocation, "schedule list", {}))
    shown = run(call.invoke(house, invocation, "schedule show", {"name": name}))
    assert (listed.kind, shown.kind) == ("ok", "ok")
    assert isinstance(run(listing.firings(house, name, 10, None)), list)
    assert shown.data in listed.data["schedules"]
    json.dumps(shown.data)
    return shown.data


@pytest.mark.parametrize("field", [*FIELDS, None])
def test_a_row_is_shown_whatever_a_field_of_it_holds(house: TestHouse, field: str | None) -> None:
    for odd in ODD:
        stored: Any = {**entry("bad"), field: odd} if field is not None else odd
        house.config.put({"schedules.bad": stored})
        if "schedules.bad" not in house.config.get().entries:
            continue
        for broken in (False, True):
            if broken and isinstance(stored, dict):
                house.config.put({"schedules.bad": {**stored, "createdAt": "broken"}})
            view = show(house, "bad")
            assert all(view[name] is None or isinstance(view[name], str) for name in TEXTS)
            assert all(isinstance(each, str) for each in view["grants"])
