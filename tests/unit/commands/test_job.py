"""The ``job`` commands: what they say, and that they say it in the words of every surface."""

from __future__ import annotations

import pytest

from bot.commands import job
from bot.commands.grammar import Malformed, Parsed
from bot.commands.registry import Registry
from bot.jobs.service import Draft
from bot.words import Code, Effect, OutcomeKind
from tests.support.house import make_house
from tests.unit.commands.caller import Caller
from tests.unit.commands.contract import BY_NAME


def alice() -> Caller:
    return Caller(make_house(commands=Registry(job.COMMANDS)), held=[])


def test_they_are_written_as_the_contract_writes_them():
    for command in job.COMMANDS:
        assert command.syntax == BY_NAME[command.name].syntax
        assert command.usage == BY_NAME[command.name].usage


def test_what_changes_something_is_a_write():
    effects = {command.name: command.effect for command in job.COMMANDS}
    assert effects == {
        "job add": Effect.WRITE,
        "job list": Effect.READ,
        "job delete": Effect.WRITE,
    }


@pytest.mark.parametrize(
    ("when", "view"),
    [
        ("every 30m", ("*/30m", None)),
        ("every 2h", ("*/2h", None)),
        ("Daily at 09:00", ("daily@09:00", None)),
        ("in 45 minutes", (None, "2026-03-02T09:45:00+00:00")),
        ("in 1 minute", (None, "2026-03-02T09:01:00+00:00")),
    ],
)
def test_each_form_of_time_is_taken(when: str, view: tuple[str | None, str | None]):
    made = alice().ok(f"job add morning {when}: check my repos")
    assert (made.data["schedule"], made.data["run_at"]) == view
    assert made.data["user_id"] == "web:alice"
    assert made.text.startswith(f"Job morning ({made.data['id']}) runs {made.data['describe']}: ")
    assert all(fire in made.text for fire in made.data["next"])


@pytest.mark.parametrize(
    ("when", "draft"),
    [
        ("every 30m", Draft("n", "p", schedule="*/30m")),
        ("every ３０m", Draft("n", "p", schedule="*/３０m")),
        ("daily at 9:00", Draft("n", "p", schedule="daily@9:00")),
        ("in 45 minutes", Draft("n", "p", run_in_minutes=45)),
        ("in -5 minutes", Draft("n", "p", run_in_minutes=-5)),
        ("in 5.5 minutes", Draft("n", "p", run_in_minutes="5.5")),
        ("in ٥ minutes", Draft("n", "p", run_in_minutes="٥")),
        ("in " + "9" * 5000 + " minutes", Draft("n", "p", run_in_minutes="9" * 5000)),
    ],
)
def test_a_phrase_is_handed_to_the_service_as_it_stands(when: str, draft: Draft):
    assert job.draft_of("n", when, "p") == draft


@pytest.mark.parametrize(
    "when",
    [
        *("every 0m", "every 99999999999m", "every 30x", "every m", "every 1.5h"),
        *("daily at 25:70", "daily at 9:00", "daily at 09:00:00", "daily at noon1"),
        *("in 0 minutes", "in -5 minutes", "in 1.5 minutes", "in 1e400 minutes", "in ٥ minutes"),
    ],
)
def test_a_bad_time_is_refused_by_the_service(when: str):
    assert alice().refused(f"job add morning {when}: check my repos") is Code.BAD_TIME


@pytest.mark.parametrize(
    "text",
    [
        *("job add", "job add morning", "job add morning every 30m", "job add morning: hello"),
        *("job add morning sometimes: hello", "job delete"),
        *("job add morning in 45 seconds: hello", "job list all"),
    ],
)
def test_what_does_not_fit_is_told_the_usage(text: str):
    found = alice().house.commands.parse(text, strict=True)
    assert isinstance(found, Malformed)
    assert "job" in found.usage


def test_an_empty_prompt_is_refused_in_the_words_of_every_surface():
    assert alice().refused("job add morning every 30m:") is Code.BAD_TEXT


def test_a_name_may_have_blanks_in_quotes():
    assert alice().ok('job add "my morning" daily at 09:00: hello').data["name"] == "my morning"


def test_what_is_added_is_listed_and_deleted():
    me = alice()
    assert me.ok("job list").text == "You have no jobs."
    made = me.ok("job add morning daily at 09:00: check my repos")
    listed = me.ok("job list")
    assert [one["id"] for one in listed.data["jobs"]] == [made.data["id"]]
    assert made.data["id"] in listed.text
    gone = me.ok(f"job delete {made.data['id']}")
    assert gone.data == {"id": made.data["id"], "removed": True}
    assert me.ok("job list").data == {"jobs": []}
    assert me.refused(f"job delete {made.data['id']}") is Code.NOT_FOUND


def test_anothers_job_is_not_there():
    me = alice()
    made = me.ok("job add morning daily at 09:00: check my repos")
    bob = Caller(me.house, "web:bob", [])
    assert bob.ok("job list").data == {"jobs": []}
    assert bob.refused(f"job delete {made.data['id']}") is Code.NOT_FOUND
    assert len(me.ok("job list").data["jobs"]) == 1


def test_the_eleventh_is_refused():
    me = alice()
    for n in range(10):
        me.ok(f"job add n{n} every 30m: hello")
    refusal = me.say("job add n10 every 30m: hello")
    assert (refusal.kind, refusal.code) == (OutcomeKind.REFUSED, Code.TOO_MANY)
    assert "job limit reached (10)" in refusal.text


def test_a_step_that_runs_again_makes_no_second_job():
    me = alice()
    first = me.say("job add morning every 30m: hello", call_id="run1")
    again = me.say("job add morning every 30m: hello", call_id="run1")
    assert first.data == again.data
    assert len(me.ok("job list").data["jobs"]) == 1


@pytest.mark.parametrize("who", ["http:ci", "schedule:nightly"])
@pytest.mark.parametrize("text", ["job add morning every 30m: hello", "job list", "job delete x"])
def test_only_people_have_jobs(who: str, text: str):
    assert Caller(alice().house, who).refused(text) is Code.NOT_A_PERSON
    assert Caller(alice().house, who, []).refused(text) is Code.FORBIDDEN


def test_a_prompt_is_kept_as_it_was_written():
    made = alice().ok('job add m every 30m: say "hi": twice\n- and “mind” the gap')
    assert made.data["prompt"] == 'say "hi": twice\n- and “mind” the gap'


def test_they_are_parsed_from_chat():
    found = alice().house.commands.parse("job add m every 30m: hi")
    assert isinstance(found, Parsed)
    assert found.args == {"name": "m", "when": "every 30m", "prompt": "hi"}
