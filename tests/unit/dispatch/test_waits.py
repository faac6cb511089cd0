"""A chat service that asks to wait is waited for, durably, and nothing is posted twice."""

from __future__ import annotations

import pytest

from bot.dispatch.turn import MAX_WAIT_S, TRIES, run_turn
from bot.ports import NotOpened, Opened, Posted
from bot.words import Delivery
from tests.support.drive import run
from tests.support.turns import KeptSteps, Office
from tests.support.world import MemoryChannel

BUSY = Posted(Delivery.UNDELIVERED, "asked to wait 7 s", 7)
DELIVERED = Posted(Delivery.DELIVERED)


class Waiting(MemoryChannel):
    """Asks to wait as often as told, before it opens and before it posts."""

    def __init__(self, opens: list[NotOpened] | None = None, posts: list[Posted] | None = None):
        super().__init__()
        self.before_opening, self.before_posting = opens or [], posts or []

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        if self.before_opening:
            return self.before_opening.pop(0)
        return await super().open_thread(channel, lead, key=key, now_ms=now_ms)

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        if self.before_posting:
            return self.before_posting.pop(0)
        return await super().post(thread, text, key=key, now_ms=now_ms)


def office(channel: MemoryChannel) -> Office:
    return Office(channels={"web": channel})


def test_a_post_is_made_after_the_wait() -> None:
    made = office(Waiting(posts=[BUSY, BUSY]))
    ended = made.say("whoami")
    assert (ended.state, ended.delivery) == ("ok", "delivered")
    assert made.steps.slept == [7_000, 7_000]
    assert len(made.house.web.posts) == 1


def test_a_run_that_was_cut_off_in_a_wait_goes_on_with_it() -> None:
    made = office(Waiting(posts=[BUSY]))
    made.admit("whoami")
    steps = KeptSteps()

    class Crash(BaseException):
        pass

    def cut_off(name: str) -> None:
        if name == "deliver":
            raise Crash

    steps.after = cut_off
    with pytest.raises(Crash):
        run(run_turn(made.house, "run1", steps))
    steps.after = lambda name: None
    assert made.turn(steps=steps).delivery == "delivered"
    assert (steps.ran.count("act"), len(made.house.web.posts)) == (1, 1)


@pytest.mark.parametrize(
    "posts", [[BUSY] * (TRIES + 5), [Posted(Delivery.UNDELIVERED, "long", MAX_WAIT_S + 1)] * 2]
)
def test_who_asks_for_too_much_is_undelivered(posts: list[Posted]) -> None:
    made = office(Waiting(posts=posts))
    assert str(made.say("whoami").delivery).startswith("undelivered: ")
    assert made.house.web.posts == []
    assert len(made.steps.slept) < TRIES


def test_a_thread_is_opened_after_the_wait() -> None:
    later = NotOpened("asked to wait 9 s", gone=False, wait_s=9)
    made = office(Waiting(opens=[later]))
    ended = made.say("whoami", thread=None, channel="web:ops", lead="hello")
    assert (ended.state, ended.thread) == ("ok", "web:ops/t1")
    assert made.steps.slept == [9_000]


@pytest.mark.parametrize("wait_s", [9, MAX_WAIT_S + 1])
def test_a_thread_that_stays_closed_refuses_the_turn(wait_s: int) -> None:
    later = NotOpened("asked to wait", gone=False, wait_s=wait_s)
    made = office(Waiting(opens=[later] * (TRIES + 5)))
    ended = made.say("whoami", thread=None, channel="web:ops", lead="hello")
    assert (ended.state, ended.code) == ("refused", "no_channel")


def test_the_watchdog_sees_a_run_that_waits_as_alive() -> None:
    made = office(Waiting(posts=[BUSY]))
    made.admit("whoami")
    steps = KeptSteps()
    steps.after = lambda name: made.house.clock.advance(seconds=50)
    made.turn(steps=steps)
    assert made.run().touched_at > made.run().admitted_at + 100_000
