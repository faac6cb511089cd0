import pytest

from bot.authz.grants import Grant
from bot.schedules import edit
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
