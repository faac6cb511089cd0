"""What the product promises of jobs, promise by promise, end to end inside one process.

HTTP, the tick, dispatch, the turn and the pushes are the real ones; the model is scripted.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.agent.limits import JOB_DEADLINE_S
from bot.commands.all import REGISTRY
from bot.dispatch.turn import run_turn
from bot.jobs import store
from bot.ports import Fault, HttpReply
from bot.schedules.catalog import KEEP_ALIVE
from tests.support.drive import run
from tests.support.house import TestHouse
from tests.support.turns import KeptSteps
from tests.support.world import Sent
from tests.unit.builders import ms
from tests.unit.http.client import Answer, Client, office
from tests.unit.jobs import model

ME = "web:ci"
SENTENCE = "Every morning at 09:00, check my repos and message me on Telegram"
DAY = "2026-03-02T"


class Bot:
    """A bot at 09:00 on Monday, 2 March, and its one person in a browser."""

    def __init__(self, *script: HttpReply):
        settings = {**model.SETTINGS, "telegram_bot_token": "77:secret"}
        self.client: Client = office(commands=REGISTRY, settings=settings)
        self.house: TestHouse = self.client.house
        self.worker = Client(self.house, {"X-Internal-Key": "key-of-internal"})
        self.script = list(script)
        self.telegram: list[dict[str, Any]] = []
        self.house.http.otherwise = self.outside
        self.turned: set[str] = set()
        self.house.config.put({"grants.http:ci": ["schedule:fire"]})

    @property
    def me(self) -> Client:
        """The person's browser, signed in anew: the days pass here."""
        return self.client.signed_in()

    def outside(self, sent: Sent) -> HttpReply:
        if "/sendMessage" in sent.url:
            self.telegram.append(json.loads(sent.body or ""))
            return HttpReply(200, {}, json.dumps({"ok": True, "result": {"message_id": 1}}))
        return self.script.pop(0)

    def say(self, text: str) -> str:
        """Say something in a new thread of the web chat and let the bot answer; the thread."""
        answer = self.me.post("/api/chat", {"channel": "web:general", "text": text})
        assert answer.status == 202, answer
        self.turns()
        return answer.json["thread"]

    def thread(self, key: str) -> list[str]:
        path = key.replace("/", "%2F").replace("@", "%40")
        return [each["text"] for each in self.me.get(f"/api/threads/{path}").json["messages"]]

    def add(self, **fields: Any) -> dict[str, Any]:
        answer = self.post(**fields)
        assert answer.status == 201, answer
        return answer.json

    def post(self, **fields: Any) -> Answer:
        made = {"name": "morning", "prompt": "whoami", **fields}
        return self.worker.post("/jobs", {"userId": ME, **made})

    def tick(self, iso: str) -> dict[str, int]:
        """One tick at that time; what it says of jobs."""
        self.house.clock.set(ms(f"{iso}+00:00"))
        answer = self.client.bearer("token-of-ci").post("/admin/schedules/tick")
        assert answer.status == 200, answer
        self.house.background.finish()
        return answer.json["jobs"]

    def turns(self) -> None:
        for run_id in self.house.engine.started:
            if run_id not in self.turned:
                self.turned.add(run_id)
                run(run_turn(self.house, run_id, KeptSteps()))

    def events(self) -> list[dict[str, Any]]:
        return self.me.get("/api/events").json["events"]

    def jobs(self) -> list[dict[str, Any]]:
        return self.me.get("/api/jobs").json["jobs"]

    def job_runs(self) -> list[dict[str, Any]]:
        return self.house.db.sql("SELECT * FROM job_runs")

    def link_telegram(self) -> None:
        self.house.db.sql(
            "INSERT INTO identity_links (owner, surface, subject, linked_at)"
            " VALUES (?, 'telegram', '4711', 0)",
            ME,
        )


MORNING = {
    "action": "create",
    "name": "morning",
    "prompt": "Check my repos and message me on Telegram.",
    "schedule": "daily@09:00",
}
ROUTED = model.calls("agent", role="personal", ask=SENTENCE)


def test_every_morning_at_0900_is_one_sentence_to_the_agent_and_one_row_in_d1():
    bot = Bot(ROUTED, model.calls("schedule", **MORNING), model.says("It is set."))
    thread = bot.say(SENTENCE)
    (job,) = bot.jobs()
    assert (job["schedule"], job["user_id"]) == ("daily@09:00", ME)
    assert bot.thread(thread)[-1].endswith("It is set.")
    bot.script = [
        model.calls("use_telegram", text="All repos are green."),
        model.says("I looked at your repos and wrote to you."),
    ]
    assert bot.tick(f"{DAY}09:30:00")["due"] == 0
    assert bot.tick("2026-03-03T09:00:10")["started"] == 1
    bot.turns()
    assert bot.jobs()[0]["last"]["state"] == "ok"
    (event,) = bot.events()
    assert event["kind"] == "job_result"
    assert bot.thread(thread)[-1] == event["text"], "its result is on the ring and in the thread"


def test_with_telegram_linked_the_result_and_the_agents_message_go_to_the_owners_own_chat():
    bot = Bot(model.calls("use_telegram", text="All green."), model.says("Told you."))
    bot.link_telegram()
    bot.add(prompt="check my repos and message me", schedule="daily@09:00")
    bot.tick("2026-03-03T09:00:10")
    bot.turns()
    assert [(each["chat_id"], each["text"]) for each in bot.telegram] == [
        ("4711", "All green."),
        ("4711", "✅ morning\nTold you."),
    ]


class TestCreatingAJob:
    def tool(self, bot: Bot, **args: Any) -> str:
        """What the schedule tool answers the agent in a turn of the person's."""
        bot.script = [ROUTED, model.calls("schedule", **args), model.says("Done.")]
        bot.say(SENTENCE)
        return model.told(bot.house.http.sent[-1])[0]

    def test_argument_action_is_create_list_or_delete(self):
        bot = Bot()
        assert "Job morning (" in self.tool(bot, **MORNING)
        (job,) = bot.jobs()
        assert job["id"] in self.tool(bot, action="list")
        assert "is deleted" in self.tool(bot, action="delete", id=job["id"])
        assert bot.jobs() == []
        assert "action is" in self.tool(bot, action="pause")

    def test_argument_name_is_the_jobs_name(self):
        assert Bot().add(name="water the plants", schedule="*/2h")["name"] == "water the plants"

    def test_argument_prompt_is_what_the_job_does_each_run(self):
        bot = Bot(model.says("one"), model.says("two"))
        bot.add(prompt="What now?", schedule="*/30m")
        for at in ("09:30:00", "10:00:00"):
            bot.tick(DAY + at)
            bot.turns()
        asked = [model.asked(sent)["messages"][-1]["content"] for sent in bot.house.http.sent]
        assert asked == ["What now?", "What now?"]

    @pytest.mark.parametrize(
        ("schedule", "first"),
        [
            ("*/30m", f"{DAY}09:30:00+00:00"),
            ("*/2h", f"{DAY}11:00:00+00:00"),
            ("daily@09:00", "2026-03-03T09:00:00+00:00"),
        ],
    )
    def test_argument_schedule_is_recurring(self, schedule: str, first: str):
        assert Bot().add(schedule=schedule)["next"][0] == first

    def test_argument_run_in_minutes_is_once_n_minutes_from_now(self):
        bot = Bot()
        assert bot.add(run_in_minutes=20)["run_at"] == f"{DAY}09:20:00+00:00"
        assert bot.tick(f"{DAY}09:19:59")["due"] == 0
        assert bot.tick(f"{DAY}09:20:00")["started"] == 1
        assert bot.tick(f"{DAY}09:40:00")["due"] == 0

    def test_argument_id_is_for_delete(self):
        bot = Bot()
        keep, gone = bot.add(schedule="*/30m"), bot.add(schedule="*/30m")
        assert "is deleted" in self.tool(bot, action="delete", id=gone["id"])
        assert [job["id"] for job in bot.jobs()] == [keep["id"]]

    def test_api_jobs_forwards_to_jobs_with_the_sessions_user(self):
        bot = Bot()
        made = {"name": "n", "prompt": "p", "schedule": "*/30m"}
        assert bot.me.post("/api/jobs", made).json["user_id"] == ME
        assert bot.worker.get(f"/jobs?userId={ME}").json == {"jobs": bot.jobs()}

    def test_every_0_minutes_is_refused_since_it_would_never_fire_and_hold_a_slot_for_ever(self):
        answer = Bot().post(schedule="*/0m")
        assert answer.status == 422
        assert "never fire and hold a place for ever" in answer.json["detail"]

    def test_daily_at_25_70_is_refused_rather_than_rolled_over(self):
        answer = Bot().post(schedule="daily@25:70")
        assert answer.status == 422
        assert "25:70" in answer.json["detail"]

    @pytest.mark.parametrize("minutes", ["1e400", "-1e400"])
    def test_a_one_shot_has_a_finite_time(self, minutes: str):
        body = b'{"userId": "web:ci", "name": "n", "prompt": "p", "run_in_minutes": %s}'
        answer = Bot().worker.post("/jobs", body=body % minutes.encode())
        assert answer.status == 422

    def test_the_eleventh_job_is_429_job_limit_reached_10(self):
        bot = Bot()
        for n in range(10):
            bot.add(name=f"job {n}", schedule="*/30m")
        answer = bot.post(schedule="*/30m")
        assert answer.status == 429
        assert "job limit reached (10)" in answer.json["detail"]

    def test_get_jobs_and_delete_jobs_complete_the_set(self):
        bot = Bot()
        made = bot.add(schedule="*/30m")
        assert [job["id"] for job in bot.jobs()] == [made["id"]]
        named = {"userId": ME, "id": made["id"]}
        assert bot.worker.send("DELETE", "/jobs", named).status == 200
        assert bot.worker.send("DELETE", "/jobs", named).status == 404


class TestTheTick:
    def test_runs_every_minute_by_the_deploys_own_cron(self):
        config = (Path(__file__).parents[3] / "wrangler.jsonc").read_text()
        crons = re.search(r'"crons": \[(.*?)\]', config)
        assert crons is not None
        assert f'"{KEEP_ALIVE.cron}"' in crons[1]
        assert KEEP_ALIVE.cron == "* * * * *"

    def test_fire_when_due_now(self):
        bot = Bot()
        bot.add(schedule="*/30m")
        assert bot.tick(f"{DAY}09:30:00")["started"] == 1

    def test_fire_when_missed_within_the_last_24_hours_and_once(self):
        bot = Bot()
        bot.add(schedule="daily@09:00")
        bot.add(run_in_minutes=1)
        bot.add(schedule="*/30m")
        assert bot.tick("2026-03-03T08:59:00")["started"] == 2
        assert bot.tick("2026-03-04T08:00:00")["started"] == 2
        assert bot.tick("2026-03-04T08:00:30")["due"] == 0

    def test_skip_when_not_due(self):
        bot = Bot()
        bot.add(schedule="*/30m")
        assert bot.tick(f"{DAY}09:29:59") == dict.fromkeys(bot.tick(f"{DAY}09:01:00"), 0)

    def test_skip_stale_advances_without_running_so_that_a_backlog_does_not_fire_all_at_once(self):
        bot = Bot()
        bot.add(schedule="*/5m")
        jobs = bot.tick("2026-03-05T09:02:00")
        assert (jobs["stale"], jobs["claimed"], jobs["started"]) == (1, 0, 0)
        assert bot.jobs()[0]["last_fired_at"] == "2026-03-05T09:02:00+00:00"
        assert bot.job_runs() == []
        assert bot.tick("2026-03-05T09:05:00")["started"] == 1

    def test_exactly_once_when_two_cron_invocations_overlap(self):
        bot = Bot()
        bot.add(schedule="*/30m")
        second: list[dict[str, int]] = []

        async def pause(point: str) -> None:
            if point == "db.batch" and not second:
                second.append({})
                second[0] = bot.tick(f"{DAY}09:30:00")

        bot.house.db.pause = pause
        first = bot.tick(f"{DAY}09:30:00")
        assert (second[0]["claimed"], second[0]["started"]) == (1, 1)
        assert (first["due"], first["lost"], first["claimed"], first["started"]) == (1, 1, 0, 0)
        assert len(bot.job_runs()) == 1

    def test_is_and_not_equals_so_that_a_job_that_never_fired_can_be_claimed(self):
        assert "last_fired_at IS " in store._CLAIM
        bot = Bot()
        bot.add(schedule="*/30m")
        assert bot.jobs()[0]["last_fired_at"] is None
        assert bot.tick(f"{DAY}09:30:00")["claimed"] == 1


class TestTheRun:
    def test_job_run_is_guarded_by_the_internal_key(self):
        bot = Bot()
        made = bot.add(schedule="*/30m")
        body = {"userId": ME, "id": made["id"]}
        assert bot.me.post("/api/job-run", body).status == 401
        assert bot.client.bearer("token-of-root").post("/api/job-run", body).status == 401

    def test_it_is_one_turn_that_does_not_stream_with_the_owners_capability_set(self):
        bot = Bot(model.says("fine"))
        bot.add(prompt="look", schedule="*/30m")
        bot.tick(f"{DAY}09:30:00")
        bot.turns()
        (sent,) = bot.house.http.sent
        assert not model.asked(sent).get("stream")
        tools = model.tools_of(sent)
        assert {"learn", "recall", "unlearn", "use_telegram", "schedule"} <= tools

    def test_after_50_seconds_it_is_cancelled(self):
        assert JOB_DEADLINE_S == 50
        bot = Bot()
        timeouts: list[float] = []

        def hang(sent: Sent) -> HttpReply:
            timeouts.append(sent.timeout_s)
            bot.house.clock.advance(ms=int(sent.timeout_s * 1000))
            raise Fault("cancelled")

        bot.house.http.otherwise = hang
        bot.add(prompt="look", schedule="*/30m")
        bot.tick(f"{DAY}09:30:00")
        bot.turns()
        assert sum(timeouts) <= 50
        assert bot.jobs()[0]["last"]["code"] == "timed_out"

    def test_success_writes_a_job_runs_row_and_one_job_result_with_a_check_mark(self):
        bot = Bot(model.says("fine"))
        bot.add(prompt="look", schedule="*/30m")
        bot.tick(f"{DAY}09:30:00")
        bot.turns()
        assert [row["state"] for row in bot.job_runs()] == ["ok"]
        (event,) = bot.events()
        assert (event["kind"], event["push"]) == ("job_result", "delivered")
        assert event["text"] == "✅ morning\nfine"

    def test_failure_writes_a_job_runs_row_and_one_job_error_with_a_cross(self):
        bot = Bot(model.says(""))
        bot.add(prompt="look", schedule="*/30m")
        bot.tick(f"{DAY}09:30:00")
        bot.turns()
        assert [row["code"] for row in bot.job_runs()] == ["no_output"]
        (event,) = bot.events()
        assert (event["kind"], event["push"]) == ("job_error", "delivered")
        assert event["text"].startswith("❌ morning · failed: no_output\n")


class TestTheOneSilentCaseMadeLoud:
    def test_a_stale_one_shot_is_off_and_its_owner_is_told_the_time_it_was_due(self):
        bot = Bot()
        bot.link_telegram()
        bot.add(name="call mum", run_in_minutes=20)
        bot.tick("2026-03-04T12:00:00")
        (job,) = bot.jobs()
        assert (job["enabled"], job["next"], job["last"]) == (False, [], None)
        (message,) = bot.telegram
        assert "call mum was due at 2026-03-02T09:20:00+00:00" in message["text"]
        assert "2026-03-04" not in message["text"], "not the moment of abandonment"
        assert "It is off, and yours to re-schedule" in message["text"]
        assert [event["kind"] for event in bot.events()] == ["job_abandoned"]

    def test_recurring_jobs_are_not_announced_when_they_skip_a_stale_slot(self):
        bot = Bot()
        bot.link_telegram()
        bot.add(schedule="*/5m")
        assert bot.tick("2026-03-05T09:02:00")["stale"] == 1
        assert bot.events() == bot.telegram == []


class TestOperatingNotes:
    def test_daily_is_in_utc(self):
        bot = Bot()
        bot.house.config.put({"zone": "Asia/Tokyo"})
        made = bot.add(schedule="daily@09:00")
        assert made["describe"] == "every day at 09:00 UTC"
        assert made["next"][0] == "2026-03-03T09:00:00+00:00"

    def test_the_run_executes_as_its_owner_with_what_the_owner_holds_at_run_time(self):
        bot = Bot()
        bot.house.config.put({f"grants.{ME}": ["run:cancel"]})
        bot.add(schedule="*/30m")
        bot.house.config.put({f"grants.{ME}": ["memory:write"]})
        bot.tick(f"{DAY}09:30:00")
        bot.turns()
        (event,) = bot.events()
        assert event["text"].startswith(f"✅ morning\n{ME}")
        assert "memory:write" in event["text"]
        assert "run:cancel" not in event["text"]

    def test_a_job_whose_owner_is_no_person_any_more_does_not_run(self):
        bot = Bot()
        bot.add(schedule="*/30m")
        bot.house.db.sql("UPDATE jobs SET user_id = 'http:ci'")
        jobs = bot.tick(f"{DAY}09:30:00")
        assert (jobs["started"], jobs["stale"]) == (0, 1)
        assert bot.house.db.sql("SELECT enabled FROM jobs") == [{"enabled": 0}]
