from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bot import events, pushes
from bot.channels import web
from bot.channels.base import shown
from bot.events import Event, EventKind
from bot.ports import Fault, HttpReply
from bot.pushes import GIVE_UP_MS
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.world import MemoryChannel

ALICE = "web:alice"
OK = HttpReply(200, {}, json.dumps({"ok": True, "result": {"message_id": 1}}))
BLOCKED = HttpReply(403, {}, json.dumps({"ok": False, "description": "bot was blocked"}))


def slow(seconds: int) -> HttpReply:
    body = {"ok": False, "description": "slow", "parameters": {"retry_after": seconds}}
    return HttpReply(429, {}, json.dumps(body))


class Post:
    """A house in which events are told and pushed."""

    def __init__(self, *replies: Any):
        self.house: TestHouse = make_house(
            settings={"telegram_bot_token": "t"},
            channels={"web": MemoryChannel(), "slack": MemoryChannel("slack", ["C1"])},
        )
        self.house.http.replies.extend(replies)

    def link(self, owner: str = ALICE, chat: str = "77") -> None:
        self.house.db.sql(
            "INSERT INTO identity_links (owner, surface, subject, linked_at)"
            " VALUES (?, 'telegram', ?, 0)",
            owner,
            chat,
        )

    def tell(self, key: str = "k1", owner: str = ALICE, thread: str | None = None) -> None:
        at = self.house.clock.now_ms()
        event = Event(key, owner, EventKind.JOB_RESULT, f"✅ {key}", at, thread)
        run(self.house.db.batch([events.adding([(event, {})])]))

    def push(self, key: str = "k1") -> str | None:
        return run(pushes.push(self.house, key))

    def flush(self) -> int:
        return run(pushes.flush(self.house))

    def state(self, key: str = "k1") -> tuple[str | None, int | None]:
        (row,) = self.house.db.sql("SELECT push, push_at FROM events WHERE key = ?", key)
        return row["push"], row["push_at"]

    @property
    def chats(self) -> list[tuple[str, str]]:
        """What went to Telegram, as chat and text."""
        bodies = [json.loads(sent.body or "") for sent in self.house.http.sent]
        return [(body["chat_id"], body["text"]) for body in bodies]

    def own_thread(self) -> list[str]:
        found = self.house.db.sql("SELECT text FROM messages WHERE thread = 'web:@alice/jobs'")
        return [row["text"] for row in found]


class TestWhere:
    def test_the_linked_chat_comes_before_any_thread(self):
        post = Post(OK)
        post.link()
        post.tell(thread="web:general/t1")
        assert post.push() == "delivered"
        assert post.chats == [("77", "✅ k1")]
        assert post.house.web.posts == []

    def test_else_the_thread_that_the_job_was_made_in(self):
        post = Post()
        post.tell(thread="web:general/t1")
        assert post.push() == "delivered"
        assert post.house.web.texts("web:general/t1") == ["✅ k1"]
        assert post.house.http.sent == []

    def test_else_the_owners_own_thread(self):
        post = Post()
        post.tell()
        post.tell("k2")
        assert (post.push(), post.push("k2")) == ("delivered", "delivered")
        assert post.own_thread() == ["Your jobs, alice", "✅ k1", "✅ k2"]

    def test_where_the_threads_channel_is_gone_it_is_the_owners_own_thread(self):
        post = Post()
        post.house.web.gone.add("general")
        post.tell(thread="web:general/t1")
        assert post.push() == "delivered"
        assert post.own_thread()[-1] == "✅ k1"

    def test_a_telegram_person_is_their_own_chat(self):
        post = Post(OK)
        post.tell(owner="telegram:88")
        assert post.push() == "delivered"
        assert post.chats == [("88", "✅ k1")]

    def test_what_is_posted_cannot_call_a_whole_channel(self):
        post = Post()
        post.tell("@channel <!here> look", thread="slack:C1/t1")
        post.tell("@everyone look")
        post.push("@channel <!here> look")
        post.push("@everyone look")
        for text in (*post.house.channels["slack"].texts(), *post.own_thread()[1:]):
            assert "look" in text
            assert not re.search("@(channel|everyone)|<!", text)

    @pytest.mark.parametrize("owner", [ALICE, "telegram:88"])
    def test_what_is_pushed_is_as_harmless_as_what_a_turn_posts(self, owner: str):
        text = "@everyone see \u202etxt.exe\u2066 \x07 end"
        post = Post(OK)
        post.tell(text, owner=owner)
        assert post.push(text) == "delivered"
        told = post.own_thread()[-1:] + [each for _, each in post.chats]
        assert told == [shown(f"✅ {text}")]
        assert "\u202e" not in told[0]

    def test_a_slack_person_is_told_in_the_thread_and_has_no_other(self):
        post = Post()
        post.tell(owner="slack:U1", thread="slack:C1/t1")
        assert post.push() == "delivered"
        assert post.house.channels["slack"].texts() == ["✅ k1"]
        post.tell("k2", owner="slack:U1")
        assert post.push("k2") == ("undelivered: there is no thread to push to; see link telegram")

    def test_another_persons_chat_is_never_taken(self):
        post = Post()
        post.link("web:bob", "66")
        post.tell()
        post.push()
        assert post.chats == []

    def test_an_owner_that_is_no_actor_is_told_nowhere(self):
        post = Post()
        post.tell(owner="nobody")
        assert post.push() == "undelivered: its owner is no actor"


class TestOnce:
    def test_a_push_is_made_once_whoever_asks(self):
        post = Post(OK)
        post.link()
        post.tell()
        assert post.push() == "delivered"
        assert post.push() is None
        assert post.flush() == 0
        assert len(post.chats) == 1

    def test_of_the_run_and_a_tick_at_once_one_pushes(self):
        post = Post(OK)
        post.link()
        post.tell()

        async def pause(point: str) -> None:
            post.house.http.pause = no_pause
            assert await pushes.flush(post.house) == 0

        async def no_pause(point: str) -> None:
            pass

        post.house.http.pause = pause
        assert post.push() == "delivered"
        assert len(post.chats) == 1

    def test_of_two_that_both_saw_it_waiting_one_pushes(self):
        post = Post(OK, OK)
        post.link()
        post.tell()
        asked = 0

        async def pause(point: str) -> None:
            nonlocal asked
            asked += 1
            if asked == 3:  # It has read the event, and is about to take it.
                assert await pushes.flush(post.house) == 1

        post.house.db.pause = pause
        assert post.push() is None
        assert len(post.chats) == 1

    def test_an_event_that_is_told_again_is_not_pushed_again(self):
        post = Post(OK)
        post.link()
        post.tell()
        post.push()
        post.tell()
        assert post.flush() == 0
        assert post.state() == ("delivered", None)

    def test_one_that_was_cut_off_is_unknown_and_is_not_made_again(self):
        post = Post(OK)
        post.link()
        post.tell()

        async def pause(point: str) -> None:
            raise RuntimeError("the bot dies")

        post.house.http.pause = pause
        with pytest.raises(RuntimeError):
            post.push()
        assert post.state() == ("unknown", None)
        assert post.flush() == 0

    def test_a_key_that_nobody_told_is_nothing(self):
        assert Post().push("nothing") is None


class TestTelegramSaysNo:
    def test_a_push_that_fails_is_recorded_with_its_reason(self):
        post = Post(HttpReply(400, {}, json.dumps({"description": "chat not found"})))
        post.link()
        post.tell()
        assert post.push() == "undelivered: Telegram refused it: chat not found"
        assert post.state()[0] == "undelivered: Telegram refused it: chat not found"
        assert run(events.after(post.house.db, ALICE, 0))[0]["push"] == post.state()[0]

    def test_silence_is_a_failure_without_the_address_in_it(self):
        post = Post(Fault("POST https://api.telegram.org/bott/sendMessage: timed out"))
        post.link()
        post.tell()
        assert post.push() == "undelivered: Telegram did not answer"

    def test_403_pauses_that_owners_pushes_with_the_reason(self):
        post = Post(BLOCKED)
        post.link()
        post.link("web:bob", "66")
        post.tell()
        assert post.push() == "undelivered: bot was blocked"
        post.tell("k2")
        assert post.push("k2") == "undelivered: pushes to Telegram are paused: bot was blocked"
        assert len(post.chats) == 1, "Telegram is not asked again"
        post.house.http.replies.append(OK)
        post.tell("k3", "web:bob")
        assert post.push("k3") == "delivered"

    def test_a_telegram_person_is_paused_too(self):
        post = Post(BLOCKED)
        post.tell(owner="telegram:88")
        post.push()
        post.tell("k2", owner="telegram:88")
        assert post.push("k2") == "undelivered: pushes to Telegram are paused: bot was blocked"

    def test_pushes_go_out_again_once_the_person_writes_to_the_bot(self):
        post = Post(BLOCKED, OK)
        post.link()
        post.tell()
        post.push()
        assert run(pushes.resume(post.house, "66")) is False
        assert run(pushes.resume(post.house, "77")) is True
        assert run(pushes.resume(post.house, "77")) is False
        post.tell("k2")
        assert post.push("k2") == "delivered"

    def test_429_waits_as_told_and_records_nothing_before(self):
        post = Post(slow(7), OK)
        post.link()
        post.tell()
        assert post.push() is None
        at = post.house.clock.now_ms() + 7_000
        assert post.state() == (None, at)
        post.house.clock.advance(ms=6_999)
        assert post.flush() == 0
        post.house.clock.advance(ms=1)
        assert post.flush() == 1
        assert post.state() == ("delivered", None)
        assert len(post.chats) == 2

    def test_what_else_the_owner_is_to_be_told_waits_behind_it_in_order(self):
        post = Post(slow(7), OK, OK, OK)
        post.link()
        post.link("web:bob", "66")
        for key in ("k1", "k2", "k3"):
            post.tell(key)
        post.tell("b1", "web:bob")
        assert post.flush() == 1
        assert [chat for chat, _ in post.chats] == ["77", "66"]
        post.house.clock.advance(seconds=7)
        post.flush()
        assert [text for chat, text in post.chats if chat == "77"][1:] == [
            "✅ k1",
            "✅ k2",
            "✅ k3",
        ]

    def test_after_a_day_of_waiting_it_is_given_up(self):
        post = Post(slow(7), slow(7))
        post.link()
        post.tell()
        post.push()
        post.house.clock.advance(ms=GIVE_UP_MS + 1)
        assert post.flush() == 1
        assert post.state() == ("undelivered: Telegram asked to wait for over a day", None)


def test_a_round_takes_the_oldest_and_leaves_the_rest_to_the_next():
    post = Post()
    for n in range(pushes.BATCH + 3):
        post.tell(f"k{n}")
    assert post.flush() == pushes.BATCH
    assert post.flush() == 3
    assert post.own_thread()[1:] == [f"✅ k{n}" for n in range(pushes.BATCH + 3)]


def test_a_persons_own_channel_is_read_by_nobody_else():
    from tests.unit.jobs.office import person

    alice, bob = person("web:alice"), person("web:bob")
    own = web.own_channel(alice)
    assert web.may_read(alice, own)
    assert not web.may_read(bob, own)
    assert web.may_read(bob, "web:general")
