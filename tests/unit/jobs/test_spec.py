from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.spec import (
    MAX_MINUTES,
    Daily,
    Interval,
    Once,
    describe,
    parse_minutes,
    parse_schedule,
    parse_when,
)
from bot.words import Code, Refused
from tests.unit.builders import ms
from tests.unit.jobs.made import DAY, MADE_AT, MINUTE

NOW = MADE_AT


def detail(refused: object) -> str:
    assert isinstance(refused, Refused), refused
    assert refused.code is Code.BAD_TIME
    assert refused.detail.endswith(".")
    return refused.detail


class TestSchedule:
    @pytest.mark.parametrize(
        ("text", "made", "said"),
        [
            ("*/1m", Interval(1, "m"), "every minute"),
            ("*/30m", Interval(30, "m"), "every 30 minutes"),
            ("*/90m", Interval(90, "m"), "every 90 minutes"),
            ("*/1h", Interval(1, "h"), "every hour"),
            ("*/2h", Interval(2, "h"), "every 2 hours"),
            ("*/48h", Interval(48, "h"), "every 48 hours"),
            ("*/8784h", Interval(8784, "h"), "every 8784 hours"),
            ("daily@00:00", Daily(0), "every day at 00:00 UTC"),
            ("daily@09:05", Daily(545), "every day at 09:05 UTC"),
            ("daily@23:59", Daily(1439), "every day at 23:59 UTC"),
        ],
    )
    def test_is_read_said_and_written_again(self, text: str, made: Any, said: str):
        assert parse_schedule(text) == made
        assert describe(made) == said
        assert made.text == text

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("*/0m", "never fire"),
            ("*/0h", "never fire"),
            ("*/00m", "never fire"),
            ("*/05m", "leading zero"),
            ("*/99999999999m", "366 days"),
            ("*/8785h", "366 days"),
            ("daily@25:70", "25:70"),
            ("daily@24:00", "24:00"),
            ("daily@9:00", "9:00"),
            ("daily@09:60", "09:60"),
            ("daily@09:00:00", "09:00:00"),
            ("daily@0900", "0900"),
            ("daily@", "time of day"),
            ("daily@٠٩:٠٠", "time of day"),
            ("*/３０m", "not a job's schedule"),
            ("*/30", "not a job's schedule"),
            ("*/30s", "not a job's schedule"),
            ("*/30M", "not a job's schedule"),
            ("*/-5m", "not a job's schedule"),
            ("*/1.5h", "not a job's schedule"),
            ("*/1e3m", "not a job's schedule"),
            ("*/" + "9" * 5000 + "m", "not a job's schedule"),
            (" */30m", "not a job's schedule"),
            ("*/30m\n", "not a job's schedule"),
            ("Daily@09:00", "not a job's schedule"),
            ("0 9 * * *", "not a job's schedule"),
            ("hourly", "not a job's schedule"),
            ("", "not a job's schedule"),
        ],
    )
    def test_anything_else_is_refused_and_told_why(self, text: str, named: str):
        assert named in detail(parse_schedule(text))

    @pytest.mark.parametrize("value", [True, 30, 1.5, [], {"every": "30m"}])
    def test_what_is_no_text_is_refused(self, value: object):
        assert "is a text" in detail(parse_schedule(value))

    @given(st.text(max_size=30))
    def test_no_text_breaks_it(self, text: str):
        made = parse_schedule(text)
        assert isinstance(made, Refused) or made.text == text


class TestMinutes:
    @pytest.mark.parametrize("value", [1, 45, MAX_MINUTES, 5.0, 1e3])
    def test_a_whole_number_is_that_far_from_now(self, value: Any):
        assert parse_minutes(value, NOW) == Once(NOW + int(value) * MINUTE)

    @pytest.mark.parametrize(
        "value",
        [
            *(0, -1, -5.0, 0.5, 1.5, MAX_MINUTES + 1, 10**30, 1e300, -(10**30)),
            *(float("inf"), float("-inf"), float("nan")),
            *(True, False, "5", "", [5], {"minutes": 5}),
        ],
    )
    def test_anything_else_is_refused(self, value: object):
        assert "run_in_minutes is" in detail(parse_minutes(value, NOW))

    def test_it_is_said_with_its_instant(self):
        assert describe(Once(NOW)) == "once, at 2026-03-02T10:07:00+00:00"


class TestWhen:
    def test_one_of_the_two_is_given(self):
        assert parse_when("*/5m", None, NOW) == Interval(5, "m")
        assert parse_when(None, 5, NOW) == Once(NOW + 5 * MINUTE)

    def test_both_are_refused(self):
        assert "not both" in detail(parse_when("*/5m", 5, NOW))

    def test_neither_is_refused(self):
        assert "one of them" in detail(parse_when(None, None, NOW))

    def test_a_bad_one_is_not_taken_for_an_absent_one(self):
        assert "not both" in detail(parse_when("", 5, NOW))
        assert "not both" in detail(parse_when("*/5m", 0, NOW))


RECURRING = st.one_of(
    st.builds(Interval, st.integers(1, 2000), st.sampled_from("mh")),
    st.builds(Daily, st.integers(0, 1439)),
)
INSTANTS = st.integers(ms("2020-01-01T00:00:00+00:00"), ms("2040-01-01T00:00:00+00:00"))


class TestInstants:
    @given(RECURRING, INSTANTS, INSTANTS)
    def test_the_next_is_strictly_after_and_nothing_lies_between(
        self, when: Any, made_at: int, base: int
    ):
        following = when.after(base, made_at)
        assert following > base
        assert when.upto(following - 1, made_at) <= base
        assert when.upto(following, made_at) == following

    @given(RECURRING, INSTANTS, INSTANTS)
    def test_the_last_is_not_after_now_and_the_next_of_it_is(
        self, when: Any, made_at: int, now: int
    ):
        latest = when.upto(now, made_at)
        assert latest <= now
        assert when.after(latest, made_at) > now

    @given(st.integers(1, 2000), st.sampled_from("mh"), INSTANTS, INSTANTS)
    def test_an_interval_is_in_phase_with_its_making(
        self, count: int, unit: str, made_at: int, base: int
    ):
        every = Interval(count, unit)
        assert (every.after(base, made_at) - made_at) % every.period_ms == 0

    @given(st.integers(0, 1439), INSTANTS)
    def test_a_daily_job_keeps_its_time_of_the_utc_day(self, minute: int, base: int):
        assert Daily(minute).after(base, 0) % DAY == minute * MINUTE

    def test_a_job_made_at_its_own_time_of_day_waits_for_tomorrow(self):
        at = ms("2026-03-02T09:00:00+00:00")
        assert Daily(9 * 60).after(at, at) == at + DAY
