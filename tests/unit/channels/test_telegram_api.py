from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.service import Declined, Done, Lost, Wait
from bot.channels.telegram_api import Moved, TelegramApi, read_reply
from bot.ports import Fault, HttpReply, Settings
from tests.support.drive import run
from tests.support.world import ScriptedHttp

TOKEN = "77:secret-part"


def reply(body: Any, status: int = 200) -> HttpReply:
    return HttpReply(status, {}, body if isinstance(body, str) else json.dumps(body))


def refused(status: int, description: str, **more: Any) -> HttpReply:
    return reply({"ok": False, "description": description, **more}, status)


def test_ok_is_done_with_its_result() -> None:
    assert read_reply(reply({"ok": True, "result": {"message_id": 1}})) == Done({"message_id": 1})
    assert read_reply(reply({"ok": True, "result": True})) == Done()


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [({"retry_after": 7}, 7), ({"retry_after": 0}, 1), ({"retry_after": 10**6}, 3_600)]
    + [(odd, 30) for odd in (None, {}, [], {"retry_after": "7"}, {"retry_after": True})],
)
def test_a_flood_asks_to_wait_within_bounds(parameters: Any, seconds: int) -> None:
    answer = read_reply(refused(429, "Too Many Requests", parameters=parameters))
    assert answer == Wait(seconds)


def test_a_group_that_moved_says_where() -> None:
    parameters = {"migrate_to_chat_id": -1009}
    assert read_reply(refused(400, "upgraded", parameters=parameters)) == Moved("-1009")


@pytest.mark.parametrize(
    ("status", "description", "gone"),
    [
        (400, "Bad Request: chat not found", True),
        (403, "Forbidden: bot was kicked from the group chat", True),
        (400, "Bad Request: message thread not found", False),
        (400, "Bad Request: the chat is not a forum", False),
        (400, "Bad Request: not enough rights to manage topics", False),
        (401, "Unauthorized", False),
    ],
)
def test_a_refusal_has_its_reason(status: int, description: str, gone: bool) -> None:
    answer = read_reply(refused(status, description))
    assert isinstance(answer, Declined)
    assert (answer.gone, description in answer.reason) == (gone, True)


@pytest.mark.parametrize(
    "answered", [reply("<html>", 502), refused(500, "Internal"), reply("", 200), reply([], 200)]
)
def test_what_may_have_been_done_is_lost(answered: HttpReply) -> None:
    assert isinstance(read_reply(answered), Lost)


def api(http: ScriptedHttp, token: str = TOKEN) -> TelegramApi:
    settings = Settings(telegram_bot_token=token, telegram_api_url="https://telegram.test")
    return TelegramApi(http, settings)


def test_the_token_is_in_the_address_and_names_the_bot() -> None:
    http = ScriptedHttp([reply({"ok": True})])
    run(api(http).call("sendMessage", {"chat_id": 5, "message_thread_id": None}))
    assert http.sent[0].url == f"https://telegram.test/bot{TOKEN}/sendMessage"
    assert json.loads(http.sent[0].body or "") == {"chat_id": 5}
    assert api(http).bot_id == "77"


def test_silence_is_lost_and_no_message_holds_the_token(caplog: pytest.LogCaptureFixture) -> None:
    answer = run(api(ScriptedHttp([Fault(f"POST https://x/bot{TOKEN}/y timed out")])).call("y", {}))
    assert isinstance(answer, Lost)
    assert "secret-part" not in answer.reason + caplog.text


def test_without_a_token_nothing_is_asked() -> None:
    http = ScriptedHttp()
    assert isinstance(run(api(http, "").call("getMe", {})), Declined)
    assert http.sent == []
