from __future__ import annotations

import pytest

from bot.channels.posts import KEPT_MS, Posts
from bot.channels.service import Answer, Declined, Done, Lost, Wait
from bot.ports import Fault, Posted
from bot.words import Delivery
from tests.support.drive import run
from tests.support.sql import MemoryDatabase

NOW = 1_780_000_000_000
THREAD = "slack:C042/1.2"
DELIVERED, UNKNOWN = Posted(Delivery.DELIVERED), Posted(Delivery.UNKNOWN)


class Service:
    """Takes parts; ``answers`` are what it says first, in order."""

    def __init__(self, *answers: Answer | Fault):
        self.answers = list(answers)
        self.parts: list[str] = []

    async def send(self, part: str) -> Answer:
        answer = self.answers.pop(0) if self.answers else Done()
        if isinstance(answer, Fault):
            raise answer
        if isinstance(answer, (Done, Lost)):
            self.parts.append(part)
        return answer


class Desk:
    """A surface's posts over a fresh database."""

    def __init__(self):
        self.db = MemoryDatabase()
        self.posts = Posts(self.db, "slack")

    def post(self, service: Service, *parts: str, key: str = "k", now_ms: int = NOW) -> Posted:
        once = self.posts.once(parts, service.send, thread=THREAD, key=key, now_ms=now_ms)
        return run(once)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_each_part_is_sent_in_its_order(desk: Desk) -> None:
    service = Service()
    assert desk.post(service, "a", "b", "c") == DELIVERED
    assert service.parts == ["a", "b", "c"]


def test_the_same_key_posts_once(desk: Desk) -> None:
    service = Service()
    assert [desk.post(service, "a", "b") for _ in range(3)] == [DELIVERED] * 3
    assert service.parts == ["a", "b"]
    desk.post(service, "a", key="other")
    assert service.parts == ["a", "b", "a"]


def test_another_surface_has_its_own_keys(desk: Desk) -> None:
    service = Service()
    desk.post(service, "a")
    telegram = Posts(desk.db, "telegram")
    run(telegram.once(["a"], service.send, thread="telegram:1/0", key="k", now_ms=NOW))
    assert service.parts == ["a", "a"]


def test_a_lost_answer_is_unknown_and_never_repeated(desk: Desk) -> None:
    service = Service(Done(), Lost("silence"))
    assert desk.post(service, "a", "b", "c") == UNKNOWN
    assert desk.post(service, "a", "b", "c") == UNKNOWN
    assert service.parts == ["a", "b"]


@pytest.mark.parametrize("answer", [Wait(7), Declined("not_in_channel")])
def test_what_was_not_taken_is_undelivered_and_goes_on_from_there(
    desk: Desk, answer: Answer
) -> None:
    service = Service(Done(), answer)
    posted = desk.post(service, "a", "b", "c")
    assert posted.delivery is Delivery.UNDELIVERED
    assert posted.wait_s == (7 if isinstance(answer, Wait) else None)
    assert posted.reason is not None
    assert posted.reason.startswith("part 2 of 3: ")
    assert desk.post(service, "a", "b", "c") == DELIVERED
    assert service.parts == ["a", "b", "c"]


def test_a_reason_names_no_part_where_there_is_one(desk: Desk) -> None:
    assert str(desk.post(Service(Declined("gone")), "a")) == "undelivered: gone"


@pytest.mark.parametrize("point", ["db.batch", "db.batch done", "db.run", "db.run done"])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_crash_anywhere_posts_nothing_twice(desk: Desk, point: str, parts: int) -> None:
    service = Service()

    async def crash(at: str) -> None:
        if at == point:
            raise Fault("cut off")

    async def calm(at: str) -> None:
        pass

    texts = list("abc"[:parts])
    desk.db.pause = crash
    with pytest.raises(Fault):
        desk.post(service, *texts)
    desk.db.pause = calm
    posted = desk.post(service, *texts)
    assert service.parts in (texts, texts[: len(service.parts)])
    # Whether a part whose taking was not written down arrived is not known.
    assert posted in (DELIVERED, UNKNOWN)
    assert (posted == DELIVERED) <= (service.parts == texts)


def test_two_at_once_post_once(desk: Desk) -> None:
    service = Service()
    inner: list[Posted] = []

    async def send(part: str) -> Answer:
        once = desk.posts.once([part], service.send, thread=THREAD, key="k", now_ms=NOW)
        inner.append(await once)
        return await service.send(part)

    outer = run(desk.posts.once(["a"], send, thread=THREAD, key="k", now_ms=NOW))
    assert (outer, inner, service.parts) == (DELIVERED, [UNKNOWN], ["a"])


def test_an_opened_thread_is_remembered_by_its_key(desk: Desk) -> None:
    assert run(desk.posts.opened("k")) is None
    run(desk.posts.note_opened("k", THREAD, NOW))
    assert run(desk.posts.opened("k")) == THREAD


def test_the_bot_takes_part_where_it_posted_and_where_it_was_asked(desk: Desk) -> None:
    assert not run(desk.posts.takes_part(THREAD))
    desk.post(Service(), "a")
    assert run(desk.posts.takes_part(THREAD))
    desk.db.sql(
        "INSERT INTO runs (id, actor, grants, source, thread, text, state, admitted_at, touched_at)"
        " VALUES ('r', 'slack:U1', '[]', 'message', 'slack:C042/9.9', 'x', 'ok', 1, 1)"
    )
    assert run(desk.posts.takes_part("slack:C042/9.9"))


def test_old_keys_are_forgotten(desk: Desk) -> None:
    desk.post(Service(), "a", key="old")
    desk.post(Service(), "a", key="new", now_ms=NOW + KEPT_MS + 1)
    assert [row["key"] for row in desk.db.sql("SELECT key FROM chat_posts")] == ["new"]


def test_posting_reads_along_indexes_whatever_else_is_stored(desk: Desk) -> None:
    from bot.channels import posts

    for sql, params in (
        (posts._FOUND, ("slack", "k")),
        (posts._FORGET, (1,)),
        (posts._TAKES_PART, (THREAD,)),
    ):
        plan = [row["detail"] for row in desk.db.sql(f"EXPLAIN QUERY PLAN {sql}", *params)]
        assert not [step for step in plan if step.startswith("SCAN") and "CONSTANT" not in step]
