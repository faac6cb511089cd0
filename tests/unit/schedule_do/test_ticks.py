import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ports import TickRecord
from schedule_do.routes import Schedules
from schedule_do.ticks import percentile
from tests.support.contracts import DAY, NOON
from tests.support.sql import MemorySql


@given(st.lists(st.integers(0, 50), min_size=1), st.sampled_from([1, 50, 95, 100]))
@settings(deadline=None, derandomize=True)
def test_a_percentile_is_the_nearest_rank_of_the_sorted_values(values: list[int], percent: int):
    counts = [(value, values.count(value)) for value in sorted(set(values))]
    rank = math.ceil(len(values) * percent / 100)
    assert percentile(counts, percent) == sorted(values)[rank - 1]


def test_no_values_have_no_percentile():
    assert percentile([], 95) is None


@pytest.fixture
def schedules() -> Schedules:
    return Schedules(MemorySql())


def test_ticks_are_kept_for_31_days(schedules: Schedules):
    schedules.ticks.record(TickRecord(NOON - 31 * DAY - 1, 1))
    schedules.ticks.record(TickRecord(NOON - 31 * DAY, 2))
    schedules.ticks.record(TickRecord(NOON, 3))
    assert schedules.ticks.spread(0, NOON)["count"] == 2


def test_the_last_tick_is_the_one_recorded_last_whatever_the_clock_said(schedules: Schedules):
    schedules.ticks.record(TickRecord(NOON + DAY, 1))
    schedules.ticks.record(TickRecord(NOON, 2))
    assert schedules.ticks.last() == {"at": NOON, "ms": 2}


def test_a_window_is_open_at_its_start_and_closed_at_its_end(schedules: Schedules):
    for at in (NOON - DAY, NOON - DAY + 1, NOON, NOON + 1):
        schedules.ticks.record(TickRecord(at, 5))
    assert schedules.ticks.spread(NOON - DAY, NOON)["count"] == 2


def test_two_ticks_of_one_moment_count_twice(schedules: Schedules):
    for _ in range(2):
        schedules.ticks.record(TickRecord(NOON, 5))
    assert schedules.ticks.spread(0, NOON)["count"] == 2


def test_a_summary_knows_a_tick_as_soon_as_it_is_recorded(schedules: Schedules):
    counts = []
    for _ in range(3):
        schedules.ticks.record(TickRecord(NOON, 5))
        counts.append(schedules.ticks.spreads(NOON)["h24"]["count"])
    assert counts == [1, 2, 3]


def test_a_summary_asked_again_within_the_minute_reads_no_month_of_ticks(schedules: Schedules):
    schedules.ticks.record(TickRecord(NOON, 5))
    first = schedules.ticks.spreads(NOON)
    assert schedules.ticks.spreads(NOON + 1) is first


def test_a_summary_moves_on_with_the_clock(schedules: Schedules):
    schedules.ticks.record(TickRecord(NOON, 5))
    assert schedules.ticks.spreads(NOON)["h24"]["count"] == 1
    assert schedules.ticks.spreads(NOON + DAY)["h24"]["count"] == 0
