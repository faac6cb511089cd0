from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.events import Event, EventKind
from bot.jobs import store
from bot.jobs.decide import Fire, claimed
from bot.jobs.job import Job
from bot.jobs.store import Claim, claim_of
from tests.support.drive import run
from tests.support.house import make_house
from tests.support.sql import MemoryDatabase
from tests.unit.jobs.made import DAY, MADE_AT, MINUTE, job

NOW = MADE_AT + 30 * MINUTE


def with_jobs(*jobs: Job) -> MemoryDatabase:
    db = make_house().db
    for each in jobs:
        assert run(store.insert(db, each))
    return db


def fire(one: Job, now_ms: int = NOW, **fields: Any) -> Claim:
    claim = claim_of(one, Fire(now_ms), now_ms, run_id=f"{one.id}-run")
    return replace(claim, **fields)


def read(db: MemoryDatabase, one: Job) -> Job:
    found = run(store.get(db, one.user_id, one.id))
    assert isinstance(found, Job)
    return found


class TestInsert:
    @pytest.mark.parametrize(
        "schedule", ["*/30m", "*/2h", "daily@09:00", "once@2026-03-02T10:52:00+00:00"]
    )
    def test_what_was_stored_is_read_back(self, schedule: str):
        made = job(schedule, thread="web:general/t")
        assert read(with_jobs(made), made) == made

    def test_ten_at_once_at_nine_leave_ten(self):
        """Every insert asks the quota itself, whatever was read before."""
        db = with_jobs(*(job(id=f"job{n}") for n in range(9)))
        made = [run(store.insert(db, job(id=f"more{n}"))) for n in range(10)]
        assert made == [True] + [False] * 9
        assert db.sql("SELECT count(*) AS n FROM jobs") == [{"n": 10}]

    def test_the_quota_is_each_owners_own(self):
        db = with_jobs(*(job(id=f"job{n}") for n in range(10)))
        assert run(store.insert(db, job(id="other", user_id="web:bob")))


class TestClaim:
    def test_moves_the_row_as_the_decision_says_and_writes_the_row_of_its_run(self):
        one = job()
        db = with_jobs(one)
        assert run(store.claim(db, [fire(one)], NOW)) == {one.id}
        assert read(db, one) == claimed(one, Fire(NOW), NOW)
        (row,) = db.sql("SELECT * FROM job_runs")
        assert (row["run_id"], row["job_id"], row["due_at"]) == ("job1-run", "job1", NOW)
        assert (row["claimed_at"], row["trigger"], row["ended_at"]) == (NOW, "tick", None)

    def test_of_two_claims_over_one_reading_one_wins(self):
        one = job()
        db = with_jobs(one)
        assert run(store.claim(db, [fire(one)], NOW)) == {one.id}
        for later in (NOW, NOW + 1, NOW + MINUTE):
            assert run(store.claim(db, [fire(one, later)], later)) == set()
        assert len(db.sql("SELECT * FROM job_runs")) == 1

    def test_a_job_that_never_fired_is_claimed_by_is_null(self):
        one = job()
        db = with_jobs(one)
        assert db.sql("SELECT last_fired_at FROM jobs") == [{"last_fired_at": None}]
        assert run(store.claim(db, [fire(one)], NOW)) == {one.id}

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE jobs SET last_fired_at = 5",
            "UPDATE jobs SET version = version + 1",
            "DELETE FROM jobs",
        ],
    )
    def test_whatever_happened_to_the_row_meanwhile_loses_the_claim(self, change: str):
        one = job()
        db = with_jobs(one)
        db.sql(change)
        before = db.sql("SELECT * FROM jobs")
        assert run(store.claim(db, [fire(one)], NOW)) == set()
        assert db.sql("SELECT * FROM jobs") == before
        assert db.sql("SELECT * FROM job_runs") == []

    def test_a_loser_in_the_batch_takes_nothing_from_the_others(self):
        one, other = job(), job(id="job2")
        db = with_jobs(one, other)
        db.sql("UPDATE jobs SET version = 7 WHERE id = 'job1'")
        assert run(store.claim(db, [fire(one), fire(other)], NOW)) == {"job2"}
        assert [row["job_id"] for row in db.sql("SELECT job_id FROM job_runs")] == ["job2"]

    def test_by_hand_keeps_the_slot_and_holds_for_the_version(self):
        one = job()
        db = with_jobs(one)
        assert run(store.claim_by_hand(db, one, "hand1", NOW))
        assert read(db, one) == one
        (row,) = db.sql("SELECT * FROM job_runs")
        assert (row["trigger"], row["due_at"]) == ("hand", None)
        assert not run(store.claim_by_hand(db, replace(one, version=2), "hand2", NOW))


class TestEnd:
    def test_a_run_ends_once_and_stays_as_it_ended(self):
        one = job()
        db = with_jobs(one)
        run(store.claim(db, [fire(one)], NOW))
        for state, code, at in (("ok", None, NOW + 1), ("failed", "interrupted", NOW + 2)):
            kind = EventKind.JOB_RESULT if state == "ok" else EventKind.JOB_ERROR
            event = Event("job1-run", one.user_id, kind, state, at)
            run(store.end_run(db, "job1-run", state=state, code=code, event=event))
        (row,) = db.sql("SELECT state, code, ended_at FROM job_runs")
        assert row == {"state": "ok", "code": None, "ended_at": NOW + 1}
        assert [e["text"] for e in db.sql("SELECT text FROM events")] == ["ok"]


class TestDue:
    def test_finds_what_is_due_the_longest_due_first(self):
        db = with_jobs(job("*/20m", id="b"), job("*/10m", id="a"), job("*/40m", id="c"))
        found = run(store.due(db, NOW))
        assert [each.id for each in found.jobs if isinstance(each, Job)] == ["a", "b"]
        assert not found.pushes_wait

    def test_takes_no_more_than_asked(self):
        db = with_jobs(*(job(f"*/{n}m", id=f"job{n}") for n in range(1, 6)))
        assert len(run(store.due(db, NOW, 3)).jobs) == 3

    def test_a_job_that_is_off_is_not_found(self):
        one = job()
        db = with_jobs(one)
        db.sql("UPDATE jobs SET enabled = 0, next_at = NULL")
        assert run(store.due(db, MADE_AT + 9 * DAY)).jobs == []

    def test_a_base_in_the_future_is_found_though_its_index_is_late(self):
        db = with_jobs(job())
        db.sql("UPDATE jobs SET last_fired_at = ?, next_at = ?", NOW + 9 * DAY, NOW + 9 * DAY)
        assert len(run(store.due(db, NOW)).jobs) == 1

    def test_says_whether_pushes_wait_though_no_job_is_due(self):
        db = with_jobs()
        db.sql(
            "INSERT INTO events (owner, kind, text, at, push_at) VALUES ('web:a', 'k', 't', 0, ?)",
            NOW,
        )
        assert run(store.due(db, NOW)).pushes_wait
        assert not run(store.due(db, NOW - 1)).pushes_wait


def plan(sql: str, *params: Any) -> str:
    found = make_house().db.sql(f"EXPLAIN QUERY PLAN {sql}", *params)
    return "\n".join(row["detail"] for row in found)


class TestCost:
    """What each statement reads follows what it is about, never what is stored."""

    def test_a_tick_searches_along_its_indexes_and_scans_no_table(self):
        told = plan(store._DUE, NOW, NOW, 200)
        assert "SEARCH jobs USING INDEX jobs_due (next_at<?)" in told
        assert "SEARCH jobs USING INDEX jobs_by_base (<expr>>?)" in told
        assert "SEARCH events USING COVERING INDEX events_waiting (push_at<?)" in told
        for table in ("jobs", "events"):
            assert f"SCAN {table}" not in told

    @pytest.mark.parametrize(
        ("sql", "params"),
        [
            (store._CLAIM, ("[]", NOW)),
            (store._CLAIMED_RUNS, ("[]", NOW, "tick")),
            (store._LISTED, ("web:alice", None)),
            (store._INSERT, tuple(range(11))),
            (store._PRUNE, ("web:alice", 20)),
        ],
    )
    def test_no_other_statement_scans_jobs_or_their_runs(self, sql: str, params: Any):
        told = plan(sql, *params)
        assert "SCAN jobs" not in told
        assert "SCAN job_runs" not in told
        assert "SCAN runs" not in told
