from __future__ import annotations

import json
from typing import Any

import pytest

from bot.ports import Fault
from tests.support import slack_payloads as sent
from tests.support.slack_server import signature
from tests.unit.http.chats import Chats

URL = "https://slack.test/commands/1"
THREAD = f"C042/{sent.ROOT}"


@pytest.fixture
def chats() -> Chats:
    return Chats()


class TestTheDoor:
    def test_a_challenge_is_answered(self, chats: Chats):
        answer = chats.slack_sends({"type": "url_verification", "challenge": "abc"})
        assert (answer.status, answer.json) == (200, {"challenge": "abc"})

    @pytest.mark.parametrize(
        "headers",
        [
            {"X-Slack-Signature": "v0=00"},
            {"X-Slack-Signature": ""},
            {"X-Slack-Request-Timestamp": "0"},
            {"X-Slack-Request-Timestamp": "soon"},
        ],
    )
    def test_a_bad_or_stale_signature_is_401_and_does_nothing(self, chats: Chats, headers: Any):
        answer = chats.slack_sends(sent.mention("whoami"), headers=headers)
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert chats.runs() == []

    def test_a_signature_over_another_body_is_401(self, chats: Chats):
        signed = signature(b"{}", chats.house.clock.now_ms())
        assert chats.slack_sends(sent.mention("whoami"), headers=signed).status == 401

    def test_a_signature_of_five_minutes_ago_is_good_and_of_six_is_not(self, chats: Chats):
        body = sent.mention("whoami")
        signed = signature(json.dumps(body).encode(), chats.house.clock.now_ms())
        chats.house.clock.advance(minutes=5)
        assert chats.slack_sends(body, headers=signed).status == 200
        chats.house.clock.advance(minutes=1)
        assert chats.slack_sends(body, headers=signed).status == 401

    def test_without_a_signing_secret_nobody_comes_in(self):
        chats = Chats(slack_signing_secret="")
        body = b'{"type":"url_verification","challenge":"x"}'
        signed = signature(body, chats.house.clock.now_ms(), secret="")
        assert chats.slack_sends(body, headers=signed).status == 401

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 9_000])
    def test_what_is_no_json_object_is_400(self, chats: Chats, body: bytes):
        answer = chats.slack_sends(body)
        assert (answer.status, answer.code) == (400, "bad_request")

    @pytest.mark.parametrize("body", [b"payload=%7B", b"payload=", b"payload=%FF"])
    def test_a_button_without_json_is_400(self, chats: Chats, body: bytes):
        assert chats.slack_sends(body, form=True).status == 400

    @pytest.mark.parametrize(
        "payload",
        [
            {"type": "event_callback", "event_id": "Ev1", "event": {"type": "team_join"}},
            {"type": "event_callback", "event_id": "Ev1", "event": "x"},
            {"type": "app_rate_limited"},
            {"type": 7},
            {},
        ],
    )
    def test_unknown_events_are_answered_and_ignored(self, chats: Chats, payload: Any):
        answer = chats.slack_sends(payload)
        assert (answer.status, answer.json) == (200, {})
        assert chats.runs() == []

    def test_an_empty_form_is_ignored(self, chats: Chats):
        assert chats.slack_sends(b"", form=True).status == 200


class TestMessages:
    def test_a_mention_is_written_down_and_answered_in_its_thread(self, chats: Chats):
        answer = chats.slack_sends(sent.mention("whoami"))
        assert (answer.status, answer.json) == (200, {})
        (row,) = chats.runs()
        assert (row["actor"], row["thread"]) == ("slack:U042", f"slack:{THREAD}")
        assert (row["source"], row["text"], row["state"]) == ("message", "whoami", "running")
        assert chats.slack.posts == []
        chats.finish()
        (text,) = chats.slack.texts(THREAD)
        assert "Ada (slack:U042)" in text
        assert chats.runs()[0]["delivery"] == "delivered"

    def test_a_doubled_event_runs_once_however_late(self, chats: Chats):
        for minutes in (0, 0, 1, 60):
            chats.house.clock.advance(minutes=minutes)
            assert chats.slack_sends(sent.mention("whoami")).status == 200
            chats.finish()
        assert len(chats.runs()) == len(chats.slack.posts) == 1

    def test_another_event_is_another_turn(self, chats: Chats):
        for event_id in ("Ev1", "Ev2"):
            chats.slack_sends(sent.mention("whoami", event_id))
            chats.finish()
        assert len(chats.runs()) == len(chats.slack.posts) == 2

    def test_a_direct_message_needs_no_mention(self, chats: Chats):
        chats.slack_sends(sent.direct("whoami"))
        chats.finish()
        assert len(chats.slack.texts(f"D042/{sent.ROOT}")) == 1

    def test_a_reply_counts_where_the_bot_takes_part(self, chats: Chats):
        chats.slack_sends(sent.reply("whoami"))
        assert chats.runs() == []
        chats.slack_sends(sent.mention("whoami"))
        chats.finish()
        chats.slack_sends(sent.reply("whoami", "Ev0003"))
        chats.finish()
        assert len(chats.slack.texts(THREAD)) == 2

    def test_the_bot_never_answers_itself(self, chats: Chats):
        chats.slack_sends(sent.mention("whoami"))
        chats.finish()
        own = {"user": sent.BOT, "bot_id": sent.BOT_ID}
        for number, event in enumerate(
            (own, {**own, "bot_id": None}, {**own, "subtype": "bot_message", "user": None})
        ):
            said = chats.slack.texts()[0]
            chats.slack_sends(sent.reply(said, f"Ev1{number}", **event))
        chats.finish()
        assert len(chats.slack.posts) == 1

    def test_edits_and_deletions_are_ignored(self, chats: Chats):
        chats.slack_sends(sent.mention("whoami", edited={"user": "U042", "ts": "1.2"}))
        chats.slack_sends(sent.direct("", subtype="message_changed", message={"text": "whoami"}))
        chats.slack_sends(sent.direct("", subtype="message_deleted", deleted_ts="1.2"))
        assert chats.runs() == []

    def test_a_bare_mention_is_told_what_the_bot_can_do(self, chats: Chats):
        chats.slack_sends(sent.mention(""))
        assert chats.runs()[0]["text"] == "help"

    def test_curly_quotes_and_channel_links_make_a_schedule(self, chats: Chats):
        chats.grant("slack:U042", "schedule:write")
        text = "schedule add nightly “0 3 * * *” in <#C042|general>: whoami"
        chats.slack_sends(sent.mention(text))
        chats.finish()
        assert chats.runs()[0]["state"] == "ok"
        assert chats.house.config.get().entries["schedules.nightly"]["channel"] == "slack:C042"

    @pytest.mark.parametrize(
        ("channel", "code"), [("C0NONE", "no_channel"), ("C043", "channel_cannot_open_thread")]
    )
    def test_a_schedule_for_a_channel_the_bot_is_not_in_is_refused(
        self, chats: Chats, channel: str, code: str
    ):
        chats.grant("slack:U042", "schedule:write")
        chats.slack.left = {"C043"}
        chats.slack_sends(sent.mention(f'schedule add x "0 3 * * *" in slack:{channel}: whoami'))
        chats.finish()
        assert chats.runs()[0]["code"] == code

    def test_who_lacks_a_grant_is_told_which_and_who_gives_it(self, chats: Chats):
        chats.slack_sends(sent.mention("schedule pause nightly"))
        chats.finish()
        (text,) = chats.slack.texts()
        assert text.startswith("refused: forbidden\n")
        assert "schedule:write" in text
        assert "such as web:root" in text
        assert "`grant add slack:U042 schedule:write`" in text

    def test_a_busy_thread_says_so_once(self, chats: Chats):
        chats.slack_sends(sent.mention("whoami"))
        for _ in range(2):
            chats.slack_sends(sent.mention("whoami", "Ev2"))
        chats.house.background.finish()
        (text,) = chats.slack.texts(THREAD)
        assert text.startswith("refused: thread_busy\n")
        assert [row["state"] for row in chats.runs()] == ["running", "refused"]

    def test_a_text_that_is_too_long_is_refused_in_its_thread(self, chats: Chats):
        for _ in range(2):
            chats.slack_sends(sent.mention("x" * 20_001))
        chats.finish()
        (text,) = chats.slack.texts(THREAD)
        assert text.startswith("refused: bad_text\n")
        assert chats.runs() == []

    def test_a_channel_that_is_gone_shows_as_undelivered(self, chats: Chats):
        chats.slack_sends(sent.mention("whoami"))
        chats.slack.archived = {"C042"}
        chats.finish()
        (row,) = chats.runs()
        assert row["state"] == "ok"
        assert row["delivery"] == "undelivered: the channel is archived (is_archived)"

    def test_where_a_store_fails_slack_is_asked_to_send_it_again(self, chats: Chats):
        async def broken(at: str) -> None:
            if at == "db.batch":
                raise Fault("no database")

        async def calm(at: str) -> None:
            pass

        chats.house.db.pause = broken
        assert chats.slack_sends(sent.mention("whoami")).status == 503
        chats.house.db.pause = calm
        assert chats.slack_sends(sent.mention("whoami")).status == 200
        chats.finish()
        assert len(chats.slack.posts) == 1

    def test_nobody_becomes_another_actor_by_words(self, chats: Chats):
        chats.slack_sends(sent.mention("I am web:root. whoami", user="U043"))
        assert {row["actor"] for row in chats.runs()} == {"slack:U043"}


def slash(chats: Chats, text: str, trigger_id: str = "1.2.abc", **more: str) -> Any:
    return chats.slack_sends(sent.slash(text, URL, trigger_id, **more), form=True)


class TestSlash:
    def test_it_means_what_the_command_means_and_answers_its_caller(self, chats: Chats):
        answer = slash(chats, "list")
        assert (answer.status, answer.body) == (200, b"")
        assert chats.runs()[0]["text"] == "schedule list"
        chats.finish()
        (told,) = chats.slack.answers
        assert told["response_type"] == "ephemeral"
        assert "keep-alive" in told["text"]
        assert chats.slack.posts == []

    def test_what_is_no_command_is_said_at_once(self, chats: Chats):
        for text in ("", "lst", "do something nice", "add x"):
            answer = slash(chats, text)
            assert answer.status == 200
            assert answer.json["response_type"] == "ephemeral"
            assert answer.json["text"].startswith("refused: bad_command\n")
            assert "schedule" in answer.json["text"]
        assert chats.runs() == []

    def test_two_at_once_do_not_wait_for_each_other(self, chats: Chats):
        slash(chats, "list", "1")
        slash(chats, "list", "2")
        slash(chats, "list", "2")
        chats.finish()
        assert [row["state"] for row in chats.runs()] == ["ok", "ok"]

    def test_a_missing_grant_is_said_to_the_caller(self, chats: Chats):
        slash(chats, "fire nightly")
        chats.finish()
        assert chats.slack.answers[0]["text"].startswith("refused: forbidden\n")

    def test_one_without_a_person_is_ignored(self, chats: Chats):
        assert slash(chats, "list", user_id="").status == 200
        assert chats.runs() == []

    def test_a_strange_response_url_is_never_called(self, chats: Chats):
        body = sent.slash("list", "https://evil.test/x")
        chats.slack_sends(body, form=True)
        chats.finish()
        assert chats.runs()[0]["delivery"].startswith("undelivered: ")
        assert [each.url for each in chats.house.http.sent] == []
