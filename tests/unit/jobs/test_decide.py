from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.jobs.decide import CATCH_UP_MS, SKEW_MS, Fire, Repair, Skip, SkipStale, claimed, decide
from bot.jobs.job import Job, fires
from bot.jobs.spec import Daily, Interval, Once
from tests.unit.builders import ms
from tests.unit.jobs.made import DAY, HOUR, MADE_AT, MINUTE, job


def at(clock: str) -> int:
    return ms(f"2026-03-{clock}:00+00:00")


class TestInterval:
    def test_is_not_due_before_its_first_period_is_over(self):
        assert decide(job("*/30m"), at("02T10:36")) == Skip()
        assert decide(job("*/30m"), at("02T10:37")) == Fire(at("02T10:37"))

    def test_keeps_its_phase_after_a_day_of_late_ticks(self):
        """``*/30m`` made at 10:07 is still due at :07 and :37."""
        one = job("*/30m")
        now = MADE_AT
        due: list[int] = []
        for late in range(48):
            assert one.next_at is not None
            now = one.next_at + late * 17_000 % (25 * MINUTE)
            decision = decide(one, now)
            assert isinstance(decision, Fire)
            due.append(decision.due_at)
            one = claimed(one, decision, now)
        assert {instant % HOUR // MINUTE for instant in due} == {7, 37}
        assert due == [MADE_AT + (n + 1) * 30 * MINUTE for n in range(48)]

    def test_fires_once_for_all_that_it_missed(self):
        late = at("02T14:00")
        decision = decide(job("*/30m"), late)
        assert decision == Fire(at("02T13:37"))
        assert decide(claimed(job("*/30m"), decision, late), late) == Skip()

    def test_due_for_more_than_a_day_is_skipped_as_stale_and_fires_at_its_next_instant(self):
        """An ``*/5m`` job fires again in five minutes, and nothing was lost."""
        late = MADE_AT + 5 * MINUTE + DAY + 1
        decision = decide(job("*/5m"), late)
        assert decision == SkipStale(MADE_AT + 5 * MINUTE)
        after = claimed(job("*/5m"), decision, late)
        assert decide(after, late + 4 * MINUTE) == Skip()
        assert decide(after, late + 5 * MINUTE) == Fire(MADE_AT + DAY + 10 * MINUTE)

    def test_of_more_than_a_day_is_stale_too(self):
        assert decide(job("*/48h"), MADE_AT + 72 * HOUR) == Fire(MADE_AT + 48 * HOUR)
        assert decide(job("*/48h"), MADE_AT + 73 * HOUR) == SkipStale(MADE_AT + 48 * HOUR)


class TestDaily:
    def test_fires_at_its_time_and_again_the_next_day(self):
        nine = job("daily@09:00", last_fired_at=at("03T09:00"))
        assert decide(nine, at("04T08:59")) == Skip()
        assert decide(nine, at("04T09:00")) == Fire(at("04T09:00"))

    def test_missed_by_hours_fires_once(self):
        nine = job("daily@09:00", last_fired_at=at("03T09:00"))
        late = at("04T15:30")
        assert decide(nine, late) == Fire(at("04T09:00"))
        assert decide(claimed(nine, Fire(at("04T09:00")), late), at("05T08:59")) == Skip()

    def test_after_a_long_outage_fires_for_the_latest_day_alone(self):
        nine = job("daily@09:00", last_fired_at=at("03T09:00"))
        assert decide(nine, at("09T09:05")) == Fire(at("09T09:00"))


class TestOnce:
    def test_fires_when_it_is_time(self):
        assert decide(job("once@2026-03-02T10:52:00+00:00"), at("02T10:51")) == Skip()
        assert decide(job("once@2026-03-02T10:52:00+00:00"), at("02T10:52")) == Fire(at("02T10:52"))

    def test_missed_within_a_day_fires_and_by_more_is_stale(self):
        once = job("once@2026-03-02T10:52:00+00:00")
        due = at("02T10:52")
        assert decide(once, due + CATCH_UP_MS) == Fire(due)
        assert decide(once, due + CATCH_UP_MS + 1) == SkipStale(due)

    def test_is_spent_by_its_claim(self):
        once = job("once@2026-03-02T10:52:00+00:00")
        spent = claimed(once, Fire(at("02T10:52")), at("02T10:53"))
        assert (spent.enabled, spent.next_at, spent.last_fired_at) == (False, None, at("02T10:53"))
        for now in (at("02T10:53"), at("02T10:52"), at("09T10:52")):
            assert decide(spent, now) == Skip()
            assert decide(replace(spent, enabled=True), now) == Skip(), "by its claim, not the flag"


class TestClock:
    def test_a_base_in_the_future_silences_nothing(self):
        """A claim written under a clock that was a year ahead."""
        wrong = job("*/30m", last_fired_at=MADE_AT + 365 * DAY)
        assert decide(wrong, at("02T11:00")) == Repair()
        assert decide(wrong, at("02T11:07")) == Fire(at("02T11:07"))
        repaired = claimed(wrong, Repair(), at("02T11:00"))
        assert decide(repaired, at("02T11:07")) == Fire(at("02T11:07"))

    def test_a_base_a_little_ahead_is_left_alone(self):
        assert decide(job("*/1m", last_fired_at=MADE_AT + SKEW_MS), MADE_AT) == Skip()

    def test_made_under_a_clock_that_was_ahead_fires_too(self):
        wrong = job("daily@09:00", created_at=MADE_AT + 365 * DAY)
        assert decide(wrong, at("03T08:00")) == Repair()
        assert decide(wrong, at("03T09:00")) == Fire(at("03T09:00"))


@pytest.mark.parametrize("schedule", ["*/1m", "daily@00:00", "once@2026-03-02T10:08:00+00:00"])
def test_a_job_that_is_off_is_skipped(schedule: str):
    assert decide(job(schedule, enabled=False), at("03T10:07")) == Skip()
    assert job(schedule, enabled=False).next_at is None


def test_the_next_fires_of_a_job():
    assert fires(job("*/30m"), MADE_AT, 3) == [MADE_AT + n * 30 * MINUTE for n in (1, 2, 3)]
    assert fires(job("*/30m"), at("02T14:00"), 1) == [at("02T14:07")]
    assert fires(job("once@2026-03-02T10:52:00+00:00"), MADE_AT, 3) == [at("02T10:52")]
    assert fires(job("*/30m", enabled=False), MADE_AT, 3) == []


# --- properties over random histories -------------------------------------------------

SPECS = st.one_of(
    st.builds(Interval, st.integers(1, 200), st.sampled_from("mh")),
    st.builds(Daily, st.integers(0, 1439)),
    st.builds(Once, st.integers(MADE_AT + MINUTE, MADE_AT + 3 * DAY)),
)
STEPS = st.lists(
    st.one_of(
        st.integers(0, 3 * MINUTE),  # the next tick, on time or late
        st.integers(0, 3 * DAY),  # an outage
        st.integers(-2 * DAY, 0),  # the clock is set back
    ),
    max_size=40,
)


class History:
    """One job through ticks at these times; what it fired for and what it passed over."""

    def __init__(self, one: Job, steps: list[int]):
        self.fired: list[tuple[int, int]] = []
        self.stale: list[tuple[int, int]] = []
        now = one.created_at
        for step in steps:
            now = max(now + step, one.created_at)
            decision = decide(one, now)
            self.check(one, decision, now)
            if isinstance(decision, Fire):
                self.fired.append((now, decision.due_at))
            elif isinstance(decision, SkipStale):
                self.stale.append((now, decision.due_at))
            if not isinstance(decision, Skip):
                one = claimed(one, decision, now)
                assert decide(one, now) == Skip(), "what is claimed is not due again at once"
        self.job, self.now = one, now

    def check(self, one: Job, decision: Any, now: int) -> None:
        """The index is never late: what is due is found by it, or by its base in the future."""
        if not isinstance(decision, Skip):
            assert one.next_at is not None
            assert one.next_at <= now or one.base > now + SKEW_MS
        if isinstance(decision, Fire):
            assert 0 <= now - decision.due_at <= CATCH_UP_MS
        if isinstance(decision, SkipStale):
            assert now - decision.due_at > CATCH_UP_MS


@settings(max_examples=300, deadline=None)
@given(SPECS, STEPS)
def test_any_history_keeps_the_rules(when: Any, steps: list[int]):
    history = History(job(spec=when), steps)
    if isinstance(when, Once):
        assert len(history.fired) + len(history.stale) <= 1
    for now, due in history.fired:
        assert due <= now


@settings(max_examples=200, deadline=None)
@given(SPECS, st.lists(st.integers(0, 3 * DAY), max_size=40))
def test_while_the_clock_only_goes_forward_no_instant_is_fired_for_twice(
    when: Any, steps: list[int]
):
    history = History(job(spec=when), steps)
    due = [instant for _, instant in history.fired]
    assert due == sorted(set(due))
    if isinstance(when, Interval):
        assert all((instant - MADE_AT) % when.period_ms == 0 for instant in due)


@settings(max_examples=200, deadline=None)
@given(SPECS, STEPS)
def test_whatever_happened_before_it_fires_at_its_next_instant(when: Any, steps: list[int]):
    history = History(job(spec=when), steps)
    if isinstance(when, Once):
        return
    one, now = history.job, history.now
    # A tick now, which repairs a base in the future, then one at the instant.
    decision = decide(one, now)
    if not isinstance(decision, Skip):
        one = claimed(one, decision, now)
    following = when.after(now, MADE_AT)
    if following > now + SKEW_MS:
        assert decide(one, following) == Fire(following)
