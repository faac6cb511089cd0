"""Turns on the real runtime: a scripted model and the demo GitHub on loopback, over real HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.runtime.bot import Bot
from tests.runtime.server import Server
from tests.runtime.world import until
from tests.support.demo_github import DemoGithub
from tests.support.model_server import ModelServer, calls, fails, says, slowly

AUDIT, BUMP = "nightly-audit", "nightly-bump"
GRANTS = ["agent:run:research on acme/api", "github:issue-write on acme/api"]
AUDIT_TEXT = "in acme/api: list the dependencies with a known advisory and open an issue for each"
BUMP_TEXT = "in acme/api: bump every dependency with a known advisory"
TO_RESEARCH = calls(("agent", {"role": "research", "repo": "acme/api"}))
TWO_ISSUES = calls(
    ("create_issue", {"title": "demo-jwt is vulnerable", "body": "Update it to 3.2.1."}),
    ("create_issue", {"title": "demo-yaml is vulnerable", "body": "Update it to 6.0.2."}),
)
ASK = "agent:run research in acme/api: what is there?"


@pytest.fixture(scope="module")
def github() -> Iterator[DemoGithub]:
    with DemoGithub() as demo:
        yield demo


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def server(start_server: Callable[..., Server], github: DemoGithub, model: ModelServer) -> Server:
    github_vars = {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": github.token}
    return start_server(vars={**github_vars, **model.vars})


@pytest.fixture
def bot(server: Server, github: DemoGithub, model: ModelServer) -> Iterator[Bot]:
    github.reset()
    model.reset()
    bot = Bot(server)
    yield bot
    server.set_clock(None)
    bot.clear()


def say(bot: Bot, text: str) -> dict[str, Any]:
    """What `POST /ingress` answers the administrator."""
    answer = bot.post("/ingress", {"text": text})
    assert answer.status == 200, answer.text
    return answer.json()


def opened(github: DemoGithub) -> list[str]:
    """The titles of the issues that GitHub was asked to open, in their order."""
    bodies = [
        json.loads(asked["body"]) if isinstance(asked["body"], str) else asked["body"]
        for asked in github.requests()
        if asked["method"] == "POST" and asked["path"].endswith("/issues")
    ]
    return [body["title"] for body in bodies]


def outcomes(run: Mapping[str, Any]) -> list[tuple[str, str | None, str]]:
    return [(step["name"], step["tool"], step["outcome"]) for step in run["steps"]]


class TestTheTwoSchedules:
    """The audit and the bump of the trace, to the letter."""

    @pytest.fixture
    def bot(self, bot: Bot) -> Bot:
        bot.server.set_clock("2026-09-01T12:00:00Z")
        usual = {"channel": "web:ops", "grants": GRANTS}
        bot.add(AUDIT, cron="0 3 * * *", text=AUDIT_TEXT, thread="standing", **usual)
        bot.add(BUMP, cron="30 3 * * *", text=BUMP_TEXT, **usual)
        return bot

    def test_the_audit_opens_its_issues_under_exactly_its_grants(
        self, bot: Bot, github: DemoGithub, model: ModelServer
    ):
        model.then(TO_RESEARCH, calls(("list_advisories", {})), TWO_ISSUES, says("Opened two."))
        report = bot.tick("2026-09-02T03:00:05Z")
        assert report["claimed"] == [AUDIT]
        run = bot.ended(report["started"][0]["run_id"])
        assert (run["state"], run["code"], run["delivery"]) == ("ok", None, "delivered")
        assert (run["actor"], run["grants"]) == (f"schedule:{AUDIT}", GRANTS)
        assert (run["route"], run["effect"]) == ("agent", "exec")
        assert opened(github) == ["demo-jwt is vulnerable", "demo-yaml is vulnerable"]
        thread = bot.thread(run["thread"])
        assert thread[-1] == "ran: agent:run research in acme/api\nOpened two."
        assert "demo-jwt" in json.dumps(model.requests[2]["messages"]), "it read them"
        assert run["usage"] == {"model_calls": 4, "tokens_in": 400, "tokens_out": 40}
        assert bot.last(AUDIT)["state"] == "ok"

    def test_the_bump_starts_nothing_and_is_handed_back(self, bot: Bot, model: ModelServer):
        model.then(TO_RESEARCH, says("Nothing new."))
        bot.tick("2026-09-02T03:00:05Z")
        bot.quiet()
        model.reset()
        model.then(calls(("agent_ship", {"repo": "acme/api", "path": "plans/bump.md"})))
        report = bot.tick("2026-09-02T03:30:05Z")
        assert report["claimed"] == [BUMP]
        run = bot.ended(report["started"][0]["run_id"])
        assert (run["state"], run["code"]) == ("refused", "schedule_write")
        assert (run["route"], run["effect"]) == ("routed", "write")
        assert bot.last(BUMP)["code"] == "schedule_write"
        thread = bot.thread(run["thread"])
        assert "```\nagent:ship in acme/api: plan plans/bump.md\n```" in thread[-1]
        assert "confirm" not in thread[-1]
        assert len(model.requests) == 1, "the router was asked, and no agent"

    def test_its_standing_thread_is_its_memory(self, bot: Bot, model: ModelServer):
        for day, text in (("02", "Nothing new, said Tuesday."), ("03", "Again nothing.")):
            model.then(TO_RESEARCH, says(text))
            (started,) = [
                each
                for each in bot.tick(f"2026-09-{day}T03:00:05Z")["started"]
                if each["name"] == AUDIT
            ]
            bot.ended(started["run_id"])
        told = model.requests[-1]["messages"][-1]["content"]
        assert "<<<DATA" in told
        assert "said Tuesday" in told
        assert "said Tuesday" not in json.dumps(model.requests[-2]), "the router sees no memory"


class TestTheWriteRule:
    def test_a_read_by_prose_runs_with_a_receipt(self, bot: Bot, model: ModelServer):
        model.then(calls(("schedule_list", {})))
        run = bot.chat("which schedules are there?")
        assert (run["state"], run["route"], run["effect"]) == ("ok", "routed", "read")
        assert bot.thread(run["thread"])[-1].startswith("ran: schedule list\n")

    def test_a_write_by_prose_is_handed_back_and_confirmed_once(self, bot: Bot, model: ModelServer):
        bot.add("doomed")
        model.then(calls(("schedule_remove", {"name": "doomed"})))
        run = bot.chat("remove the doomed one")
        assert (run["state"], run["code"], run["effect"]) == ("refused", "handed_back", "write")
        assert "doomed" in bot.schedules()
        text = bot.thread(run["thread"])[-1]
        assert "```\nschedule remove doomed\n```" in text
        code = text.partition("Answer confirm ")[2].split()[0]

        other = say(bot, f"confirm {code}")
        assert (other["state"], other["code"]) == ("refused", "bad_code"), "http:admin is another"
        confirmed = bot.chat(f"confirm {code}")
        assert (confirmed["state"], confirmed["route"]) == ("ok", "explicit")
        assert "doomed" not in bot.schedules()
        again = bot.chat(f"confirm {code}")
        assert (again["state"], again["code"]) == ("refused", "bad_code")

    def test_a_program_is_handed_its_own_write_back_over_ingress(
        self, bot: Bot, model: ModelServer
    ):
        bot.add("doomed")
        model.then(calls(("schedule_remove", {"name": "doomed"})))
        answer = say(bot, "remove the doomed one")
        assert (answer["state"], answer["code"]) == ("refused", "handed_back")
        assert "doomed" in bot.schedules()
        code = answer["text"].partition("Answer confirm ")[2].split()[0]
        by_chat = bot.chat(f"confirm {code}")
        assert (by_chat["state"], by_chat["code"]) == ("refused", "bad_code")
        assert say(bot, f"confirm {code}")["state"] == "ok"
        assert "doomed" not in bot.schedules()

    def test_an_answer_that_is_no_choice_is_told_what_is_nearest(
        self, bot: Bot, model: ModelServer
    ):
        model.then(says("I have removed everything."))
        run = say(bot, "pause that schedule")
        assert (run["state"], run["code"]) == ("refused", "not_understood")
        assert "schedule pause NAME" in run["text"]


class TestAnAgent:
    def test_a_forged_call_is_refused_and_shows_in_the_run(
        self, bot: Bot, github: DemoGithub, model: ModelServer
    ):
        elsewhere = {"title": "x", "body": "y", "repo": "acme/web"}
        forged = calls(("schedule_remove", {"name": AUDIT}), ("open_pull_request", {}))
        model.then(forged, calls(("create_issue", elsewhere)), says("I could not."))
        run = bot.run(say(bot, ASK)["run_id"])
        assert (run["state"], run["output"]) == ("ok", "I could not.")
        assert outcomes(run) == [
            ("model-1", None, "ok"),
            ("tool-1-1", "schedule_remove", "refused"),
            ("tool-1-2", "open_pull_request", "refused"),
            ("model-2", None, "ok"),
            ("tool-2-1", "create_issue", "refused"),
            ("model-3", None, "ok"),
        ]
        assert opened(github) == []
        assert "schedule_remove" in bot.command(f"run show {run['id']}")["text"]

    def test_ends_at_its_ceiling_of_steps(self, bot: Bot, model: ModelServer):
        assert bot.command("config set agent.max_steps 3")["outcome"] == "ok"
        model.otherwise = lambda body: calls(("list_folder", {}))
        run = say(bot, ASK)
        bot.command("config unset agent.max_steps")
        assert (run["state"], run["code"]) == ("failed", "too_many_steps")
        assert len(bot.run(run["run_id"])["steps"]) == 3

    def test_ends_at_its_deadline_with_the_call_in_flight_cancelled(
        self, bot: Bot, model: ModelServer
    ):
        assert bot.command("config set agent.deadline_s 5")["outcome"] == "ok"
        model.then(slowly(says("too late"), 20))
        began = time.monotonic()
        run = say(bot, ASK)
        bot.command("config unset agent.deadline_s")
        assert (run["state"], run["code"]) == ("failed", "timed_out")
        assert time.monotonic() - began < 15

    def test_waits_as_the_model_asks_and_tries_again(self, bot: Bot, model: ModelServer):
        model.then(fails(429, retry_after="2"), says("at last"))
        run = say(bot, ASK)
        assert (run["state"], run["text"]) == ("ok", "at last")
        first, second = model.times
        assert second - first >= 1.9

    def test_a_cancel_stops_it_between_two_steps(self, bot: Bot, model: ModelServer):
        model.then(slowly(calls(("list_folder", {})), 2), says("never"))
        said = bot.command(ASK)
        run_id = said["data"]["run_id"]
        until(lambda: model.requests)
        assert bot.command(f"run cancel {run_id}")["outcome"] == "ok"
        time.sleep(3)
        run = bot.run(run_id)
        assert (run["state"], run["code"]) == ("failed", "cancelled")
        assert len(model.requests) == 1

    def test_a_slow_one_answers_ingress_with_202_and_its_run(self, bot: Bot, model: ModelServer):
        model.then(slowly(says("it took long"), 27))
        answer = bot.post("/ingress", {"text": ASK})
        assert (answer.status, answer.json()["state"]) == (202, "running")
        run = bot.ended(answer.json()["run_id"])
        assert (run["state"], run["output"]) == ("ok", "it took long")


class TestAKillInTheMiddle:
    """`kill -9` of the process group, a restart on the same state, one round of the watchdog."""

    def killed_when(self, bot: Bot, truth: Callable[[], Any]) -> None:
        until(truth)
        bot.server.kill9()
        bot.server.restart()

    def resumed(self, bot: Bot, run_id: str) -> dict[str, Any]:
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 180))
        bot.server.set_clock(later)
        bot.watch()
        return bot.ended(run_id)

    def test_of_a_tool_call_that_writes_opens_no_issue_twice(
        self, bot: Bot, github: DemoGithub, model: ModelServer
    ):
        model.then(TWO_ISSUES, says("Opened two."))
        # The first issue is opened, and its answer is under way when the bot dies.
        github.fail("/repos/acme/api/issues", method="POST", delay_ms=8_000, after=True)
        run_id = bot.command(ASK)["data"]["run_id"]
        self.killed_when(bot, lambda: len(opened(github)) == 1)
        assert bot.run(run_id)["state"] == "running"

        run = self.resumed(bot, run_id)
        assert (run["state"], run["output"]) == ("ok", "Opened two.")
        assert opened(github) == ["demo-jwt is vulnerable", "demo-yaml is vulnerable"]
        assert len(model.requests) == 2, "no answer of the model was asked for twice"
        assert outcomes(run) == [
            ("model-1", None, "ok"),
            ("tool-1-1", "create_issue", "ok"),
            ("tool-1-2", "create_issue", "ok"),
            ("model-2", None, "ok"),
        ]

    def test_of_a_model_call_asks_it_again_and_repeats_nothing_else(
        self, bot: Bot, github: DemoGithub, model: ModelServer
    ):
        model.then(TWO_ISSUES, slowly(says("lost"), 8), says("Opened two."))
        run_id = bot.command(ASK)["data"]["run_id"]
        self.killed_when(bot, lambda: len(model.requests) == 2)

        run = self.resumed(bot, run_id)
        assert (run["state"], run["output"]) == ("ok", "Opened two.")
        assert len(opened(github)) == 2
        assert len(model.requests) == 3
        assert run["usage"]["model_calls"] == 2

    def test_of_a_wait_for_the_model_asks_it_again(self, bot: Bot, model: ModelServer):
        model.then(fails(429, retry_after="12"), says("at last"))
        run_id = bot.command(ASK)["data"]["run_id"]
        until(lambda: bot.run(run_id)["steps"])
        time.sleep(1)  # The step has ended, and the wait has begun.
        self.killed_when(bot, lambda: True)

        run = self.resumed(bot, run_id)
        assert (run["state"], run["output"]) == ("ok", "at last")
        assert [(name, did) for name, _, did in outcomes(run)] == [
            ("model-1", "failed"),
            ("model-1-try-2", "ok"),
        ]


@pytest.fixture(scope="module")
def demo(start_server: Callable[..., Server]) -> Bot:
    return Bot(start_server(demo=True))


class TestTheDemoModel:
    """What `make run` starts where no model is configured."""

    def test_runs_the_audit_with_the_demo_github(self, demo: Bot):
        demo.add(AUDIT, text=AUDIT_TEXT, grants=GRANTS)
        run = demo.ended(demo.fire(AUDIT).json()["run_id"])
        assert run["state"] == "ok"
        first, second, *receipts = run["output"].splitlines()
        assert first == "ran: agent:run research in acme/api"
        assert second.startswith("demo model: ")
        assert [line.partition("#")[0] for line in receipts] == ["- Opened acme/api"] * 7
        again = demo.ended(demo.fire(AUDIT).json()["run_id"])
        assert "have an open issue already" in again["output"]

    def test_hands_the_bump_back(self, demo: Bot):
        demo.add(BUMP, text=BUMP_TEXT, grants=GRANTS)
        run = demo.ended(demo.fire(BUMP).json()["run_id"])
        assert (run["state"], run["code"]) == ("refused", "schedule_write")
        assert (run["route"], run["effect"]) == ("routed", "write")

    def test_ships_a_plan(self, demo: Bot):
        run = say(demo, "agent:ship in acme/api: plan docs/plans/update-json-merge.md")
        assert run["state"] == "ok"
        assert "Opened acme/api#" in run["text"]

    def test_makes_a_job_of_one_sentence_in_the_web_chat(self, demo: Bot):
        run = demo.chat("remind me in 45 minutes to stretch")
        assert (run["state"], run["route"]) == ("ok", "agent")
        told = demo.thread(run["thread"])[-1]
        assert told.startswith("ran: agent, personal\ndemo model: ")
        jobs = demo.server.get("/api/jobs", headers=demo.session).json()["jobs"]
        assert [job["name"] for job in jobs] == ["stretch"]
