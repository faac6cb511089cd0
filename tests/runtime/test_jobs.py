"""Jobs on the real runtime: real D1, Workflows and HTTP; a scripted model and a Telegram on
loopback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.bot import at, at_once, ms
from tests.runtime.jobs import ALICE, VARS, Jobs, jobs_world
from tests.runtime.server import Server
from tests.runtime.world import until
from tests.support.model_server import ModelServer, calls, says, slowly
from tests.support.telegram_server import TelegramServer

MINUTE = 60_000
NINE = "2026-09-01T09:00:00Z"
HALF_PAST = "2026-09-01T09:30:01Z"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


@pytest.fixture(scope="module")
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as made:
        yield made


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jobs_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def server(
    start_server: Callable[..., Server], root: Path, model: ModelServer, telegram: TelegramServer
) -> Server:
    outside = {"TELEGRAM_API_URL": telegram.url, "TELEGRAM_BOT_TOKEN": telegram.token}
    return start_server(root, vars={**VARS, **outside, **model.vars})


@pytest.fixture
def bot(server: Server, model: ModelServer, telegram: TelegramServer) -> Jobs:
    model.reset()
    telegram.blocked.clear()
    telegram.wait_s = None
    telegram.messages.clear()
    bot = Jobs(server)
    bot.empty()
    server.set_clock(NINE)
    return bot


def told(bot: Jobs, count: int = 1, subject: str = "alice") -> list[dict[str, Any]]:
    """The person's events, once there are so many and the push of each has ended."""

    def look() -> list[dict[str, Any]] | None:
        events = bot.events(subject)
        ends = [event["push"] for event in events]
        ready = len(events) >= count and not {None, "unknown"} & set(ends)
        return events if ready else None

    return until(look, 60)


class TestOneSentence:
    SENTENCE = "every morning at 09:30, look after my repos"
    JOB = {
        "action": "create",
        "name": "morning",
        "prompt": "Look after my repos.",
        "schedule": "daily@09:30",
    }

    def test_in_the_web_chat_is_a_job_that_fires_and_answers_in_the_thread_and_on_the_ring(
        self, bot: Jobs, model: ModelServer
    ):
        model.then(
            calls(("agent", {"role": "personal"})),
            calls(("schedule", self.JOB)),
            says("It is set."),
        )
        run = bot.of("alice").chat(self.SENTENCE)
        assert run["state"] == "ok", run
        (job,) = bot.jobs()
        assert (job["schedule"], job["next"][0]) == ("daily@09:30", "2026-09-01T09:30:00+00:00")

        model.then(says("Your repos are well."))
        report = bot.tick(HALF_PAST)
        assert report["jobs"] == {
            "due": 1,
            "claimed": 1,
            "lost": 0,
            "skipped": 0,
            "stale": 0,
            "started": 1,
        }
        (event,) = told(bot)
        assert (event["kind"], event["text"]) == (
            "job_result",
            "✅ morning\nYour repos are well.",
        )
        assert event["push"] == "delivered"
        assert bot.of("alice").thread(run["thread"])[-1] == event["text"]
        assert bot.jobs()[0]["last"]["state"] == "ok"


class TestRoutes:
    def test_a_number_that_is_infinite_is_422(self, bot: Jobs):
        body = '{"userId": "web:alice", "name": "n", "prompt": "p", "run_in_minutes": 1e400}'
        answer = bot.key("POST", "/jobs", data=body)
        assert (answer.status, answer.json()["code"]) == (422, "bad_time")

    def test_the_session_and_the_key_lead_to_the_same_jobs(self, bot: Jobs):
        session = bot.of("alice").session
        made = bot.server.post(
            "/api/jobs", {"name": "n", "prompt": "p", "schedule": "*/2h"}, headers=session
        )
        assert made.status == 201, made.text
        assert bot.jobs()[0]["id"] == made.json()["id"]
        assert bot.jobs("web:bob") == []
        gone = bot.server.delete(f"/api/jobs?id={made.json()['id']}", headers=session)
        assert gone.status == 200, gone.text
        assert bot.jobs() == []

    def test_ten_creates_at_once_at_nine_leave_ten(self, bot: Jobs):
        for n in range(9):
            bot.make(name=f"job {n}")
        made = at_once([lambda: bot.try_make(name="more")] * 10)
        assert sorted(answer.status for answer in made) == [201] + [429] * 9
        assert len(bot.jobs()) == 10

    def test_a_command_in_the_chat_makes_one_too(self, bot: Jobs):
        run = bot.of("alice").chat("job add drink in 20 minutes: whoami")
        assert run["output"].startswith("Job drink (")
        assert bot.jobs()[0]["run_at"] == "2026-09-01T09:20:00+00:00"


class TestTicks:
    def test_twelve_at_once_make_one_run(self, bot: Jobs):
        bot.make()
        bot.make(name="once", run_in_minutes=30)
        bot.server.set_clock(HALF_PAST)
        reports = at_once([bot.tick] * 12)
        figures = [report["jobs"] for report in reports]
        assert sum(each["claimed"] for each in figures) == 2
        assert sum(each["started"] for each in figures) == 2
        assert all(each["claimed"] + each["lost"] == each["due"] for each in figures)
        events = told(bot, 2)
        assert [event["kind"] for event in events] == ["job_result"] * 2
        assert len(bot.job_runs()) == 2

    def test_by_http_and_by_cron_at_once_make_one_run(self, bot: Jobs):
        bot.make()
        bot.server.set_clock(HALF_PAST)
        at_once([bot.tick, bot.cron_tick] * 3)
        assert len(told(bot)) == len(bot.job_runs()) == 1

    def test_a_stale_one_shot_is_off_and_told_and_a_recurring_one_skips_in_silence(self, bot: Jobs):
        bot.make(name="call mum", run_in_minutes=5)
        bot.make(name="often", schedule="*/5m")
        figures = bot.tick("2026-09-04T12:00:01Z")["jobs"]
        assert (figures["stale"], figures["started"]) == (2, 0)
        (event,) = told(bot)
        assert event["kind"] == "job_abandoned"
        assert "call mum was due at 2026-09-01T09:05:00+00:00" in event["text"]
        assert bot.job_runs() == []
        assert [job["enabled"] for job in bot.jobs()] == [False, True]
        assert bot.tick("2026-09-04T12:05:01Z")["jobs"]["started"] == 1


class TestCost:
    def test_the_due_query_reads_what_is_due_whatever_is_stored(self, bot: Jobs):
        bot.fill(0, 100_000, 8_000, made="2026-09-01T08:00:00Z")
        bot.fill(100_000, 50, 1, made="2026-09-01T07:30:00Z")
        found = bot.do("due", ms(NINE))
        assert found["jobs"] == 50
        assert found["rows_read"] <= 300
        bot.tick()
        idle = bot.do("due", ms(NINE))
        assert idle["jobs"] == 0
        assert idle["rows_read"] <= 10


class TestRunByHand:
    def test_is_answered_with_its_outcome(self, bot: Jobs, model: ModelServer):
        job = bot.make(prompt="how are you?")
        model.then(says("Well."))
        answer = bot.key("POST", "/api/job-run", {"userId": ALICE, "id": job["id"]})
        assert answer.status == 200, answer.text
        said = answer.json()
        assert (said["state"], said["code"], said["output"]) == ("ok", None, "Well.")
        assert told(bot)[0]["text"] == "✅ stretch\nWell."
        assert bot.jobs()[0]["last_fired_at"] is None, "its slot stays as it is"

    def test_of_another_person_is_404(self, bot: Jobs):
        job = bot.make()
        answer = bot.key("POST", "/api/job-run", {"userId": "web:bob", "id": job["id"]})
        assert answer.status == 404
        assert bot.job_runs() == []

    def test_past_its_deadline_the_call_in_flight_is_cancelled(self, bot: Jobs, model: ModelServer):
        """The same deadline, made shorter by the setting that bounds every turn."""
        bot.command("config set agent.deadline_s 5")
        try:
            job = bot.make(prompt="think hard")
            model.then(slowly(says("too late"), 30))
            begun = time.monotonic()
            answer = bot.key("POST", "/api/job-run", {"userId": ALICE, "id": job["id"]})
            taken = time.monotonic() - begun
        finally:
            bot.command("config unset agent.deadline_s")
        assert (answer.json()["state"], answer.json()["code"]) == ("failed", "timed_out")
        assert taken < 20
        (event,) = told(bot)
        assert event["text"].startswith("❌ stretch · failed: timed_out\n")


class TestTelegram:
    def test_a_linked_owner_is_told_in_their_own_chat(self, bot: Jobs, telegram: TelegramServer):
        bot.link("alice", "4711")
        bot.make()
        bot.make("web:bob")
        bot.tick(HALF_PAST)
        (event,) = told(bot)
        assert (event["push"], telegram.texts("4711")) == ("delivered", [event["text"]])
        told(bot, subject="bob")
        assert len(telegram.messages) == 1

    def test_a_block_pauses_that_owners_pushes_and_is_shown(
        self, bot: Jobs, telegram: TelegramServer
    ):
        bot.link("alice", "4711")
        telegram.blocked.add("4711")
        bot.make()
        bot.tick(HALF_PAST)
        (first,) = told(bot)
        assert first["push"].startswith("undelivered: ")
        assert bot.jobs()[0]["last"]["state"] == "ok", "the job itself went well"
        assert bot.jobs()[0]["last"]["push"] == first["push"]
        telegram.blocked.clear()
        bot.tick("2026-09-01T10:00:01Z")
        second = told(bot, 2)[-1]
        assert second["push"].startswith("undelivered: pushes to Telegram are paused")
        assert telegram.messages == []

    def test_when_telegram_asks_to_wait_a_later_tick_pushes(
        self, bot: Jobs, telegram: TelegramServer
    ):
        bot.link("alice", "4711")
        telegram.wait_s = 30
        bot.make()
        bot.tick(HALF_PAST)
        until(lambda: bot.jobs()[0]["last"]["state"] == "ok")
        until(lambda: telegram.waits)
        until(lambda: bot.sql("SELECT 1 FROM events WHERE push_at IS NOT NULL"))
        telegram.wait_s = None
        bot.tick("2026-09-01T09:30:10Z")
        assert telegram.messages == []
        bot.tick("2026-09-01T09:31:30Z")
        until(lambda: told(bot)[0]["push"] == "delivered")
        assert len(telegram.messages) == 1


class TestKilled:
    @pytest.fixture
    def own(
        self, start_server: Callable[..., Server], root: Path, model: ModelServer
    ) -> Iterator[Jobs]:
        model.reset()
        server = start_server(root, vars={**VARS, **model.vars}, clock=NINE)
        yield Jobs(server)
        server.close()

    def test_in_the_middle_of_a_turn_it_is_resumed_and_told_once(
        self, own: Jobs, model: ModelServer
    ):
        own.make(prompt="remember tea", schedule="daily@09:30")
        model.then(calls(("learn", {"text": "Tea at four."})), slowly(says("Noted."), 30))
        own.tick(HALF_PAST)
        until(lambda: len(model.requests) == 2)
        own.server.kill9()
        model.script = [says("Noted, again.")]
        own.server.restart()
        own.server.set_clock("2026-09-01T09:33:00Z")
        own.watch()
        (event,) = told(own)
        (row,) = own.job_runs()
        # Resumed past its fifty seconds it is over; what it had done stays done, once.
        assert (row["state"], row["code"]) == ("failed", "timed_out")
        assert event["kind"] == "job_error"
        assert own.sql("SELECT text FROM memories") == [{"text": "Tea at four."}]
        assert own.tick("2026-09-01T09:34:00Z")["jobs"]["due"] == 0

    def test_between_its_claim_and_its_run_it_is_told_by_the_watchdog(self, own: Jobs):
        job = own.make()
        due = ms("2026-09-01T09:30:00Z")
        # What a tick leaves that dies right after its claim.
        own.sql(
            "UPDATE jobs SET last_fired_at = ?, version = 2, next_at = ?", due, due + MINUTE * 30
        )
        own.sql(
            "INSERT INTO job_runs (run_id, job_id, user_id, name, due_at, claimed_at, trigger)"
            " VALUES ('lost', ?, 'web:alice', 'stretch', ?, ?, 'tick')",
            job["id"],
            due,
            due,
        )
        own.server.set_clock("2026-09-01T09:40:00Z")
        assert own.jobs()[0]["last"]["state"] == "claimed_not_started"
        own.watch()
        (event,) = told(own)
        assert (event["kind"], event["data"]["due_at"]) == ("job_error", at(due))
        assert own.jobs()[0]["last"]["code"] == "interrupted"
