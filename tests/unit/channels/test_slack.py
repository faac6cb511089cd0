from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.slack import MAX_MESSAGE, SlackChannel
from bot.channels.slack_replies import LIFETIME_MS, keep_url, reply_thread
from bot.ports import Fault, NotOpened, Opened, Posted, Settings
from bot.schedules.firing import run_id_of
from bot.words import Delivery
from tests.support.drive import run
from tests.support.slack_server import TOKEN, Slack
from tests.support.sql import MemoryDatabase
from tests.support.stores import MemoryConfig
from tests.support.world import ScriptedHttp
from tests.unit.builders import entry, ms

NOW = ms("2026-09-02T04:00:00+00:00")
THREAD = "slack:C042/1.2"
SETTINGS = Settings(slack_bot_token=TOKEN, slack_api_url="https://slack.test/api")


class Desk:
    """The surface over a Slack in memory."""

    def __init__(self, settings: Settings = SETTINGS):
        self.slack = Slack()
        self.db, self.config, self.http = MemoryDatabase(), MemoryConfig(), ScriptedHttp()
        self.http.otherwise = self.slack.reply
        self.channel = SlackChannel(self.db, self.config, self.http, settings)

    def post(self, text: str, thread: str = THREAD, key: str = "k") -> Posted:
        return run(self.channel.post(thread, text, key=key, now_ms=NOW))

    def open(self, channel: str = "slack:C042", key: str = "k") -> Opened | NotOpened:
        return run(self.channel.open_thread(channel, "nightly · due now", key=key, now_ms=NOW))

    def buttons(self) -> list[dict[str, Any]]:
        """The buttons under the last post."""
        attachments = self.slack.posts[-1].get("attachments", [])
        return [element for each in attachments for element in each["blocks"][0]["elements"]]


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestChannels:
    @pytest.mark.parametrize("channel", ["slack:C042", "slack:G0ABC", "slack:D9"])
    def test_a_channel_is_known_by_its_shape(self, desk: Desk, channel: str):
        assert desk.channel.exists(channel)
        assert desk.http.sent == []

    @pytest.mark.parametrize(
        "channel",
        [
            *("slack:", "slack:general", "slack:U042", "slack:C042/1.2", "slack:c042", "web:C042"),
            *("slack:C" + "0" * 40, "slack:C042 ", ""),
        ],
    )
    def test_anything_else_is_none(self, desk: Desk, channel: str):
        assert not desk.channel.exists(channel)

    def test_without_a_token_there_is_none(self):
        desk = Desk(Settings())
        assert not desk.channel.exists("slack:C042")
        assert isinstance(run(desk.channel.can_open_threads("slack:C042")), NotOpened)
        assert desk.http.sent == []

    def test_a_channel_where_the_bot_is_opens_threads(self, desk: Desk):
        assert run(desk.channel.can_open_threads("slack:C042")) is None
        assert run(desk.channel.can_open_threads("slack:D042")) is None

    def test_what_slack_does_not_know_is_gone(self, desk: Desk):
        closed = run(desk.channel.can_open_threads("slack:C0NONE"))
        assert closed is not None
        assert closed.gone

    def test_an_archived_one_is_gone_and_one_the_bot_left_is_not(self, desk: Desk):
        desk.slack.archived, desk.slack.left = {"C042"}, {"C043"}
        archived = run(desk.channel.can_open_threads("slack:C042"))
        left = run(desk.channel.can_open_threads("slack:C043"))
        assert archived is not None and left is not None
        assert (archived.gone, left.gone) == (True, False)
        assert "/invite" in left.reason

    @pytest.mark.parametrize("wait_s", [None, 9])
    def test_where_slack_does_not_say_it_is_taken_to_be_there(self, desk: Desk, wait_s: int | None):
        desk.slack.wait_s = wait_s
        if wait_s is None:
            desk.http.replies = [Fault("silence")]
        assert run(desk.channel.can_open_threads("slack:C042")) is None


class TestOpening:
    def test_a_thread_is_the_message_that_begins_it(self, desk: Desk):
        assert desk.open() == Opened("slack:C042/1770000000.000001")
        (post,) = desk.slack.posts
        assert (post["text"], post.get("thread_ts")) == ("nightly · due now", None)

    def test_the_same_key_opens_the_same_thread(self, desk: Desk):
        assert desk.open() == desk.open()
        assert desk.open(key="other") != desk.open()
        assert len(desk.slack.posts) == 2

    @pytest.mark.parametrize(
        ("fault", "gone"), [("channel_not_found", True), ("is_archived", True), ("no_perm", False)]
    )
    def test_a_channel_that_takes_nothing_opens_none(self, desk: Desk, fault: str, gone: bool):
        desk.slack.failing = fault
        opened = desk.open()
        assert isinstance(opened, NotOpened)
        assert (opened.gone, fault in opened.reason) == (gone, True)

    def test_a_rate_limit_is_passed_on(self, desk: Desk):
        desk.slack.wait_s = 7
        opened = desk.open()
        assert isinstance(opened, NotOpened)
        assert (opened.wait_s, opened.gone) == (7, False)
        desk.slack.wait_s = None
        assert isinstance(desk.open(), Opened)

    def test_silence_is_a_fault_so_that_the_step_tries_again(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        with pytest.raises(Fault):
            desk.open()
        assert isinstance(desk.open(), Opened)


class TestPosting:
    def test_a_post_goes_into_its_thread_and_fetches_nothing(self, desk: Desk):
        assert desk.post("a <b> & **c**") == Posted(Delivery.DELIVERED)
        (post,) = desk.slack.posts
        assert post == {
            "channel": "C042",
            "thread_ts": "1.2",
            "text": "a &lt;b&gt; &amp; *c*",
            "mrkdwn": True,
            "parse": "none",
            "link_names": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }

    def test_the_same_key_posts_once(self, desk: Desk):
        assert desk.post("x") == desk.post("x") == Posted(Delivery.DELIVERED)
        assert len(desk.slack.posts) == 1

    def test_a_long_text_takes_several_messages(self, desk: Desk):
        desk.post("word " * 5_000)
        texts = desk.slack.texts("C042/1.2")
        assert len(texts) == 4
        assert max(map(len, texts)) <= MAX_MESSAGE

    def test_an_escaped_text_stays_within_slacks_limit(self, desk: Desk):
        assert desk.post("&" * 12_000) == Posted(Delivery.DELIVERED)

    @pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
    def test_an_empty_text_is_still_a_message(self, desk: Desk, text: str):
        assert desk.post(text) == Posted(Delivery.DELIVERED)

    def test_ok_false_is_undelivered_with_its_reason(self, desk: Desk):
        desk.slack.failing = "is_archived"
        assert str(desk.post("x")) == "undelivered: the channel is archived (is_archived)"

    def test_a_rate_limit_asks_to_come_again_and_then_goes_on(self, desk: Desk):
        desk.slack.wait_s = 7
        posted = desk.post("x")
        assert (posted.delivery, posted.wait_s) == (Delivery.UNDELIVERED, 7)
        desk.slack.wait_s = None
        assert desk.post("x") == Posted(Delivery.DELIVERED)
        assert len(desk.slack.posts) == 1

    def test_a_lost_answer_is_unknown_and_not_repeated(self, desk: Desk):
        desk.http.replies = [Fault("silence")]
        assert desk.post("x") == desk.post("x") == Posted(Delivery.UNKNOWN)
        assert desk.slack.posts == []

    @pytest.mark.parametrize(
        "thread", ["slack:C042", "slack:C042/", "slack:C042/x", "slack:U1/1.2", "web:C042/1.2"]
    )
    def test_what_is_no_thread_takes_nothing(self, desk: Desk, thread: str):
        assert desk.post("x", thread).delivery is Delivery.UNDELIVERED
        assert desk.http.sent == []

    def test_without_a_token_it_is_undelivered(self):
        assert str(Desk(Settings()).post("x")) == "undelivered: this bot has no Slack token"


class TestSlashReplies:
    URL = "https://slack.test/commands/1"
    THREAD = reply_thread("slack:C042", "abc")

    def test_a_slash_command_is_answered_to_its_caller_alone(self, desk: Desk):
        run(keep_url(desk.db, self.THREAD, self.URL, NOW))
        assert desk.post("<done>", self.THREAD) == Posted(Delivery.DELIVERED)
        assert desk.slack.posts == []
        (answer,) = desk.slack.answers
        assert (answer["response_type"], answer["text"]) == ("ephemeral", "&lt;done&gt;")

    def test_after_half_an_hour_it_is_undelivered(self, desk: Desk):
        run(keep_url(desk.db, self.THREAD, self.URL, NOW - LIFETIME_MS))
        assert desk.post("x", self.THREAD).delivery is Delivery.UNDELIVERED

    def test_an_address_that_is_not_slacks_is_never_called(self, desk: Desk):
        run(keep_url(desk.db, self.THREAD, "https://evil.test/x", NOW))
        assert desk.post("x", self.THREAD).delivery is Delivery.UNDELIVERED
        assert desk.http.sent == []

    def test_the_first_address_of_a_thread_stands_and_old_ones_go(self, desk: Desk):
        run(keep_url(desk.db, self.THREAD, self.URL, NOW))
        run(keep_url(desk.db, self.THREAD, "https://slack.test/other", NOW))
        rows = "SELECT url FROM slack_replies"
        assert desk.db.sql(rows) == [{"url": self.URL}]
        run(keep_url(desk.db, "slack:C042/rlater", self.URL, NOW + LIFETIME_MS))
        assert len(desk.db.sql(rows)) == 1


def handed_back(desk: Desk, code: str = "ABCDEFGH", command: str = "config set zone Asia/Tokyo"):
    desk.db.sql(
        "INSERT INTO handbacks (code, actor, command, made_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        *(code, "slack:U042", command, NOW, NOW + 600_000),
    )
    return f"Nothing was written yet.\nAnswer confirm {code} within ten minutes to run it."


def claimed(desk: Desk, name: str = "nightly", **values: Any) -> str:
    """Store a row whose claim never started; the run id that its minute has."""
    due = ms("2026-09-02T03:00:00+00:00")
    row = entry(name, last_due_at=due, last_fired_at=due, last_claimed_at=due, **values)
    desk.config.put({f"schedules.{name}": row})
    return run_id_of(row["id"], due)


class TestButtons:
    def test_a_hand_back_bears_a_button_that_says_what_it_runs(self, desk: Desk):
        desk.post(handed_back(desk))
        (button,) = desk.buttons()
        assert (button["text"]["text"], button["value"]) == ("Confirm", "ABCDEFGH")
        assert "config set zone Asia/Tokyo" in button["confirm"]["text"]["text"]

    def test_nothing_hides_in_the_question(self, desk: Desk):
        desk.post(handed_back(desk, command="config set zone \u202eoykoT\U000e0041 @here"))
        (button,) = desk.buttons()
        question = button["confirm"]["text"]["text"]
        assert r"config set zone \u{202E}oykoT\u{E0041} @" in question
        assert "@here" not in question

    def test_a_long_command_is_cut_in_the_question(self, desk: Desk):
        desk.post(handed_back(desk, command="x" * 4_000))
        assert len(desk.buttons()[0]["confirm"]["text"]["text"]) <= 300

    @pytest.mark.parametrize("changed", ["used_at = 1", f"expires_at = {NOW}", "code = 'ZZZZZZZZ'"])
    def test_a_code_that_does_not_stand_bears_none(self, desk: Desk, changed: str):
        text = handed_back(desk)
        desk.db.sql(f"UPDATE handbacks SET {changed}")
        desk.post(text)
        assert desk.buttons() == []

    @pytest.mark.parametrize(
        "text",
        [
            "nightly · every day at 03:00 · last 2026-09-02 → claimed_not_started",
            "It was claimed and never ran. schedule fire nightly runs that minute, once.",
        ],
    )
    def test_a_firing_that_never_started_bears_a_button(self, desk: Desk, text: str):
        key = claimed(desk)
        desk.post(text)
        (button,) = desk.buttons()
        assert (button["text"]["text"], button["value"]) == ("Fire nightly", f"nightly {key}")
        assert "2026-09-02T03:00:00+00:00" in button["confirm"]["text"]["text"]

    @pytest.mark.parametrize("text", ["schedule fire nightly", "schedule fire other"])
    def test_a_row_that_missed_nothing_bears_none(self, desk: Desk, text: str):
        desk.config.put({"schedules.nightly": entry()})
        desk.post(text)
        assert desk.buttons() == []

    def test_a_text_without_any_asks_no_store(self, desk: Desk):
        async def closed(at: str) -> None:
            assert at.startswith("db.")

        desk.config.pause = closed
        assert desk.post("all is well") == Posted(Delivery.DELIVERED)

    def test_no_post_bears_more_than_five_each_with_an_id_of_its_own(self, desk: Desk):
        names = [f"job-{n}" for n in range(9)]
        for name in names:
            claimed(desk, name)
        desk.post("\n".join(f"{name} · daily · claimed_not_started" for name in names))
        buttons = desk.buttons()
        assert len({button["action_id"] for button in buttons}) == len(buttons) == 5

    def test_where_a_store_fails_the_text_stands_alone(self, desk: Desk):
        text = handed_back(desk)
        desk.db.sql("DROP TABLE handbacks")
        assert desk.post(text) == Posted(Delivery.DELIVERED)
        assert desk.buttons() == []

    def test_the_last_of_several_messages_bears_them(self, desk: Desk):
        desk.post("word " * 3_000 + handed_back(desk))
        assert [bool(post.get("attachments")) for post in desk.slack.posts] == [False, False, True]


class TestNames:
    def test_people_and_public_channels_are_named_before_their_ids(self, desk: Desk):
        desk.post("by slack:U042 in slack:C042 and slack:C043")
        assert desk.slack.texts() == ["by Ada (slack:U042) in #general (slack:C042) and slack:C043"]

    def test_code_stays_to_be_pasted(self, desk: Desk):
        desk.post("`slack:U042`\n```\ngrant add slack:U042 all\n```")
        assert "Ada" not in desk.slack.texts()[0]

    def test_a_threads_key_stays(self, desk: Desk):
        desk.post("thread slack:C042/17.5")
        assert desk.slack.texts() == ["thread slack:C042/17.5"]

    def test_a_name_is_looked_up_once_a_day(self, desk: Desk):
        for number in range(3):
            desk.post("slack:U042", key=f"k{number}")
        assert desk.slack.calls.count("users.info") == 1
        later = NOW + 25 * 3_600_000
        run(desk.channel.post(THREAD, "slack:U042", key="later", now_ms=later))
        assert desk.slack.calls.count("users.info") == 2

    def test_a_name_cannot_shout_or_be_markup(self, desk: Desk):
        desk.slack.people["U042"] = "<!channel> @here\n*x*"
        desk.post("slack:U042")
        (text,) = desk.slack.texts()
        assert text == "&lt;\u200b!channel&gt; @\u200bhere *x* (slack:U042)"

    def test_strangers_stay_ids_and_cost_a_bounded_number_of_calls(self, desk: Desk):
        text = " ".join(f"slack:U9{n:03d}" for n in range(50))
        desk.post(text)
        assert desk.slack.texts() == [text]
        assert desk.slack.calls.count("users.info") == 5

    @pytest.mark.parametrize("fault", ["silence", "store"])
    def test_where_names_cannot_be_had_the_post_goes_out_all_the_same(self, desk: Desk, fault: str):
        if fault == "silence":
            desk.http.replies = [Fault("silence")]
        else:
            desk.db.sql("DROP TABLE chat_names")
        assert desk.post("slack:U042") == Posted(Delivery.DELIVERED)
        assert desk.slack.texts() == ["slack:U042"]


def test_a_message_is_json_that_slack_takes(desk: Desk) -> None:
    desk.post("é 🎉 \u202e \x00")
    body = json.loads(desk.http.sent[0].body or "")
    assert body["text"] == "é 🎉 \ufffd \ufffd"
