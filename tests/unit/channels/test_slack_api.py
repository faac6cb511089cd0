from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.service import Declined, Done, Lost, Wait
from bot.channels.slack_api import SlackApi, read_reply
from bot.ports import Fault, HttpReply, Settings
from tests.support.drive import run
from tests.support.world import ScriptedHttp


def reply(body: Any, status: int = 200, **headers: str) -> HttpReply:
    text = body if isinstance(body, str) else json.dumps(body)
    return HttpReply(status, {name.replace("_", "-"): v for name, v in headers.items()}, text)


class TestReadReply:
    def test_ok_is_done(self):
        assert read_reply(reply({"ok": True, "ts": "1.2"})) == Done({"ok": True, "ts": "1.2"})

    @pytest.mark.parametrize("error", ["channel_not_found", "is_archived", "not_in_channel"])
    def test_a_channel_that_is_not_there_is_gone(self, error: str):
        answer = read_reply(reply({"ok": False, "error": error}))
        assert isinstance(answer, Declined)
        assert answer.gone
        assert error in answer.reason

    @pytest.mark.parametrize("error", ["invalid_auth", "msg_too_long", "restricted_action"])
    def test_ok_false_is_declined_with_the_reason(self, error: str):
        answer = read_reply(reply({"ok": False, "error": error}))
        assert isinstance(answer, Declined)
        assert not answer.gone
        assert f"({error})" in answer.reason

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry_after": "7"}, 7),
            ({"retry_after": "0"}, 1),
            ({}, 30),
            ({"retry_after": "soon"}, 30),
            ({"retry_after": "-5"}, 30),
            ({"retry_after": "99999999"}, 3_600),
            ({"retry_after": "9" * 400}, 30),
        ],
    )
    def test_a_rate_limit_asks_to_wait_within_bounds(self, headers: Any, seconds: int):
        assert read_reply(reply("", 429, **headers)) == Wait(seconds)
        assert read_reply(reply({"ok": False, "error": "ratelimited"}, **headers)) == Wait(seconds)

    @pytest.mark.parametrize(
        "answered",
        [
            reply("<html>", 502),
            reply("", 200),
            reply([], 200),
            reply({"ok": "true"}, 200),
            reply({"ok": False, "error": "fatal_error"}),
            reply({"ok": False, "error": "internal_error"}, 500),
            reply({"ok": True}, 503),
        ],
    )
    def test_what_may_have_been_done_is_lost(self, answered: HttpReply):
        assert isinstance(read_reply(answered), Lost)

    def test_a_status_that_says_it_was_not_done_is_declined(self):
        assert isinstance(read_reply(reply("Not Found", 404)), Declined)


def api(http: ScriptedHttp, **settings: Any) -> SlackApi:
    values = {"slack_bot_token": "xoxb-1", "slack_api_url": "https://slack.test/api", **settings}
    return SlackApi(http, Settings(**values))


class TestCalls:
    def test_a_post_is_json_under_the_token(self):
        http = ScriptedHttp([reply({"ok": True})])
        run(api(http).post_message({"channel": "C1", "text": "é", "thread_ts": None}))
        (sent,) = http.sent
        assert (sent.method, sent.url) == ("POST", "https://slack.test/api/chat.postMessage")
        assert sent.headers["authorization"] == "Bearer xoxb-1"
        assert sent.headers["content-type"] == "application/json; charset=utf-8"
        assert json.loads(sent.body or "") == {"channel": "C1", "text": "é"}

    def test_silence_is_lost(self):
        http = ScriptedHttp([Fault("timed out")])
        assert isinstance(run(api(http).post_message({})), Lost)

    def test_without_a_token_nothing_is_asked(self):
        http = ScriptedHttp()
        answer = run(api(http, slack_bot_token="").post_message({}))
        assert isinstance(answer, Declined)
        assert http.sent == []


class TestAnswers:
    @pytest.mark.parametrize(
        ("url", "takes"),
        [
            ("https://hooks.slack.com/commands/T1/2/3", True),
            ("https://hooks.slack.com:443/actions/T1", False),
            ("http://hooks.slack.com/commands/T1", False),
            ("https://hooks.slack.com.evil.test/x", False),
            ("https://hooks.slack.com@evil.test/x", False),
            ("https://slack.test/commands/1", True),
            ("https://evil.test/commands/1", False),
            ("", False),
            ("https://[::1", False),
        ],
    )
    def test_only_slacks_own_addresses_are_called(self, url: str, takes: bool):
        http = ScriptedHttp([reply("ok")])
        answer = run(api(http).answer(url, {"text": "x"}))
        assert isinstance(answer, Done if takes else Declined)
        assert len(http.sent) == takes

    def test_the_token_does_not_go_there(self):
        http = ScriptedHttp([reply("ok")])
        run(api(http).answer("https://hooks.slack.com/x", {"text": "x"}))
        assert "authorization" not in http.sent[0].headers

    @pytest.mark.parametrize(
        ("answered", "kind"),
        [
            (reply("ok"), Done),
            (reply("used_url", 404), Declined),
            (reply({"ok": False, "error": "expired_url"}, 410), Declined),
            (reply("", 429), Wait),
            (reply("", 500), Lost),
            (Fault("cut off"), Lost),
        ],
    )
    def test_how_it_ended(self, answered: Any, kind: type):
        http = ScriptedHttp([answered])
        assert isinstance(run(api(http).answer("https://hooks.slack.com/x", {})), kind)
