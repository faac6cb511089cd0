"""A job's run, from its prompt to what its owner is told."""

from __future__ import annotations

import json
import logging

import pytest

from bot.agent.limits import JOB_DEADLINE_S
from bot.authz.grants import grants_of
from bot.dispatch.admit import admit
from bot.dispatch.message import IncomingMessage
from bot.dispatch.turn import run_turn
from bot.jobs.run import LOST_MS, end_lost, hand_run_id, job_ended, run_id_of
from bot.ports import EngineStatus, Fault, HttpReply
from bot.runs import ledger
from bot.runs.watchdog import end
from bot.words import Code, Source, State
from tests.support.drive import run
from tests.support.turns import KeptSteps
from tests.support.world import Sent
from tests.unit.builders import ms
from tests.unit.jobs import model
from tests.unit.jobs.office import Office, person


def with_model(*replies: HttpReply) -> Office:
    office = Office(settings=model.SETTINGS)
    office.house.http.replies.extend(replies)
    return office


def started(office: Office) -> ledger.Run:
    """The one run that a tick at 10:37 starts."""
    office.tick("10:37")
    (run_id,) = office.house.engine.started
    found = run(ledger.get(office.house.db, run_id))
    assert found is not None
    return found


def test_run_ids_are_of_the_platforms_alphabet_and_length():
    job_id = "a" * 20
    for made in (
        run_id_of(job_id, ms("2026-03-02T10:37:23+00:00")),
        hand_run_id(job_id, "any call"),
    ):
        assert len(made) <= 64
        assert made.replace("-", "").isalnum()
    assert run_id_of(job_id, ms("2026-03-02T10:37:23+00:00")) == f"{job_id}-20260302T103723"


class TestGoodEnd:
    def test_leaves_one_row_and_one_event_with_a_tick(self):
        office = with_model(model.says("All is well."))
        job = office.add(prompt="is all well?")
        office.tick("10:37")
        (run_id,) = office.turns()
        (made,) = office.job_runs()
        assert (made["state"], made["code"]) == ("ok", None)
        assert made["ended_at"] == ms("2026-03-02T10:37:00+00:00")
        (event,) = office.events()
        assert (event["kind"], event["text"]) == ("job_result", "✅ stretch\nAll is well.")
        assert json.loads(event["data"]) == {
            "job_id": job.id,
            "name": "stretch",
            "run_id": run_id,
            "due_at": "2026-03-02T10:37:00+00:00",
            "state": "ok",
            "code": None,
        }

    def test_is_pushed_and_the_ledger_says_so(self):
        office = with_model(model.says("All is well."))
        office.add(prompt="is all well?")
        office.tick("10:37")
        office.turns()
        assert office.own_thread() == ["Your jobs, alice", "✅ stretch\nAll is well."]
        (made,) = office.runs()
        assert (made["state"], made["delivery"]) == ("ok", "delivered")

    def test_a_long_output_is_cut_with_a_pointer_to_its_run(self):
        office = with_model(model.says("x" * 9_000))
        office.add(prompt="say much")
        office.tick("10:37")
        (run_id,) = office.turns()
        text = office.events()[0]["text"]
        assert len(text) < 3_700
        assert text.endswith(f"run show {run_id}")

    def test_is_a_turn_as_the_owner_with_the_owners_tools(self):
        office = with_model(model.calls("learn", text="Tea at four."), model.says("Noted."))
        office.add("web:bob", prompt="remember when tea is")
        office.tick("10:37")
        office.turns()
        first = office.house.http.sent[0]
        assert model.asked(first)["messages"][-1]["content"] == "remember when tea is"
        assert {"learn", "recall", "unlearn", "use_telegram", "schedule"} <= model.tools_of(first)
        assert office.house.db.sql("SELECT owner, text FROM memories") == [
            {"owner": "web:bob", "text": "Tea at four."}
        ]


class TestBadEnd:
    def test_leaves_one_row_and_one_event_with_a_cross(self):
        office = with_model(HttpReply(400, {}, "no"))
        office.add(prompt="is all well?")
        office.tick("10:37")
        office.turns()
        (made,) = office.job_runs()
        assert made["state"] == "failed"
        (event,) = office.events()
        assert event["kind"] == "job_error"
        assert event["text"].startswith(f"❌ stretch · failed: {made['code']}\n")
        assert office.own_thread()[1:] == [event["text"]]

    def test_without_a_model_the_owner_is_told(self):
        office = Office()
        office.add(prompt="is all well?")
        office.tick("10:37")
        office.turns()
        assert [made["code"] for made in office.job_runs()] == ["no_model"]
        assert office.events()[0]["text"].startswith("❌ stretch · failed: no_model\n")

    def test_an_empty_answer_is_no_result(self):
        office = with_model(model.says("  "))
        office.add(prompt="is all well?")
        office.tick("10:37")
        office.turns()
        assert [made["code"] for made in office.job_runs()] == ["no_output"]
        assert [event["kind"] for event in office.events()] == ["job_error"]

    def test_past_its_deadline_the_call_in_flight_is_cancelled_and_it_is_timed_out(self):
        office = with_model()
        timeouts: list[float] = []

        def hangs(sent: Sent) -> HttpReply:
            timeouts.append(sent.timeout_s)
            office.house.clock.advance(ms=int(sent.timeout_s * 1000))
            raise Fault("no answer in time")

        office.house.http.otherwise = hangs
        office.add(prompt="think hard")
        begun = started(office).admitted_at
        office.turns()
        (made,) = office.job_runs()
        assert (made["state"], made["code"]) == ("failed", "timed_out")
        assert sum(timeouts) <= JOB_DEADLINE_S == 50
        assert made["ended_at"] - begun <= JOB_DEADLINE_S * 1000 + 1_000
        assert [event["kind"] for event in office.events()] == ["job_error"]

    def test_its_own_turn_may_list_jobs_and_not_make_or_delete_them(self):
        office = with_model()
        job = office.add(prompt="look after my jobs")
        office.house.http.replies += [
            model.calls("schedule", action="list"),
            model.calls("schedule", action="create", name="n", prompt="p", schedule="*/1m"),
            model.calls("schedule", action="delete", id=job.id),
            model.says("I tried."),
        ]
        office.tick("10:37")
        office.turns()
        answers = model.told(office.house.http.sent[-1])
        assert job.id in answers[0]
        assert "may list jobs" in answers[1]
        assert "may list jobs" in answers[2]
        assert [row["id"] for row in office.rows()] == [job.id]


class TestAnAgentsWords:
    def test_that_a_turn_made_a_job_of_are_never_a_command(self):
        """A server that the agent read says which jobs to make; none of them commands."""
        office = with_model(
            model.calls("agent", role="personal"),
            model.calls("schedule", action="create", name="n", prompt="run list", schedule="*/1m"),
            model.says("Done."),
            model.says("I keep reminders."),
        )
        actor = person()
        message = IncomingMessage(
            run_id="said",
            actor=actor,
            grants=grants_of(actor, {}, frozenset()),
            source=Source.MESSAGE,
            text="what is the weather?",
            thread="web:general/t1",
        )
        run(admit(office.house, [message], office.house.clock.now_ms()))
        run(run_turn(office.house, "said", KeptSteps()))
        said = run(ledger.get(office.house.db, "said"))
        assert said is not None
        assert "Job n (" in (said.output or ""), "the receipt is told, whatever the model says"
        office.tick("10:08")
        office.turns()
        (made,) = [row for row in office.runs() if row["source"] == "job"]
        assert (made["text"], made["route"], made["output"]) == (
            "run list",
            "agent",
            "I keep reminders.",
        )


class TestCommand:
    """A prompt in chat form is that command, under the rule for an unattended turn."""

    def test_that_reads_runs(self):
        office = Office()
        office.add(prompt="whoami")
        office.tick("10:37")
        office.turns()
        assert office.events()[0]["text"].startswith("✅ stretch\nweb:alice")

    def test_that_writes_is_handed_back_with_a_code_for_the_owner(self):
        office = Office()
        office.add(prompt="memory forget abc")
        office.tick("10:37")
        office.turns()
        (made,) = office.job_runs()
        assert (made["state"], made["code"]) == ("refused", "handed_back")
        (event,) = office.events()
        assert event["kind"] == "job_error"
        assert "memory forget abc" in event["text"]
        (code,) = office.house.db.sql("SELECT code, actor FROM handbacks")
        assert f"confirm {code['code']}" in event["text"]
        assert code["actor"] == "web:alice"


class TestDiedHalfway:
    def test_a_run_whose_instance_ended_without_a_word_is_told_by_the_watchdog(self):
        office = Office()
        office.add()
        made = started(office)
        office.house.engine.statuses[made.id] = EngineStatus.ENDED
        office.at("10:50")
        assert office.watch().ended == [made.id]
        (row,) = office.job_runs()
        assert (row["state"], row["code"]) == ("failed", "interrupted")
        (event,) = office.events()
        assert (event["kind"], event["push"]) == ("job_error", "delivered")
        assert office.watch().ended == []
        assert len(office.events()) == len(office.own_thread()[1:]) == 1

    def test_a_claim_that_never_came_to_a_run_is_told_once_it_is_surely_lost(self):
        office = Office()
        job = office.add()

        async def pause(point: str) -> None:
            if point == "db.batch" and office.job_runs():
                raise Fault("admission failed")

        office.house.db.pause = pause
        report = office.tick("10:37")
        assert (report.claimed, report.started, len(report.errors)) == (1, 0, 1)
        office.house.db.pause = Office().house.db.pause
        office.house.clock.advance(ms=LOST_MS - 1)
        assert run(end_lost(office.house)) == []
        office.house.clock.advance(ms=1)
        (run_id,) = run(end_lost(office.house))
        assert run_id == run_id_of(job.id, ms("2026-03-02T10:37:00+00:00"))
        (event,) = office.events()
        assert event["text"] == ("❌ stretch\nIt was claimed and never started, so it did not run.")
        assert [row["code"] for row in office.job_runs()] == ["interrupted"]
        assert run(end_lost(office.house)) == []

    def test_one_that_ended_in_the_ledger_alone_is_told_as_it_ended(self):
        office = Office()
        office.add()
        made = started(office)
        run(
            ledger.finish(
                office.house.db,
                made.id,
                state=State.OK,
                code=None,
                output="done",
                now_ms=office.house.clock.now_ms(),
            )
        )
        assert run(end_lost(office.house)) == [made.id]
        assert [row["state"] for row in office.job_runs()] == ["ok"]
        assert [event["text"] for event in office.events()] == ["✅ stretch\ndone"]

    def test_a_cancelled_run_is_told_as_cancelled(self):
        office = Office()
        office.add()
        made = started(office)
        assert run(end(office.house, made, Code.CANCELLED, office.house.clock.now_ms()))
        assert [row["code"] for row in office.job_runs()] == ["cancelled"]
        assert office.events()[0]["text"].startswith("❌ stretch · failed: cancelled\n")
        office.turns()
        assert len(office.events()) == 1, "its own turn tells nothing more"

    def test_a_live_run_is_left_alone(self):
        office = Office()
        office.add()
        started(office)
        office.house.clock.advance(ms=10 * LOST_MS)
        assert run(end_lost(office.house)) == []
        assert office.events() == []


class TestOnce:
    def test_an_end_that_is_written_again_tells_nothing_twice(self):
        office = Office()
        office.add()
        office.tick("10:37")
        (run_id,) = office.turns()
        found = run(ledger.get(office.house.db, run_id))
        assert found is not None
        run(job_ended(office.house, found))
        assert len(office.events()) == 1
        assert len(office.own_thread()) == 2

    def test_a_job_deleted_while_its_run_is_under_way_is_told_all_the_same(self):
        office = Office()
        job = office.add(thread="web:general/t1")
        office.house.web.threads["web:general/t1"] = "a thread"
        office.tick("10:37")
        office.house.db.sql("DELETE FROM jobs WHERE id = ?", job.id)
        office.turns()
        assert [row["state"] for row in office.job_runs()] == ["ok"]
        assert [event["kind"] for event in office.events()] == ["job_result"]
        assert office.house.web.texts("web:general/t1") == [office.events()[0]["text"]]
        assert office.rows() == [], "it does not come back"

    def test_where_the_push_breaks_the_run_stands_and_the_next_tick_pushes(
        self, caplog: pytest.LogCaptureFixture
    ):
        office = Office()
        office.add()
        office.tick("10:37")

        async def pause(point: str) -> None:
            if point == "db.run" and office.events():
                raise Fault("the database is down")

        office.house.db.pause = pause
        with caplog.at_level(logging.ERROR, "bot.jobs"):
            office.turns()
        office.house.db.pause = Office().house.db.pause
        assert [row["state"] for row in office.job_runs()] == ["ok"]
        assert [event["push"] for event in office.events()] == [None]
        assert "push_failed" in [getattr(record, "action", "") for record in caplog.records]
        office.tick("10:38")
        assert [event["push"] for event in office.events()] == ["delivered"]
        assert len(office.own_thread()) == 2
