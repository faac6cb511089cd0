import pytest

from bot.authz.grants import Grant
from bot.ports import Fault
from bot.schedules import edit, listing
from bot.schedules.edit import Draft
from bot.schedules.row import MAX_ROWS, Row
from bot.words import Refused
from tests.support.drive import run
from tests.support.house import make_house
from tests.support.world import MemoryChannel
from tests.unit.builders import entry

ALL = (Grant("all"),)
DRAFT = {"name": "nightly", "cron": "0 3 * * *", "text": "schedule list", "channel": "web:ops"}


def add(house, *, held=ALL, row_id="row1", **values):
    draft = Draft(**{**DRAFT, **values})
    return run(
        edit.add(
            house,
            draft,
            author="web:alice",
            held=held,
            row_id=row_id,
            now_ms=house.clock.now_ms(),
        )
    )


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"name": "Bad Name"}, "bad_name"),
        ({"name": "x" * 64}, "bad_name"),
        ({"name": "-x"}, "bad_name"),
        ({"name": "keep-alive"}, "schedule_exists"),
        ({"cron": "0 3 * *"}, "bad_cron"),
        ({"cron": "0 0 30 2 *"}, "never_fires"),
        ({"zone": "Mars/Olympus"}, "bad_zone"),
        ({"grants": ["nonsense here"]}, "bad_grant"),
        ({"channel": "web:nowhere"}, "no_channel"),
        ({"channel": "irc:ops"}, "no_channel"),
        ({"channel": "telegram:7"}, "channel_cannot_open_thread"),
        ({"thread": "old"}, "bad_thread"),
        ({"window": "0h"}, "bad_window"),
        ({"window": "soon"}, "bad_window"),
        ({"text": "  \n"}, "bad_text"),
        ({"text": "x" * 4001}, "bad_text"),
    ],
)
def test_each_refusal_has_its_code_and_writes_nothing(values, code):
    house = make_house()
    house.channels["telegram"] = MemoryChannel("telegram", ["7"], opens_threads=False)
    made = add(house, **values)
    assert isinstance(made, Refused)
    assert made.code == code
    assert made.detail.endswith((".", "?"))
    assert house.config.get().version == 0


def test_a_grant_that_the_author_does_not_hold_is_named():
    house = make_house()
    held = (Grant("agent:run:research"), Grant("github:issue-write", "acme/*"))
    assert isinstance(add(house, held=held, grants=["github:issue-write on acme/api"]), Row)
    made = add(house, held=held, name="other", row_id="row2", grants=["agent:ship on acme/api"])
    assert isinstance(made, Refused)
    assert made.code == "grant_not_held"
    assert "agent:ship on acme/api" in made.detail


def test_names_are_taken_after_case_folding():
    house = make_house()
    assert isinstance(add(house), Row)
    made = add(house, name="NIGHTLY", row_id="row2")
    assert isinstance(made, Refused)
    assert made.code == "schedule_exists"


def test_the_same_add_repeated_makes_one_row():
    house = make_house()
    first, again = add(house), add(house)
    assert first == again
    assert house.config.get().version == 1


def test_a_reused_name_is_a_new_row():
    house = make_house()
    add(house)
    assert run(edit.remove(house, "nightly")) is True
    made = add(house, row_id="row2")
    assert isinstance(made, Row)
    assert made.stored.id == "row2"


def test_a_hundred_rows_and_no_more():
    house = make_house()
    house.config.put({f"schedules.row{n}": entry(f"row{n}") for n in range(MAX_ROWS)})
    made = add(house)
    assert isinstance(made, Refused)
    assert made.code == "too_many_schedules"


def test_the_zone_is_the_organisations_unless_named():
    house = make_house()
    house.config.put({"zone": "Europe/Prague"})
    assert add(house).stored.zone == "Europe/Prague"
    assert add(house, name="b", row_id="row2", zone="UTC").stored.zone == "UTC"


class TestPause:
    def test_keeps_its_reason_and_resume_drops_what_fell_due(self):
        house = make_house()
        add(house)
        assert run(edit.pause(house, "nightly", "holidays")).paused_reason == "holidays"
        house.clock.advance(hours=30)
        now_ms = house.clock.now_ms()
        stored = run(edit.resume(house, "nightly", now_ms))
        assert (stored.enabled, stored.paused_reason, stored.last_fired_at) == (True, None, now_ms)

    def test_resume_of_a_running_row_changes_nothing(self):
        house = make_house()
        add(house)
        assert run(edit.resume(house, "nightly", house.clock.now_ms())).last_fired_at is None
        assert house.config.get().version == 1


class TestRemove:
    claimed = {"last_fired_at": 120_000, "last_claimed_at": 120_000, "last_due_at": 60_000}

    def house(self, **values):
        house = make_house()
        house.config.put({"schedules.nightly": entry(**values)})
        return house

    def history(self, house):
        return run(house.history.history("nightly", 10, None))

    def test_writes_a_claim_that_never_started_to_the_history_first(self):
        house = self.house(**self.claimed)
        assert run(edit.remove(house, "nightly")) is True
        (firing,) = self.history(house)
        assert (firing.state, firing.due_at) == ("claimed_not_started", 60_000)
        assert "schedules.nightly" not in house.config.get().entries

    def test_counts_it_among_the_claims_without_a_run(self):
        now_ms = make_house().clock.now_ms()
        house = self.house(**{**self.claimed, "last_claimed_at": now_ms - 3_600_000})
        run(edit.remove(house, "nightly"))
        assert run(listing.ticks(house, now_ms))["claims_without_run"] == {"d30": 1}

    def test_leaves_the_row_where_the_history_does_not_take_it(self):
        async def down(point):
            if point == "history.record":
                raise Fault("history is down")

        house = make_house(pause=down)
        house.config.put({"schedules.nightly": entry(**self.claimed)})
        with pytest.raises(Fault):
            run(edit.remove(house, "nightly"))
        assert "schedules.nightly" in house.config.get().entries

    def test_writes_down_a_claim_that_was_made_while_it_removed(self):
        house = None
        made = []

        async def a_tick_claims_and_dies(point):
            if point == "config.swap" and not made:
                made.append(True)
                house.config.put({"schedules.nightly": entry(**self.claimed)})

        house = make_house(pause=a_tick_claims_and_dies)
        house.config.put({"schedules.nightly": entry()})
        assert run(edit.remove(house, "nightly")) is True
        assert [firing.due_at for firing in self.history(house)] == [60_000]

    def test_of_a_row_with_nothing_owed_asks_no_other_store(self):
        points = []

        async def watch(point):
            points.append(point)

        house = make_house(pause=watch)
        house.config.put({"schedules.nightly": entry(**self.claimed, last_run_id="run1")})
        assert run(edit.remove(house, "nightly")) is True
        assert [p for p in points if " " not in p] == ["config.read", "config.swap"]

    def test_carried_out_again_leaves_the_row_that_was_added_since(self):
        house = make_house()
        asked_at = house.clock.now_ms()
        house.clock.advance(minutes=1)
        add(house)
        house.clock.advance(minutes=1)
        made = run(edit.remove(house, "nightly", asked_at=asked_at))
        assert isinstance(made, Refused)
        assert made.code == "conflict"
        assert run(edit.remove(house, "nightly", asked_at=house.clock.now_ms())) is True

    def test_takes_a_row_that_a_clock_which_ran_ahead_has_dated(self):
        house = make_house()
        asked_at = house.clock.now_ms()
        house.config.put({"schedules.nightly": entry(created_at=asked_at + 3_600_000)})
        assert run(edit.remove(house, "nightly", asked_at=asked_at)) is True


def test_a_row_that_bears_the_id_of_another_can_be_removed_and_not_resumed():
    house = make_house()
    house.config.put({f"schedules.{name}": entry(name, id="row1") for name in ("one", "two")})
    made = run(edit.resume(house, "two", 0))
    assert isinstance(made, Refused)
    assert "row1" in made.detail
    assert run(edit.remove(house, "two")) is True
    assert run(edit.pause(house, "one", None)).enabled is False


@pytest.mark.parametrize("act", ["pause", "resume", "remove"])
@pytest.mark.parametrize(
    ("name", "code"), [("nobody", "no_schedule"), ("keep-alive", "catalog_schedule")]
)
def test_what_is_not_there_cannot_be_changed(act, name, code):
    house = make_house()
    work = {
        "pause": lambda: edit.pause(house, name, None),
        "resume": lambda: edit.resume(house, name, 0),
        "remove": lambda: edit.remove(house, name),
    }[act]()
    made = run(work)
    assert isinstance(made, Refused)
    assert made.code == code


def test_a_broken_row_can_be_removed_and_not_resumed():
    house = make_house()
    house.config.put({"schedules.wreck": {"name": "wreck"}})
    assert isinstance(run(edit.resume(house, "wreck", 0)), Refused)
    assert run(edit.remove(house, "wreck")) is True
