import sqlite3
from dataclasses import astuple, fields
from typing import Any

import pytest

from bot.objects import migrate
from bot.ports import Firing
from schedule_do import ticks
from schedule_do.firings import KEEP_AT_LEAST, MIGRATION
from schedule_do.routes import Schedules
from tests.support.contracts import DAY, MINUTE, NOON, firing
from tests.support.sql import MemorySql


@pytest.fixture
def sql() -> MemorySql:
    return MemorySql()


@pytest.fixture
def schedules(sql: MemorySql) -> Schedules:
    return Schedules(sql)


def at(claimed_at: int, **values: Any):
    key = values.pop("key", f"{values.get('name', 'nightly')}-{claimed_at}")
    return firing(key, due_at=claimed_at, claimed_at=claimed_at, **values)


def count(sql: MemorySql) -> int:
    return sql.exec("SELECT COUNT(*) AS n FROM firings")[0]["n"]


def test_history_over_90_days_is_dropped(sql: MemorySql, schedules: Schedules):
    hours = [at(NOON - hour * 60 * MINUTE) for hour in range(100 * 24)]
    schedules.firings.record(hours)
    assert count(sql) == 90 * 24 + 1
    [oldest] = sql.exec("SELECT MIN(claimed_at) AS at FROM firings")
    assert oldest["at"] == NOON - 90 * DAY


def test_the_last_200_of_a_schedule_stay_however_old(sql: MemorySql, schedules: Schedules):
    weeks = [at(NOON - week * 7 * DAY) for week in range(250)]
    schedules.firings.record(weeks)
    kept = schedules.firings.history("nightly", KEEP_AT_LEAST)
    assert kept == weeks[:KEEP_AT_LEAST]
    assert count(sql) == KEEP_AT_LEAST


def test_pruning_leaves_other_schedules_alone(sql: MemorySql, schedules: Schedules):
    others = [at(NOON - 200 * DAY + n, name="other", row_id="r2") for n in range(300)]
    schedules.firings.record(others)
    schedules.firings.record([at(NOON)])
    assert count(sql) == 301
    schedules.firings.record([at(NOON, name="other", row_id="r2")])
    assert count(sql) == 201


def test_a_schedule_is_pruned_once_a_day_and_not_at_each_record(
    sql: MemorySql, schedules: Schedules
):
    schedules.firings.record([at(NOON - n * MINUTE) for n in range(300)])
    later = NOON + 90 * DAY
    schedules.firings.record([at(later)])
    assert count(sql) == 301
    schedules.firings.record([at(later + DAY + MINUTE)])
    assert count(sql) == KEEP_AT_LEAST


def test_a_firing_under_a_clock_that_ran_ahead_is_not_for_good_the_last_of_200(
    sql: MemorySql, schedules: Schedules
):
    schedules.firings.record([at(NOON + 400 * DAY + n, key=f"ahead{n}") for n in range(300)])
    old = [at(NOON - 200 * DAY + n) for n in range(10)]
    schedules.firings.record(old)
    schedules.firings.record([at(NOON)])
    assert schedules.firings.history("nightly", 11)[1:] == old[::-1]


def test_a_history_of_before_stands_in_the_order_of_its_claims(sql: MemorySql):
    migrate(sql, (MIGRATION, ticks.MIGRATION))
    told = [at(NOON + n * MINUTE, coalesced=n, by="web:alice") for n in (2, 0, 1)]
    columns = [field.name for field in fields(Firing)]
    for each in told:
        sql.exec(
            f"INSERT INTO firings ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            *astuple(each),
        )
    schedules = Schedules(sql)
    assert schedules.firings.history("nightly", 10) == [told[0], told[2], told[1]]
    schedules.firings.record([at(NOON + MINUTE, state="ok"), at(NOON - MINUTE)])
    states = [
        (each.claimed_at - NOON, each.state) for each in schedules.firings.history("nightly", 2)
    ]
    assert states == [(-MINUTE, "starting"), (2 * MINUTE, "starting")]


def test_a_record_that_breaks_leaves_nothing_of_its_call(sql: MemorySql, schedules: Schedules):
    with pytest.raises(sqlite3.IntegrityError):
        schedules.firings.record([at(NOON), at(NOON + 1, name=None)])
    assert count(sql) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT key FROM firings WHERE name = ? AND number < 9 ORDER BY number DESC LIMIT 1",
        "SELECT key FROM firings WHERE row_id = ? AND number < 9 ORDER BY number DESC LIMIT 1",
        "SELECT MIN(number) FROM firings WHERE name = ? AND claimed_at = 9 AND row_id = 'r1'",
        "SELECT MIN(name) FROM firings WHERE name > ?",
        """SELECT COUNT(*) FROM firings WHERE claimed_at > ?
           AND (trigger = 'refire' OR state IN ('starting', 'claimed_not_started'))""",
    ],
)
def test_questions_cost_by_what_they_find(sql: MemorySql, schedules: Schedules, statement: str):
    plan = sql.exec(f"EXPLAIN QUERY PLAN {statement}", "nightly")
    assert all("USING" in step["detail"] and "INDEX" in step["detail"] for step in plan)
    assert not any("TEMP B-TREE" in step["detail"] for step in plan)
