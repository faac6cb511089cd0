"""Slack on the real runtime: a Slack on loopback, real signatures, real retries, a real kill."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.runtime.bot import Bot, at_once, ms
from tests.runtime.server import Answer, Server
from tests.runtime.world import until
from tests.support import slack_payloads as sent
from tests.support.model_server import ModelServer, calls
from tests.support.slack_server import SlackServer, signature

FORM = "application/x-www-form-urlencoded"
THREAD = f"C042/{sent.ROOT}"
ANSWER_WITHIN_S = 3


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


@pytest.fixture(scope="module")
def slack() -> Iterator[SlackServer]:
    with SlackServer() as made:
        yield made


@pytest.fixture(scope="module")
def server(start_server: Callable[..., Server], slack: SlackServer, model: ModelServer) -> Server:
    return start_server(vars={**slack.vars, **model.vars})


class Workspace:
    """What Slack would send, and what the bot did."""

    def __init__(self, server: Server, slack: SlackServer):
        self.server, self.slack, self.bot = server, slack, Bot(server)
        self.number = 0

    def sends(self, payload: Any, *, form: bool = False, at_ms: int | None = None) -> Answer:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signed = signature(body, int(time.time() * 1000) if at_ms is None else at_ms)
        headers = {"content-type": FORM if form else "application/json", **signed}
        return self.server.request("POST", "/slack/events", data=body, headers=headers)

    def event_id(self) -> str:
        self.number += 1
        return f"Ev{time.time_ns()}N{self.number}"

    def says(self, text: str, make: Callable[..., Any] = sent.mention, **event: Any) -> None:
        """Somebody says something, in a thread of its own unless told, and it is taken in."""
        ts = f"{time.time_ns() // 10**9}.{self.number:06d}"
        payload = make(text, self.event_id(), **{"ts": ts, **event})
        assert self.sends(payload).status == 200

    def posts(self, count: int) -> list[dict[str, Any]]:
        """What Slack took since the test began, once it is that many."""
        return until(lambda: len(self.slack.posts) >= count and list(self.slack.posts))

    def grant(self, actor: str, *grants: str) -> None:
        self.bot.write({f"grants.{actor}": list(grants)})

    def pressed(self, post: dict[str, Any], *, user: str = sent.ADA) -> bytes:
        self.number += 1
        url, action_ts = f"{self.slack.url}/actions/1", f"{time.time_ns() // 10**9}.{self.number}"
        return sent.pressed(post, url, user=user, action_ts=action_ts)


@pytest.fixture
def team(server: Server, slack: SlackServer, model: ModelServer) -> Iterator[Workspace]:
    model.reset()
    slack.posts.clear()
    slack.answers.clear()
    slack.archived.clear()
    slack.wait_s = slack.failing = None
    team = Workspace(server, slack)
    yield team
    slack.wait_s = slack.failing = None
    server.set_clock(None)
    team.bot.clear()
    team.bot.quiet()


class TestTheDoor:
    def test_a_challenge_is_answered(self, team: Workspace):
        answer = team.sends({"type": "url_verification", "challenge": "abc"})
        assert (answer.status, answer.json()) == (200, {"challenge": "abc"})

    def test_bad_and_stale_signatures_are_401(self, team: Workspace):
        payload = sent.mention("whoami", team.event_id())
        stale = int(time.time() * 1000) - 301_000
        assert team.sends(payload, at_ms=stale).status == 401
        body = json.dumps(payload).encode()
        headers = signature(body + b" ", int(time.time() * 1000))
        answer = team.server.request("POST", "/slack/events", data=body, headers=headers)
        assert (answer.status, answer.json()["code"]) == (401, "unauthorized")
        assert team.server.post("/slack/events", payload).status == 401

    def test_unknown_events_and_odd_bodies(self, team: Workspace):
        assert team.sends(sent.envelope({"type": "reaction_added"}, team.event_id())).status == 200
        assert team.sends(b"not json").status == 400
        assert team.sends(b"payload=%7B", form=True).status == 400


class TestMessages:
    def test_a_mention_is_answered_at_once_and_its_outcome_posted(self, team: Workspace):
        began = time.monotonic()
        team.says("whoami", ts=sent.ROOT)
        assert time.monotonic() - began < ANSWER_WITHIN_S
        (post,) = team.posts(1)
        assert (post["channel"], post["thread_ts"]) == ("C042", sent.ROOT)
        assert post["text"].startswith("Ada (slack:U042)\n")
        (run,) = team.bot.runs(limit=1)
        assert (run["actor"], run["thread"]) == ("slack:U042", f"slack:{THREAD}")
        assert team.bot.told(run["id"])["delivery"] == "delivered"

    def test_an_event_that_comes_five_times_at_once_runs_once(self, team: Workspace):
        payload = sent.mention("help", team.event_id(), ts="1769990001.000100")
        answers = at_once([lambda: team.sends(payload)] * 5)
        assert {answer.status for answer in answers} == {200}
        team.posts(1)
        team.bot.quiet()
        assert team.sends(payload).status == 200
        team.bot.quiet()
        assert len(team.slack.texts("C042/1769990001.000100")) == 1

    def test_hostile_words_come_back_harmless(self, team: Workspace, model: ModelServer):
        from tests.support.model_server import says

        hostile = "<!channel> <@U042> <https://x.test|safe> @here \u202eevil **x**\n```\n<&>"
        model.then(calls(("agent", {"role": "research"})), says(hostile + "w" * 4_000))
        team.says("in acme/api: what is there?")
        (post,) = team.posts(1)
        assert "<" not in post["text"] and "\u202e" not in post["text"]
        assert "&lt;\u200b!channel&gt; &lt;@U042&gt;" in post["text"]
        assert (post["parse"], post["unfurl_links"]) == ("none", False)

    def test_a_thread_goes_on_without_mentions(self, team: Workspace):
        team.says("whoami", ts="1769990002.000100")
        team.posts(1)
        team.bot.quiet()
        team.says("whoami", sent.reply, thread_ts="1769990002.000100")
        assert len(team.posts(2)) == 2

    def test_the_bots_own_posts_and_edits_start_nothing(self, team: Workspace):
        before = len(team.bot.runs())
        team.says("whoami", sent.direct, user=sent.BOT, bot_id=sent.BOT_ID)
        team.says("whoami", sent.direct, subtype="message_changed", hidden=True)
        team.says("lunch?", sent.message)
        assert len(team.bot.runs()) == before

    def test_a_missing_grant_is_told_with_who_gives_it(self, team: Workspace):
        team.says("schedule fire nightly", user="U043")
        (post,) = team.posts(1)
        assert post["text"].startswith("refused: forbidden\n")
        assert "grant add slack:U043 schedule:fire" in post["text"]
        assert "http:admin" in post["text"]

    def test_ok_false_is_undelivered_with_its_reason(self, team: Workspace):
        team.slack.failing = "not_in_channel"
        team.says("whoami")
        (run,) = team.bot.runs(limit=1)
        told = team.bot.told(run["id"])
        assert told["state"] == "ok"
        assert told["delivery"].startswith("undelivered: the bot is not in the channel")

    def test_a_rate_limit_is_waited_for(self, team: Workspace):
        team.slack.wait_s = 1
        team.says("whoami")
        (run,) = team.bot.runs(limit=1)
        time.sleep(0.5)
        team.slack.wait_s = None
        assert team.bot.told(run["id"])["delivery"] == "delivered"
        assert len(team.slack.posts) == 1

    def test_a_slash_command_answers_its_caller(self, team: Workspace):
        url = f"{team.slack.url}/commands/1"
        answer = team.sends(sent.slash("list", url, team.event_id()), form=True)
        assert (answer.status, answer.body) == (200, b"")
        until(lambda: team.slack.answers)
        assert "keep-alive" in team.slack.answers[0]["text"]
        typo = team.sends(sent.slash("lst", url, team.event_id()), form=True)
        assert typo.json()["text"].startswith("refused: bad_command\n")


class TestSchedules:
    def test_a_firing_opens_a_thread_and_a_standing_one_stays(self, team: Workspace):
        team.server.set_clock("2026-09-01T12:00:00Z")
        team.bot.add("fresh", channel="slack:C042")
        team.bot.add("stands", channel="slack:C042", thread="standing")
        for hour in (13, 14):
            team.bot.tick(f"2026-09-01T{hour}:00:05Z")
            team.bot.quiet()
        leads = [post for post in team.slack.posts if "thread_ts" not in post]
        assert sorted(post["text"].partition(" ")[0] for post in leads) == [
            "fresh",
            "fresh",
            "stands",
        ]
        key = team.bot.row("stands")["threadKey"]
        assert len(team.slack.texts(key.removeprefix("slack:"))) == 2
        assert team.bot.last("fresh")["delivery"] == "delivered"

    def test_a_channel_that_is_gone_is_refused_now_and_then(self, team: Workspace):
        refused = team.bot.try_add("lost", channel="slack:C0NONE")
        assert (refused.status, refused.json()["code"]) == (422, "no_channel")
        team.server.set_clock("2026-09-01T12:00:00Z")
        team.bot.add("archive", channel="slack:C042")
        team.slack.archived.add("C042")
        team.bot.tick("2026-09-01T13:00:05Z")
        team.bot.quiet()
        last = team.bot.last("archive")
        assert last is not None
        assert (last["state"], last["code"]) == ("refused", "no_channel")


class TestButtons:
    def test_a_hand_back_is_confirmed_by_pressing(self, team: Workspace, model: ModelServer):
        team.grant("slack:U042", "config:write")
        model.then(calls(("config_set", {"key": "motd", "value": "hello"})))
        team.says("please set motd to hello", ts="1769990003.000100")
        (post,) = team.posts(1)
        assert post["text"].startswith("refused: handed_back\n")
        team.bot.quiet()
        grace = team.sends(team.pressed(post, user=sent.GRACE), form=True)
        assert grace.status == 200
        until(lambda: team.slack.answers)
        assert "slack:U042" in team.slack.answers[0]["text"]
        assert "motd" not in team.bot.document()["entries"]
        body = team.pressed(post)
        assert {each.status for each in at_once([lambda: team.sends(body, form=True)] * 3)} == {200}
        team.posts(2)
        team.bot.quiet()
        assert team.bot.document()["entries"]["motd"] == "hello"
        confirmed = [text for text in team.slack.texts() if text.startswith("Confirmed.")]
        assert len(confirmed) == 1

    def test_a_claim_that_never_started_is_fired_by_two_at_once(self, team: Workspace):
        for user in ("U042", "U043"):
            team.grant(f"slack:{user}", "schedule:fire")
        due = ms("2026-09-01T12:00:00Z")
        row = {"name": "missed", "made": "2026-09-01T11:30:00Z", "channel": "slack:C042"}
        claim = {"lastDueAt": due, "lastFiredAt": due, "lastClaimedAt": due}
        team.bot.write_rows([{**row, **claim}])
        team.server.set_clock("2026-09-01T12:10:00Z")
        team.bot.watch()
        (post,) = team.posts(1)
        assert "claimed_not_started" in post["text"]
        at_ms = ms("2026-09-01T12:10:30Z")
        presses = [team.pressed(post, user=user) for user in ("U042", "U043", "U042")]
        at_once([lambda body=body: team.sends(body, form=True, at_ms=at_ms) for body in presses])
        team.bot.quiet()
        runs = team.bot.runs(name="missed")
        assert [(run["trigger"], run["state"]) for run in runs] == [("refire", "ok")]
        assert runs[0]["by"] in ("slack:U042", "slack:U043")
        until(lambda: len(team.slack.answers) == 3)


def test_what_was_taken_in_survives_a_kill(team: Workspace):
    team.says("whoami", ts="1769990009.000100")
    team.server.kill9()
    team.server.restart()
    team.server.set_clock("2027-01-01T00:00:00Z")
    team.bot.watch()
    (run,) = team.bot.runs(limit=1)
    ended = team.bot.told(run["id"])
    assert ended["state"] in ("ok", "failed")
    # A post that was under way when the bot died may have arrived or not: it is not made again.
    assert len(team.slack.texts("C042/1769990009.000100")) <= 1
    assert ended["delivery"] in ("delivered", "unknown")
