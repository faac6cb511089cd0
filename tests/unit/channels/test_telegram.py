from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels import markdown, telegram_chats
from bot.channels.telegram import TelegramChannel
from bot.channels.telegram_api import TelegramApi
from bot.channels.telegram_me import KEPT_MS, username
from bot.channels.telegram_text import MAX_ENTITIES, MAX_UNITS, message
from bot.ports import Fault, NotOpened, Opened, Posted, Settings
from bot.words import Delivery
from tests.support.drive import run
from tests.support.sql import MemoryDatabase
from tests.support.telegram_server import Telegram
from tests.support.world import ScriptedHttp

NOW = 1_780_000_000_000
DELIVERED = Posted(Delivery.DELIVERED)


class Desk:
    """The surface over a Telegram in memory; ``-1002`` is a forum."""

    def __init__(self, token: str = "77:telegram-token"):
        self.telegram = Telegram()
        self.telegram.forums = {"-1002"}
        self.db, self.http = MemoryDatabase(), ScriptedHttp()
        self.http.otherwise = self.telegram.reply
        self.settings = Settings(telegram_bot_token=token, telegram_api_url="https://t.test")
        self.channel = TelegramChannel(self.db, self.http, self.settings)

    def post(self, text: str, thread: str = "telegram:500/0", key: str = "k") -> Posted:
        return run(self.channel.post(thread, text, key=key, now_ms=NOW))

    def open(self, channel: str = "telegram:-1002", key: str = "k") -> Opened | NotOpened:
        return run(self.channel.open_thread(channel, "nightly · due now", key=key, now_ms=NOW))

    def closed(self, channel: str) -> NotOpened | None:
        return run(self.channel.can_open_threads(channel))


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestChannels:
    @pytest.mark.parametrize("channel", ["telegram:500", "telegram:-5", "telegram:-1001234567890"])
    def test_a_chat_is_known_by_its_shape(self, desk: Desk, channel: str):
        assert desk.channel.exists(channel)
        assert not Desk("").channel.exists(channel)
        assert desk.http.sent == []

    @pytest.mark.parametrize(
        "channel",
        [
            *("telegram:", "telegram:0", "telegram:ops", "telegram:--5", "telegram:5/0", "web:5"),
            *("telegram:" + "9" * 40, "telegram:٣", "telegram:5 "),
        ],
    )
    def test_anything_else_is_none(self, desk: Desk, channel: str):
        assert not desk.channel.exists(channel)

    def test_a_forum_opens_threads_and_nothing_else_does(self, desk: Desk):
        assert desk.closed("telegram:-1002") is None
        for channel in ("telegram:-1001", "telegram:500"):
            closed = desk.closed(channel)
            assert closed is not None
            assert not closed.gone

    def test_a_private_chat_is_not_asked_about(self, desk: Desk):
        desk.closed("telegram:500")
        assert desk.telegram.calls == []

    def test_a_group_that_is_not_there_is_gone(self, desk: Desk):
        desk.telegram.gone, desk.telegram.blocked = {"-1009"}, {"-1008"}
        for channel in ("telegram:-1009", "telegram:-1008", "telegram:x"):
            closed = desk.closed(channel)
            assert closed is not None
            assert closed.gone

    @pytest.mark.parametrize("forum", [True, False])
    def test_where_telegram_is_silent_what_was_last_seen_counts(self, desk: Desk, forum: bool):
        run(telegram_chats.note_forum(desk.db, "-1005", not forum))
        run(telegram_chats.note_forum(desk.db, "-1005", forum))
        desk.http.replies = [Fault("silence")]
        assert (desk.closed("telegram:-1005") is None) is forum

    def test_a_group_that_nobody_saw_is_not_taken_for_a_forum(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        assert desk.closed("telegram:-1005") is not None


class TestOpening:
    def test_a_thread_is_a_topic_that_begins_with_its_lead(self, desk: Desk):
        assert desk.open() == Opened("telegram:-1002/101")
        assert desk.telegram.topics == [{"chat_id": -1002, "name": "nightly · due now"}]
        (lead,) = desk.telegram.messages
        assert (lead["text"], lead["message_thread_id"]) == ("nightly · due now", 101)

    def test_the_same_key_opens_the_same_topic(self, desk: Desk):
        assert desk.open() == desk.open()
        assert desk.open(key="other") != desk.open()
        assert (len(desk.telegram.topics), len(desk.telegram.messages)) == (2, 2)

    def test_a_long_lead_makes_a_short_name(self, desk: Desk):
        lead = "x" * 500
        run(desk.channel.open_thread("telegram:-1002", lead, key="k", now_ms=NOW))
        assert len(desk.telegram.topics[0]["name"]) == 128
        assert desk.telegram.messages[0]["text"] == lead

    def test_elsewhere_none_is_opened(self, desk: Desk):
        opened = desk.open("telegram:-1001")
        assert isinstance(opened, NotOpened)
        assert (opened.gone, "not a forum" in opened.reason) == (False, True)

    def test_a_rate_limit_is_passed_on(self, desk: Desk):
        desk.telegram.wait_s = 7
        opened = desk.open()
        assert isinstance(opened, NotOpened)
        assert opened.wait_s == 7

    def test_silence_is_a_fault_so_that_the_step_tries_again(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        with pytest.raises(Fault):
            desk.open()
        assert isinstance(desk.open(), Opened)


class TestPosting:
    def test_a_post_is_a_text_with_entities_and_fetches_nothing(self, desk: Desk):
        assert desk.post("🎉 <b>x</b> **bold** `co&de`\n```\nx = 1\n```\n@channel") == DELIVERED
        assert desk.telegram.messages == [
            {
                "chat_id": 500,
                "text": "🎉 <b>x</b> bold co&de\nx = 1\n@\u200bchannel",
                "entities": [
                    {"type": "bold", "offset": 12, "length": 4},
                    {"type": "code", "offset": 17, "length": 5},
                    {"type": "pre", "offset": 23, "length": 5},
                ],
                "link_preview_options": {"is_disabled": True},
            }
        ]

    def test_a_topic_is_named_and_the_chat_itself_is_not(self, desk: Desk):
        desk.post("x", "telegram:-1002/42")
        desk.post("x", "telegram:-1002/0", key="other")
        topics = [each.get("message_thread_id") for each in desk.telegram.messages]
        assert topics == [42, None]

    def test_a_long_text_takes_several_messages(self, desk: Desk):
        desk.post("🎉 word " * 1_500)
        sizes = [markdown.utf16(each["text"]) for each in desk.telegram.messages]
        assert len(sizes) == 3
        assert max(sizes) <= MAX_UNITS

    def test_the_same_key_posts_once(self, desk: Desk):
        assert desk.post("x" * 9_000) == desk.post("x" * 9_000) == DELIVERED
        assert len(desk.telegram.messages) == 3

    @pytest.mark.parametrize("text", ["", " \n", "```\n\n```"])
    def test_an_empty_text_is_still_a_message(self, desk: Desk, text: str):
        assert desk.post(text) == DELIVERED

    def test_a_person_who_blocked_the_bot_is_undelivered(self, desk: Desk):
        desk.telegram.blocked = {"500"}
        posted = desk.post("x")
        assert posted.delivery is Delivery.UNDELIVERED
        assert "blocked" in (posted.reason or "")

    def test_a_rate_limit_asks_to_come_again_and_then_goes_on(self, desk: Desk):
        desk.telegram.wait_s = 7
        assert desk.post("x").wait_s == 7
        desk.telegram.wait_s = None
        assert desk.post("x") == DELIVERED
        assert len(desk.telegram.messages) == 1

    def test_a_lost_answer_is_unknown_and_not_repeated(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        assert desk.post("x") == desk.post("x") == Posted(Delivery.UNKNOWN)
        assert desk.telegram.messages == []

    @pytest.mark.parametrize("thread", ["telegram:500", "telegram:500/x", "telegram:500/-1"])
    def test_what_is_no_thread_takes_nothing(self, desk: Desk, thread: str):
        assert desk.post("x", thread).delivery is Delivery.UNDELIVERED
        assert desk.http.sent == []


class TestMoving:
    def test_a_post_follows_the_group_and_remembers(self, desk: Desk):
        desk.telegram.moved = {"-3": "-1003"}
        assert desk.post("one", "telegram:-3/0") == DELIVERED
        assert desk.post("two", "telegram:-3/0", key="other") == DELIVERED
        assert desk.telegram.texts("-1003") == ["one", "two"]
        asked = [body["chat_id"] for method, body in desk.telegram.calls if method != "getMe"]
        assert asked == [-3, -1003, -1003]

    def test_a_topic_opens_where_the_group_went(self, desk: Desk):
        desk.telegram.moved, desk.telegram.forums = {"-3": "-1003"}, {"-1003"}
        assert desk.closed("telegram:-3") is None
        assert desk.open("telegram:-3") == Opened("telegram:-3/101")
        assert desk.telegram.topics[0]["chat_id"] == -1003

    def test_groups_that_move_in_a_circle_end(self, desk: Desk):
        desk.telegram.moved = {"-3": "-4", "-4": "-3"}
        assert desk.post("x", "telegram:-3/0").delivery is Delivery.UNDELIVERED


class TestName:
    def ask(self, desk: Desk, now_ms: int = NOW) -> str | None:
        return run(username(desk.db, TelegramApi(desk.http, desk.settings), now_ms))

    def test_it_is_asked_once_a_day(self, desk: Desk):
        assert [self.ask(desk) for _ in range(3)] == ["standingbot"] * 3
        assert len(desk.telegram.calls) == 1
        self.ask(desk, NOW + KEPT_MS)
        assert len(desk.telegram.calls) == 2

    def test_silence_is_a_fault_so_that_the_update_comes_again(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        with pytest.raises(Fault):
            self.ask(desk)

    def test_a_refused_token_has_no_name(self):
        assert self.ask(Desk("78:wrong")) is None


writing: Any = st.lists(
    st.one_of(
        st.text(st.sampled_from(list("ab \n`*#🎉é<&")), max_size=40),
        st.sampled_from(["```\n", "\n```\n", "`code`", "**bold**", "x" * 3_000, "🎉" * 1_500]),
    ),
    max_size=25,
).map("".join)


@given(writing)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_each_message_is_within_limits_and_its_entities_lie_within_it(text: str) -> None:
    for part in markdown.split(markdown.read(text), MAX_UNITS, markdown.utf16):
        made = message(part)
        units = markdown.utf16(made["text"])
        assert 0 < units <= MAX_UNITS
        assert len(made["entities"]) <= MAX_ENTITIES
        for entity in made["entities"]:
            assert 0 <= entity["offset"] < entity["offset"] + entity["length"] <= units
