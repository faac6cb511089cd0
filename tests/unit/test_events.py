from __future__ import annotations

from typing import Any

from bot import events
from bot.events import RING, Event, EventKind
from tests.support.drive import run
from tests.support.house import make_house
from tests.support.sql import MemoryDatabase

NOW = 1_800_000_000_000


def event(key: str = "k1", owner: str = "web:alice", **fields: Any) -> Event:
    values: dict[str, Any] = {"kind": EventKind.JOB_RESULT, "text": f"✅ {key}", "at": NOW}
    return Event(key, owner, **{**values, **fields})


def tell(db: MemoryDatabase, *told: Event) -> None:
    run(
        db.batch(
            [
                events.adding([(each, {}) for each in told]),
                events.trimming([each.owner for each in told]),
            ]
        )
    )


def ring(db: MemoryDatabase, owner: str = "web:alice", after: int = 0) -> list[dict[str, Any]]:
    return run(events.after(db, owner, after))


def test_an_event_is_read_as_it_was_told():
    db = make_house().db
    tell(db, event(data={"job_id": "j1", "n": 5}))
    assert ring(db) == [
        {
            "seq": 1,
            "kind": "job_result",
            "text": "✅ k1",
            "data": {"job_id": "j1", "n": 5},
            "at": "2027-01-15T08:00:00+00:00",
            "push": None,
        }
    ]


def test_it_waits_for_its_push_from_the_moment_it_is_told():
    db = make_house().db
    tell(db, event(thread="web:general/t"))
    assert db.sql("SELECT push_at, thread FROM events") == [
        {"push_at": NOW, "thread": "web:general/t"}
    ]


def test_the_same_key_is_told_once():
    db = make_house().db
    tell(db, event())
    tell(db, event(text="again"), event("k2"))
    assert [each["text"] for each in ring(db)] == ["✅ k1", "✅ k2"]


def test_events_without_a_key_are_not_each_others():
    db = make_house().db
    for _ in range(2):
        db.sql("INSERT INTO events (owner, kind, text, at) VALUES ('web:alice', 'note', 't', 0)")
    assert [each["data"] for each in ring(db)] == [{}, {}]


def test_each_owner_sees_their_own_after_what_they_have_seen():
    db = make_house().db
    tell(db, event("a1"), event("b1", "web:bob"), event("a2"))
    assert [each["text"] for each in ring(db)] == ["✅ a1", "✅ a2"]
    (first, _) = ring(db)
    assert [each["text"] for each in ring(db, after=first["seq"])] == ["✅ a2"]
    assert [each["text"] for each in ring(db, "web:bob")] == ["✅ b1"]
    assert ring(db, "web:eve") == []


def test_the_ring_keeps_the_last_200_of_each_owner_and_numbers_go_on():
    db = make_house().db
    tell(db, event("b1", "web:bob"))
    for n in range(RING + 5):
        tell(db, event(f"k{n}"))
    kept = ring(db)
    assert len(kept) == RING == 200
    assert (kept[0]["text"], kept[-1]["text"]) == ("✅ k5", f"✅ k{RING + 4}")
    assert len(ring(db, "web:bob")) == 1
    db.sql("DELETE FROM events WHERE owner = 'web:alice'")
    tell(db, event("new"))
    assert ring(db)[0]["seq"] > kept[-1]["seq"], "a number is never used again"


def test_a_condition_holds_an_event_back():
    db = make_house().db
    told = [(event("k1"), {"ok": 1}), (event("k2"), {"ok": 0})]
    run(db.batch([events.adding(told, condition="json_extract(value, '$.when.ok')")]))
    assert [each["text"] for each in ring(db)] == ["✅ k1"]
