from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.tools import ToolCall, ToolResult
from bot.authz.grants import Grant
from bot.jobs import service
from bot.jobs.tool import ACTIONS, PARAMETERS, SCHEDULE, TOOLS
from bot.runs.ledger import Run
from bot.words import Source, State
from tests.support.drive import run
from tests.unit.jobs.office import ALICE, Office, person


def run_of(actor: str = ALICE, **fields: Any) -> Run:
    """A live run of a message of the actor's, said in a thread."""
    absent = dict.fromkeys(
        (
            *("name", "row_id", "due_at", "claimed_at", "trigger", "by", "channel", "slot"),
            *("lead", "route", "effect", "code", "output", "delivery", "started_at"),
            "finished_at",
        )
    )
    return Run(
        **{
            **absent,
            "id": "run1",
            "actor": actor,
            "grants": (Grant("job:write"),),
            "source": Source.MESSAGE,
            "text": "every morning",
            "thread": "web:general/t1",
            "state": State.RUNNING,
            "coalesced": 0,
            "admitted_at": 0,
            "touched_at": 0,
            "resumed": 0,
            **fields,
        }
    )


def use(office: Office, args: Any, *, key: str = "key1", turn: Run | None = None) -> ToolResult:
    now_ms = office.house.clock.now_ms()
    call = ToolCall(office.house, turn or run_of(), args, key, now_ms)
    called: Any = SCHEDULE.call(call)
    return run(called)


CREATE = {"action": "create", "name": "n", "prompt": "check my repos", "schedule": "daily@09:00"}


def test_it_needs_what_every_person_has_and_changes_nothing_outside():
    assert TOOLS == (SCHEDULE,)
    assert SCHEDULE.name == "schedule"
    assert SCHEDULE.needs({}) == SCHEDULE.needs(CREATE) == Grant("job:write")
    assert not SCHEDULE.writes
    assert set(PARAMETERS["properties"]) == {
        *("action", "name", "prompt", "schedule", "run_in_minutes", "id")
    }
    assert ACTIONS == ("create", "list", "delete")


class TestCreate:
    def test_answers_with_the_stores_receipt(self):
        office = Office()
        answer = use(office, CREATE)
        (row,) = office.rows()
        assert answer.ok
        assert not answer.untrusted
        assert answer.text == (
            f"Job n ({row['id']}) runs every day at 09:00 UTC: check my repos\n"
            "Next: 2026-03-03T09:00:00+00:00, 2026-03-04T09:00:00+00:00, 2026-03-05T09:00:00+00:00."
        )
        assert (row["user_id"], row["thread"]) == (ALICE, "web:general/t1")

    def test_a_step_that_runs_again_makes_no_second_job(self):
        office = Office()
        first = use(office, CREATE)
        office.house.clock.advance(minutes=3)
        assert use(office, CREATE).text == first.text
        use(office, CREATE, key="key2")
        assert len(office.rows()) == 2

    @pytest.mark.parametrize(
        "wrong",
        [
            {"schedule": "*/0m"},
            {"schedule": "every morning"},
            {"run_in_minutes": 5},
            {"schedule": None, "run_in_minutes": "5"},
            {"schedule": None, "run_in_minutes": True},
            {"prompt": " "},
            {"name": None},
        ],
    )
    def test_refuses_in_the_words_of_the_service(self, wrong: dict[str, Any]):
        office = Office()
        args = {**CREATE, **wrong}
        answer = use(office, args)
        draft: Any = {
            key: args.get(key) for key in ("name", "prompt", "schedule", "run_in_minutes")
        }
        refusal = office.try_add(**draft)
        assert not answer.ok
        assert answer.text == f"{refusal.code}: {refusal.detail}"
        assert office.rows() == []

    def test_the_eleventh_is_refused(self):
        office = Office()
        for _ in range(10):
            office.add()
        assert "job limit reached (10)" in use(office, CREATE).text


class TestListAndDelete:
    def test_lists_the_owners_jobs_and_nobody_elses(self):
        office = Office()
        assert use(office, {"action": "list"}).text == "You have no jobs."
        mine, other = office.add(name="mine"), office.add("web:bob", name="other")
        text = use(office, {"action": "list"}).text
        assert mine.id in text
        assert other.id not in text

    def test_deletes_the_owners_job_and_nobody_elses(self):
        office = Office()
        mine, other = office.add(), office.add("web:bob")
        assert use(office, {"action": "delete", "id": mine.id}).text == service.deleted(mine.id)
        answer = use(office, {"action": "delete", "id": other.id})
        assert not answer.ok
        assert answer.text.startswith("not_found: ")
        assert [row["id"] for row in office.rows()] == [other.id]

    @pytest.mark.parametrize(
        "args",
        [
            *({}, {"action": None}, {"action": "pause"}, {"action": ["list"]}),
            *({"action": "delete"}, {"action": "delete", "id": 5}),
            {**CREATE, "user_id": "web:bob"},
        ],
    )
    def test_refuses_what_it_does_not_know(self, args: dict[str, Any]):
        office = Office()
        answer = use(office, args)
        assert not answer.ok
        assert answer.text.startswith("bad_value: ")
        assert office.rows() == []


class TestWho:
    def test_a_jobs_own_turn_may_list_and_not_create_or_delete(self):
        office = Office()
        job = office.add()
        turn = run_of(source=Source.JOB, thread=None)
        assert job.id in use(office, {"action": "list"}, turn=turn).text
        for args in (CREATE, {"action": "delete", "id": job.id}):
            answer = use(office, args, turn=turn)
            assert not answer.ok
            assert answer.text.startswith("forbidden: ")
        assert [row["id"] for row in office.rows()] == [job.id]

    @pytest.mark.parametrize("actor", ["schedule:nightly", "http:ci"])
    def test_nobody_but_a_person_has_jobs(self, actor: str):
        office = Office()
        turn = run_of(actor, thread=None)
        for args in (CREATE, {"action": "list"}, {"action": "delete", "id": "x"}):
            answer = use(office, args, turn=turn)
            assert not answer.ok
            assert answer.text.startswith("not_a_person: ")
        assert office.rows() == []

    def test_the_owner_is_the_runs_actor_whatever_its_arguments_say(self):
        office = Office()
        use(office, CREATE, turn=replace(run_of(), actor=person("slack:U1").id))
        assert office.rows()[0]["user_id"] == "slack:U1"
