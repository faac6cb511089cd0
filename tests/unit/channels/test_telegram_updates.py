from __future__ import annotations

from typing import Any

import pytest

from bot.channels.telegram_updates import Ignored, MovedTo, Said, read_update, words_of
from tests.support import telegram_payloads as sent

BOT = "77"


def said(update: Any) -> Said:
    read = read_update(update, BOT)
    assert isinstance(read, Said), read
    return read


class TestPrivate:
    def test_every_message_is_for_the_bot(self):
        read = said(sent.private("whoami", 9))
        assert (read.update_id, read.user, read.chat, read.topic) == (9, 500, 500, 0)
        assert (read.private, read.to_us, read.text) == (True, True, "whoami")

    def test_a_command_is_known_by_its_slash(self):
        read = said(sent.private("/Start ABC123"))
        assert (read.command, words_of(read, None)) == ("start", "Start ABC123")


class TestGroups:
    def test_talk_is_not_for_the_bot(self):
        read = said(sent.group("lunch?"))
        assert (read.to_us, read.named, read.command) == (False, (), None)

    def test_whom_it_names_is_read_from_its_text(self):
        assert said(sent.group("hey @StandingBot, whoami")).named == ("standingbot",)
        assert said(sent.group("🎉@a @StandingBot")).named == ("a", "standingbot")
        assert said(sent.group("mail a@StandingBot.test")).named == ()

    def test_an_answer_to_the_bot_is_for_it_and_to_another_is_not(self):
        assert said(sent.group("and?", **sent.answering(77))).to_us
        assert not said(sent.group("and?", **sent.answering(501))).to_us

    def test_a_mention_of_the_person_behind_the_bot_counts(self):
        entity = {"type": "text_mention", "offset": 0, "length": 3, "user": {"id": 77}}
        assert said(sent.group("Bot whoami", entities=[entity])).to_us

    @pytest.mark.parametrize(
        ("text", "command", "named"),
        [
            ("/schedule list", "schedule", ()),
            ("/schedule@StandingBot list", "schedule", ("standingbot",)),
            ("/schedule@OtherBot list", "schedule", ("otherbot",)),
            ("/ schedule", None, ()),
            ("see /schedule", None, ()),
            ("/a/b", None, ()),
        ],
    )
    def test_commands(self, text: str, command: str | None, named: tuple[str, ...]):
        read = said(sent.group(text))
        assert (read.command, read.named) == (command, named)

    def test_a_topic_is_a_thread_and_a_chain_of_answers_is_none(self):
        in_topic = {"message_thread_id": 42, "is_topic_message": True}
        assert said(sent.group("x", chat=sent.FORUM, **in_topic)).topic == 42
        assert said(sent.group("x", message_thread_id=42)).topic == 0

    def test_a_forum_says_so(self):
        assert said(sent.group("x", chat=sent.FORUM)).forum
        assert not said(sent.group("x")).forum


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@StandingBot whoami", "whoami"),
        ("@standingbot: whoami", "whoami"),
        ("hey @STANDINGBOT whoami", "hey  whoami"),
        ("/schedule@StandingBot list", "schedule list"),
        ("/schedule list", "schedule list"),
        ("@StandingBotX whoami", "@StandingBotX whoami"),
        ("a.b@StandingBot.org", "a.b@StandingBot.org"),
        ("@StandingBot", ""),
    ],
)
def test_the_bots_mention_is_no_part_of_the_words(text: str, words: str) -> None:
    assert words_of(said(sent.group(text)), "StandingBot") == words


def test_a_group_that_became_a_supergroup() -> None:
    assert read_update(sent.group("", migrate_to_chat_id=-1009), BOT) == MovedTo(-1001, -1009)
    assert read_update(sent.group("", migrate_from_chat_id=-3), BOT) == MovedTo(-3, -1001)


@pytest.mark.parametrize(
    "changed",
    [
        {"from": {"id": 88, "is_bot": True, "first_name": "B"}},
        {"from": {"id": 77, "is_bot": True, "first_name": "me"}},
        {"from": None},
        {"from": {"id": "500"}},
        {"from": {"id": True, "is_bot": False}},
        {"from": {"id": -5, "is_bot": False}},
        {"from": {"id": 2**60, "is_bot": False}},
        {"sender_chat": {"id": -1001, "type": "supergroup"}},
        {"via_bot": {"id": 88, "is_bot": True}},
        {"forward_origin": {"type": "user", "sender_user": {"id": 9}}},
        {"forward_date": 1},
        {"text": None},
        {"text": 5},
        {"chat": None},
        {"chat": {"id": "x"}},
        {"chat": []},
    ],
)
def test_words_that_are_nobodys_own_are_ignored(changed: dict[str, Any]) -> None:
    update = sent.private("whoami")
    assert isinstance(read_update(update, BOT), Said)
    update["message"].update(changed)
    assert isinstance(read_update(update, BOT), Ignored)


@pytest.mark.parametrize("kind", ["edited_message", "channel_post", "callback_query", "poll"])
def test_what_is_no_new_message_is_ignored(kind: str) -> None:
    message = sent.private("whoami")["message"]
    assert isinstance(read_update(sent.update(message, kind=kind), BOT), Ignored)


@pytest.mark.parametrize(
    "update",
    [
        {},
        [],
        None,
        7,
        {"update_id": 1},
        {"update_id": "1", "message": {}},
        {"update_id": 1, "message": "x"},
        {"update_id": 1, "message": []},
        {"update_id": True, "message": sent.private("x")["message"]},
    ],
)
def test_an_update_of_another_shape_is_ignored(update: Any) -> None:
    assert isinstance(read_update(update, BOT), Ignored)


@pytest.mark.parametrize(
    "entities",
    [
        "x",
        [None],
        [{"type": "mention"}],
        [{"type": "mention", "offset": -5, "length": 3}],
        [{"type": "mention", "offset": 10**9, "length": 10**9}],
        [{"type": "mention", "offset": "0", "length": 1}],
        [{"type": "text_mention", "offset": 0, "length": 1, "user": None}],
    ],
)
def test_odd_entities_break_nothing(entities: Any) -> None:
    assert not said(sent.group("@a b", entities=entities)).to_us


def test_a_bot_without_a_token_is_answered_by_nobody() -> None:
    read = read_update(sent.group("x"), "")
    assert isinstance(read, Said)
    assert not read.to_us
