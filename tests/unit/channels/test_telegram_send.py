from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from bot.channels.service import DEFAULT_WAIT_S, LONGEST_WAIT_S
from bot.channels.telegram_send import (
    Blocked,
    Failed,
    Outcome,
    Sent,
    Wait,
    cut_units,
    send_message,
)
from bot.channels.telegram_text import MAX_UNITS
from bot.ports import Fault, HttpReply
from tests.support.drive import run
from tests.support.house import TestHouse, make_house

TOKEN = "77:a-secret-token"


def house(status: int = 200, **answer: Any) -> TestHouse:
    """One whose Telegram answers this."""
    made = make_house(settings={"telegram_bot_token": TOKEN})
    made.http.otherwise = HttpReply(status, {}, json.dumps(answer))
    return made


def send(at: TestHouse, text: str = "hello", **more: Any) -> Outcome:
    return run(send_message(at, "77", text, **more))


def test_a_message_goes_to_its_chat_as_plain_text():
    at = house(ok=True, result={"message_id": 5})
    assert send(at, "<b>not bold</b> https://x.example") == Sent(5)
    (sent,) = at.http.sent
    assert (sent.method, sent.url) == (
        "POST",
        f"https://api.telegram.org/bot{TOKEN}/sendMessage",
    )
    assert json.loads(sent.body or "") == {
        "chat_id": "77",
        "text": "<b>not bold</b> https://x.example",
        "link_preview_options": {"is_disabled": True},
    }


def test_a_topic_is_named():
    at = house(ok=True)
    assert send(at, topic=9) == Sent(None)
    assert json.loads(at.http.sent[0].body or "")["message_thread_id"] == 9


def test_without_a_token_nothing_is_sent():
    at = make_house()
    assert isinstance(send(at), Failed)
    assert at.http.sent == []


@pytest.mark.parametrize(
    ("status", "answer", "outcome"),
    [
        (403, {"description": "blocked"}, Blocked("blocked")),
        (
            400,
            {"description": "chat not found"},
            Blocked("Telegram refused it: chat not found"),
        ),
        (429, {"parameters": {"retry_after": 7}}, Wait(7)),
        (429, {"parameters": {"retry_after": 0}}, Wait(1)),
        (429, {"parameters": {"retry_after": 10**9}}, Wait(LONGEST_WAIT_S)),
        (429, {"parameters": {"retry_after": "7"}}, Wait(DEFAULT_WAIT_S)),
        (429, {"parameters": [7]}, Wait(DEFAULT_WAIT_S)),
        (429, {}, Wait(DEFAULT_WAIT_S)),
        (400, {"description": "no"}, Failed("Telegram refused it: no")),
        (500, {}, Failed("Telegram answered 500 and not as it should")),
        (200, {"ok": False, "description": "no"}, Failed("Telegram refused it: no")),
        (200, {}, Failed("Telegram answered 200 and not as it should")),
        (
            400,
            {"description": "moved", "parameters": {"migrate_to_chat_id": -9}},
            Failed("the chat is -9 now"),
        ),
    ],
)
def test_each_answer_is_read_for_what_it_is(status: int, answer: Any, outcome: Outcome):
    assert send(house(status, **answer)) == outcome


@pytest.mark.parametrize("text", ["", "<html>bad gateway</html>", "[1, 2]", "[" * 10_000])
def test_an_answer_that_is_no_object_is_a_failure(text: str):
    at = house()
    at.http.otherwise = HttpReply(502, {}, text)
    assert send(at) == Failed("Telegram answered 502 and not as it should")


def test_where_telegram_does_not_answer_the_token_is_told_nowhere(
    caplog: pytest.LogCaptureFixture,
):
    at = house()
    at.http.otherwise = Fault(f"POST https://api.telegram.org/bot{TOKEN}/sendMessage: timed out")
    with caplog.at_level(logging.DEBUG):
        outcome = send(at)
    assert outcome == Failed("Telegram did not answer")
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a" * MAX_UNITS, False),
        ("a" * (MAX_UNITS + 1), True),
        ("😀" * (MAX_UNITS // 2), False),
        ("😀" * (MAX_UNITS // 2 + 1), True),
        ("a😀" * MAX_UNITS, True),
    ],
)
def test_a_long_text_is_cut_by_telegrams_own_count(text: str, cut: bool):
    made = cut_units(text)
    assert len(made.encode("utf-16-le")) // 2 <= MAX_UNITS
    assert made.endswith("… cut") == cut
    assert len(made.encode("utf-16-le")) // 2 > MAX_UNITS - 10 or not cut


@pytest.mark.parametrize("text", ["", "  \n", "\0"])
def test_a_text_that_telegram_would_refuse_becomes_one_it_takes(text: str):
    assert cut_units(text) == "."
