from __future__ import annotations

import pytest

from bot.channels.web import END, WebChannel, list_threads, read_thread
from bot.ports import Fault, NotOpened, Opened, Posted
from bot.words import Delivery
from tests.support.drive import run
from tests.support.sql import MemoryDatabase

NOW = 1_780_000_000_000


def surface() -> tuple[MemoryDatabase, WebChannel]:
    db = MemoryDatabase()
    return db, WebChannel(db, ("general", "ops"))


def opened(web: WebChannel, key: str = "k", lead: str = "a lead", now_ms: int = NOW) -> str:
    answer = run(web.open_thread("web:general", lead, key=key, now_ms=now_ms))
    assert isinstance(answer, Opened)
    return answer.thread


def messages(db: MemoryDatabase) -> list[tuple[str, str, str]]:
    rows = db.sql("SELECT thread, author, text FROM messages ORDER BY rowid")
    return [(row["thread"], row["author"], row["text"]) for row in rows]


def test_the_configured_channels_exist_and_open_threads() -> None:
    _, web = surface()
    for channel, there in {
        "web:general": True,
        "web:ops": True,
        "web:nosuch": False,
        "general": False,
        "slack:general": False,
        "web:": False,
        "": False,
    }.items():
        assert web.exists(channel) is there
        assert (run(web.can_open_threads(channel)) is None) is there


def test_a_thread_opens_with_its_lead_as_title_and_first_message() -> None:
    db, web = surface()
    thread = opened(web, lead="nightly · due 03:00\nand details")
    assert thread.startswith("web:general/")
    assert db.sql("SELECT channel, title, created_at FROM threads") == [
        {"channel": "web:general", "title": "nightly · due 03:00", "created_at": NOW}
    ]
    assert messages(db) == [(thread, "bot", "nightly · due 03:00\nand details")]


def test_the_same_key_opens_the_same_thread_once() -> None:
    db, web = surface()
    assert opened(web) == opened(web, lead="another lead", now_ms=NOW + 9)
    assert len(messages(db)) == 1
    assert opened(web, key="other") != opened(web)


def test_a_channel_that_is_gone_opens_nothing() -> None:
    db, web = surface()
    answer = run(web.open_thread("web:nosuch", "x", key="k", now_ms=NOW))
    assert isinstance(answer, NotOpened)
    assert answer.gone
    assert db.sql("SELECT * FROM threads") == []


def test_a_post_is_delivered_once_a_key_and_moves_its_thread_up() -> None:
    db, web = surface()
    thread = opened(web)
    for _ in range(2):
        posted = run(web.post(thread, "hello @channel", key="p", now_ms=NOW + 5))
        assert posted == Posted(Delivery.DELIVERED)
    assert messages(db)[1:] == [(thread, "bot", "hello @channel")]
    assert db.sql("SELECT updated_at FROM threads") == [{"updated_at": NOW + 5}]


def test_a_post_that_comes_again_leaves_its_thread_where_it_is() -> None:
    db, web = surface()
    thread = opened(web)
    for now_ms in (NOW + 5, NOW + 99):
        posted = run(web.post(thread, "hello", key="p", now_ms=now_ms))
        assert posted == Posted(Delivery.DELIVERED)
    assert opened(web, now_ms=NOW + 99) == thread
    assert db.sql("SELECT updated_at FROM threads") == [{"updated_at": NOW + 5}]


def test_a_late_post_does_not_move_its_thread_down() -> None:
    db, web = surface()
    thread = opened(web)
    run(web.post(thread, "late", key="p", now_ms=NOW - 5))
    assert db.sql("SELECT updated_at FROM threads") == [{"updated_at": NOW}]


def test_a_post_into_no_thread_is_undelivered_with_the_reason() -> None:
    db, web = surface()
    posted = run(web.post("web:general/nosuch", "x", key="p", now_ms=NOW))
    assert posted.delivery is Delivery.UNDELIVERED
    assert "web:general/nosuch" in str(posted)
    assert messages(db) == []


@pytest.mark.parametrize("point", ["db.batch", "db.batch done"])
def test_a_post_that_failed_half_way_is_repeated_safely(point: str) -> None:
    db, web = surface()
    thread = opened(web)

    async def hook(at: str) -> None:
        if at == point:
            db.pause = quiet
            raise Fault("cut off")

    async def quiet(at: str) -> None:
        pass

    db.pause = hook
    with pytest.raises(Fault):
        run(web.post(thread, "once", key="p", now_ms=NOW))
    assert run(web.post(thread, "once", key="p", now_ms=NOW)) == Posted(Delivery.DELIVERED)
    assert messages(db)[1:] == [(thread, "bot", "once")]


def test_threads_are_listed_from_their_index() -> None:
    db, web = surface()
    keys = [opened(web, key=f"k{number}", now_ms=NOW + number) for number in range(3)]
    rows = run(list_threads(db, ["web:general", "web:ops"], before=None, limit=2))
    assert [row["key"] for row in rows] == keys[:0:-1]
    assert run(list_threads(db, ["web:general"], before="web:general/nosuch", limit=9)) == []
    assert run(list_threads(db, ["web:ops"], before=None, limit=9)) == []


def test_a_thread_that_is_not_there_reads_as_none() -> None:
    db, _ = surface()
    assert run(read_thread(db, "web:general/x", after=None, before=END, limit=9)) is None


def test_polling_reads_along_an_index_whatever_else_is_stored() -> None:
    from bot.channels import web

    db = MemoryDatabase()
    for sql, params in (
        (web._AFTER, ("t", 5, 9)),
        (web._BEFORE, ("t", 5, 9)),
        (web._THREADS, ("c", None, 5, 9)),
        (web._LIVE, ("t",)),
    ):
        plan = [row["detail"] for row in db.sql(f"EXPLAIN QUERY PLAN {sql}", *params)]
        assert not [step for step in plan if step.startswith("SCAN")], plan
