from __future__ import annotations

from typing import Any

import pytest

from bot.agent.telegram_tool import offer_link_code
from bot.ports import Fault
from tests.support import telegram_payloads as sent
from tests.support.drive import run
from tests.unit.http.chats import Chats


@pytest.fixture
def chats() -> Chats:
    return Chats()


def send(chats: Chats, *updates: Any) -> None:
    """Updates, each taken in and carried to its end."""
    for update in updates:
        answer = chats.telegram_sends(update)
        assert (answer.status, answer.json) == (200, {})
        chats.finish()


class TestTheDoor:
    @pytest.mark.parametrize("secret", ["", "wrong", "telegram-webhook-secre", "é"])
    def test_a_wrong_secret_is_401_and_does_nothing(self, chats: Chats, secret: str):
        answer = chats.telegram_sends(sent.private("whoami"), secret)
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert chats.runs() == []

    def test_without_a_secret_nobody_comes_in(self):
        chats = Chats(telegram_webhook_secret="")
        assert chats.telegram_sends(sent.private("whoami"), "").status == 401

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 9_000])
    def test_what_is_no_json_object_is_400(self, chats: Chats, body: bytes):
        answer = chats.telegram_sends(body)
        assert (answer.status, answer.code) == (400, "bad_request")

    @pytest.mark.parametrize(
        "update", [{}, {"update_id": 1}, {"update_id": 1, "message": 5}, {"update_id": 1, "x": {}}]
    )
    def test_unknown_updates_are_answered_and_ignored(self, chats: Chats, update: Any):
        send(chats, update)
        assert chats.runs() == []


class TestPrivate:
    def test_a_message_is_written_down_and_answered(self, chats: Chats):
        assert chats.telegram_sends(sent.private("whoami")).status == 200
        (row,) = chats.runs()
        assert (row["actor"], row["thread"]) == ("telegram:500", "telegram:500/0")
        assert (row["source"], row["state"]) == ("message", "running")
        assert chats.telegram.messages == []
        chats.finish()
        (text,) = chats.telegram.texts("500")
        assert text.startswith("telegram:500\n")
        assert chats.runs()[0]["delivery"] == "delivered"

    def test_a_doubled_update_runs_once_however_late(self, chats: Chats):
        for minutes in (0, 0, 1, 60):
            chats.house.clock.advance(minutes=minutes)
            send(chats, sent.private("whoami", 9))
        assert len(chats.runs()) == len(chats.telegram.messages) == 1
        send(chats, sent.private("whoami", 10))
        assert len(chats.runs()) == 2

    def test_a_slash_command_is_the_command(self, chats: Chats):
        send(chats, sent.private("/schedule list"))
        assert chats.runs()[0]["text"] == "schedule list"
        assert chats.runs()[0]["state"] == "ok"

    def test_edits_bots_and_forwarded_words_are_ignored(self, chats: Chats):
        message = sent.private("whoami")["message"]
        for number, update in enumerate(
            (
                sent.update(message, kind="edited_message"),
                sent.update({**message, "from": {"id": 88, "is_bot": True}}),
                sent.update({**message, "from": {"id": 77, "is_bot": True}}),
                sent.update({**message, "forward_origin": {"type": "hidden_user"}}),
                sent.update({**message, "via_bot": {"id": 88, "is_bot": True}}),
            )
        ):
            send(chats, {**update, "update_id": number})
        assert chats.runs() == []

    def test_who_lacks_a_grant_is_told_which_and_who_gives_it(self, chats: Chats):
        send(chats, sent.private("schedule fire nightly"))
        (text,) = chats.telegram.texts("500")
        assert text.startswith("refused: forbidden\n")
        assert "such as web:root" in text
        assert "grant add telegram:500 schedule:fire" in text

    def test_a_busy_chat_says_so_once(self, chats: Chats):
        chats.telegram_sends(sent.private("whoami", 1))
        for _ in range(2):
            chats.telegram_sends(sent.private("whoami", 2))
        chats.house.background.finish()
        (text,) = chats.telegram.texts("500")
        assert text.startswith("refused: thread_busy\n")

    def test_who_blocked_the_bot_shows_as_undelivered(self, chats: Chats):
        chats.telegram.blocked = {"500"}
        send(chats, sent.private("whoami"))
        (row,) = chats.runs()
        assert (row["state"], row["delivery"][:12]) == ("ok", "undelivered:")

    def test_where_a_store_fails_telegram_is_asked_to_send_it_again(self, chats: Chats):
        async def broken(at: str) -> None:
            if at == "db.batch":
                raise Fault("no database")

        async def calm(at: str) -> None:
            pass

        chats.house.db.pause = broken
        assert chats.telegram_sends(sent.private("whoami")).status == 503
        chats.house.db.pause = calm
        send(chats, sent.private("whoami"))
        assert len(chats.telegram.messages) == 1


class TestGroups:
    def test_a_mention_is_answered_in_the_group(self, chats: Chats):
        send(chats, sent.group("@StandingBot whoami"))
        (row,) = chats.runs()
        assert (row["actor"], row["thread"]) == ("telegram:500", "telegram:-1001/0")
        assert row["text"] == "whoami"
        assert len(chats.telegram.texts("-1001")) == 1

    @pytest.mark.parametrize(
        "text", ["lunch?", "@other whoami", "/other x", "/schedule@other list"]
    )
    def test_talk_and_other_bots_commands_are_ignored(self, chats: Chats, text: str):
        send(chats, sent.group(text))
        assert chats.runs() == []

    @pytest.mark.parametrize("text", ["/schedule list", "/schedule@StandingBot list"])
    def test_its_commands_need_no_mention(self, chats: Chats, text: str):
        send(chats, sent.group(text))
        assert chats.runs()[0]["text"] == "schedule list"

    def test_an_answer_to_the_bot_is_for_it(self, chats: Chats):
        send(chats, sent.group("whoami", 1, **sent.answering(501)))
        assert chats.runs() == []
        send(chats, sent.group("whoami", 2, **sent.answering(77)))
        assert len(chats.runs()) == 1

    def test_a_topic_is_a_thread(self, chats: Chats):
        in_topic = {"message_thread_id": 42, "is_topic_message": True}
        send(chats, sent.group("@StandingBot whoami", chat=sent.FORUM, **in_topic))
        assert chats.runs()[0]["thread"] == "telegram:-1002/42"
        assert chats.telegram.messages[0]["message_thread_id"] == 42

    def test_two_topics_are_busy_apart(self, chats: Chats):
        for number in (1, 2):
            topic = {"message_thread_id": 40 + number, "is_topic_message": True}
            chats.telegram_sends(sent.group("/whoami", number, chat=sent.FORUM, **topic))
        chats.finish()
        assert [row["state"] for row in chats.runs()] == ["ok", "ok"]

    def test_a_group_is_a_channel_and_never_an_actor(self, chats: Chats):
        anonymous = {"id": 1087968824, "is_bot": True, "username": "GroupAnonymousBot"}
        update = sent.group("@StandingBot whoami")
        update["message"] |= {"from": anonymous, "sender_chat": {"id": sent.GROUP}}
        send(chats, update)
        assert chats.runs() == []

    def test_a_bare_mention_is_told_what_the_bot_can_do(self, chats: Chats):
        send(chats, sent.group("@StandingBot"))
        assert chats.runs()[0]["text"] == "help"

    def test_a_schedule_is_taken_by_a_forum_alone(self, chats: Chats):
        chats.grant("telegram:500", "schedule:write")
        chats.telegram.forums = {"-1002"}
        for number, (name, chat) in enumerate((("a", -1002), ("b", -1001), ("c", 500))):
            text = f"/schedule add {name} “0 3 * * *” in telegram:{chat}: whoami"
            send(chats, sent.private(text, number))
        assert [row["code"] for row in chats.runs()] == [
            None,
            "channel_cannot_open_thread",
            "channel_cannot_open_thread",
        ]

    def test_a_group_that_moved_is_followed(self, chats: Chats):
        chats.telegram_sends(sent.group("/whoami", 1, chat=sent.PLAIN_GROUP))
        send(chats, sent.group("", 2, chat=sent.PLAIN_GROUP, migrate_to_chat_id=-1003))
        assert len(chats.telegram.texts("-1003")) == 1
        assert chats.telegram.texts("-3") == []

    def test_a_name_that_cannot_be_asked_leaves_the_update_to_come_again(self, chats: Chats):
        chats.telegram.wait_s = 5
        assert chats.telegram_sends(sent.group("@StandingBot whoami")).status == 503
        chats.telegram.wait_s = None
        send(chats, sent.group("@StandingBot whoami"))
        assert len(chats.telegram.texts("-1001")) == 1


class TestMembers:
    """Where ``TELEGRAM_MEMBERS`` is set."""

    ASKED = ("run list", "schedule list", "hello", "job add x every 2h: y", "confirm ABCDEFGH")

    @pytest.fixture
    def chats(self) -> Chats:
        return Chats(telegram_members=frozenset({"501", "-1001"}))

    def said(self, chats: Chats, user: int, text: str, **where: Any) -> list[str]:
        """The states of the runs that came of it; refusals at the door make none."""
        before = len(chats.runs())
        number = len(chats.telegram.messages) + 10 * before + 1
        make = sent.group if where else sent.private
        send(chats, make(text, number, user=user, **where))
        return [row["state"] for row in chats.runs()[before:]]

    @pytest.mark.parametrize("text", [*ASKED, "/start", "help nonsense", "whoami now"])
    def test_a_stranger_starts_nothing_that_needs_the_floor(self, chats: Chats, text: str):
        self.said(chats, sent.ADA, text)
        assert all(row["grants"] == "[]" for row in chats.runs())

    @pytest.mark.parametrize("text", ASKED)
    def test_a_stranger_is_told_how_to_be_let_in_and_no_run_is_made(self, chats: Chats, text: str):
        assert self.said(chats, sent.ADA, text) == []
        (told,) = chats.telegram.texts("500")
        assert told.startswith("refused: forbidden\nThis bot answers its own people")
        assert "telegram:500 is not one of them" in told

    @pytest.mark.parametrize("text", ["help", "/help", "help schedule add", "whoami", "/start"])
    def test_a_stranger_finds_out_who_they_are(self, chats: Chats, text: str):
        assert self.said(chats, sent.ADA, text) == ["ok"]
        assert chats.runs()[0]["grants"] == "[]"
        assert len(chats.telegram.texts("500")) == 1

    def test_a_member_is_a_person_as_ever(self, chats: Chats):
        assert self.said(chats, sent.GRACE, "schedule list") == ["ok"]

    def test_in_a_members_group_everybody_is_a_person_and_elsewhere_they_are_not(
        self, chats: Chats
    ):
        assert self.said(chats, sent.ADA, "/schedule list", chat=sent.GROUP) == ["ok"]
        assert self.said(chats, sent.ADA, "/schedule list", chat=sent.FORUM) == []
        assert self.said(chats, sent.ADA, "/schedule list") == []

    def test_a_group_that_became_a_supergroup_is_the_same_group(self, chats: Chats):
        send(chats, sent.group("", 900, chat=sent.GROUP, migrate_to_chat_id=sent.FORUM))
        assert self.said(chats, sent.ADA, "/schedule list", chat=sent.FORUM) == ["ok"]

    def test_who_holds_a_grant_is_let_in(self, chats: Chats):
        chats.grant("telegram:500", "run:read")
        assert self.said(chats, sent.ADA, "schedule list") == ["ok"]

    def test_who_links_their_chat_is_let_in_from_then_on(self, chats: Chats):
        code = run(offer_link_code(chats.house, "web:alice", chats.house.clock.now_ms()))
        assert self.said(chats, sent.ADA, f"/start {code}") == []
        assert "linked to web:alice" in chats.telegram.texts("500")[0]
        assert self.said(chats, sent.ADA, "schedule list") == ["ok"]

    def test_a_row_that_only_notes_that_they_blocked_the_bot_is_no_link(self, chats: Chats):
        chats.house.db.sql(
            "INSERT INTO identity_links (owner, surface, subject, linked_at, paused_reason)"
            " VALUES ('telegram:500', 'telegram', '500', 1, 'blocked')"
        )
        assert self.said(chats, sent.ADA, "schedule list") == []


class TestLinking:
    def code(self, chats: Chats) -> str:
        now_ms = chats.house.clock.now_ms()
        return run(offer_link_code(chats.house, "web:alice", now_ms))

    def links(self, chats: Chats) -> list[dict[str, Any]]:
        return chats.house.db.sql("SELECT owner, surface, subject FROM identity_links")

    def test_start_with_a_code_links_the_chat(self, chats: Chats):
        send(chats, sent.private(f"/start {self.code(chats)}"))
        assert self.links(chats) == [
            {"owner": "web:alice", "surface": "telegram", "subject": "500"}
        ]
        (text,) = chats.telegram.texts("500")
        assert "linked to web:alice" in text
        assert chats.runs() == []

    def test_the_same_update_twice_says_it_once(self, chats: Chats):
        update = sent.private(f"/start {self.code(chats)}")
        send(chats, update, update)
        assert len(chats.telegram.texts("500")) == 1

    def test_a_code_works_once(self, chats: Chats):
        code = self.code(chats)
        send(chats, sent.private(f"/start {code}", 1))
        send(chats, sent.private(f"/start {code}", 2, user=sent.GRACE))
        assert chats.telegram.texts("501")[0].startswith("refused: bad_code\n")
        assert len(self.links(chats)) == 1

    def test_a_code_of_other_letters_is_none(self, chats: Chats):
        code = self.code(chats)
        send(chats, sent.private(f"/start {code[:-1]}\u017f", 1))
        assert self.links(chats) == []

    def test_a_code_said_in_a_group_is_void(self, chats: Chats):
        code = self.code(chats)
        send(chats, sent.group(f"/start@StandingBot {code}", 1))
        send(chats, sent.private(f"/start {code}", 2))
        assert self.links(chats) == []

    @pytest.mark.parametrize("text", ["/start", "/start hello there"])
    def test_start_without_a_code_is_told_what_the_bot_can_do(self, chats: Chats, text: str):
        send(chats, sent.private(text))
        assert chats.runs()[0]["text"] == "help"

    def test_who_writes_again_gets_pushes_again(self, chats: Chats):
        chats.house.db.sql(
            "INSERT INTO identity_links (owner, surface, subject, linked_at, paused_reason)"
            " VALUES ('web:alice', 'telegram', '500', 1, 'blocked')"
        )
        send(chats, sent.private("whoami"))
        paused = chats.house.db.sql("SELECT paused_reason FROM identity_links")
        assert paused == [{"paused_reason": None}]
