from bot.schedules.due import MAX_COALESCED, Due, Repair, Stale, decide
from tests.unit.builders import ms, row

DAY = 86_400_000


class TestDue:
    def test_a_row_never_fired_is_due_by_its_creation(self):
        nightly = row(created_at=ms("2026-09-01T02:59:00+00:00"))
        assert decide(nightly, ms("2026-09-01T02:59:59+00:00")) is None
        due = decide(nightly, ms("2026-09-01T03:00:05+00:00"))
        assert due == Due(nightly, ms("2026-09-01T03:00:00+00:00"), 0)

    def test_a_row_made_on_its_minute_waits_for_the_next(self):
        nightly = row(created_at=ms("2026-09-01T03:00:00+00:00"))
        assert decide(nightly, ms("2026-09-01T03:00:30+00:00")) is None

    def test_a_row_is_due_no_more_once_it_was_claimed_in_that_minute(self):
        nightly = row(last_fired_at=ms("2026-09-02T03:00:05+00:00"))
        assert decide(nightly, ms("2026-09-02T03:01:00+00:00")) is None

    def test_an_hour_of_missed_ticks_is_one_firing_of_the_latest_minute(self):
        every = row(cron="* * * * *", last_fired_at=ms("2026-09-02T03:00:02+00:00"))
        due = decide(every, ms("2026-09-02T04:00:30+00:00"))
        assert due == Due(every, ms("2026-09-02T04:00:00+00:00"), 59)

    def test_folded_minutes_are_counted_to_a_thousand(self):
        every = row(cron="* * * * *", last_fired_at=ms("2025-09-02T03:00:00+00:00"))
        due = decide(every, ms("2026-09-02T04:00:30+00:00"))
        assert due == Due(every, ms("2026-09-02T04:00:00+00:00"), MAX_COALESCED)

    def test_a_paused_row_is_never_due(self):
        assert decide(row(enabled=False), ms("2026-09-02T03:00:00+00:00")) is None

    def test_the_due_minute_is_the_rows_own_in_its_zone(self):
        berlin = row(cron="0 9 * * *", zone="Europe/Berlin")
        due = decide(berlin, ms("2026-09-01T07:00:00+00:00"))
        assert due == Due(berlin, ms("2026-09-01T09:00:00+02:00"), 0)


class TestWindow:
    def test_a_minute_within_the_window_fires_late(self):
        nightly = row(window="2h")
        at = ms("2026-09-01T03:00:00+00:00")
        assert decide(nightly, at + 2 * 3_600_000) == Due(nightly, at, 0)

    def test_a_minute_older_than_the_window_is_stale(self):
        nightly = row(window="2h")
        at = ms("2026-09-01T03:00:00+00:00")
        assert decide(nightly, at + 2 * 3_600_000 + 1) == Stale(nightly, at, 0)

    def test_only_the_latest_minute_is_asked(self):
        every = row(cron="*/5 * * * *", window="10m")
        due = decide(every, ms("2026-09-01T03:00:00+00:00"))
        assert isinstance(due, Due)


class TestClockRepair:
    now = ms("2026-09-10T12:00:30+00:00")

    def test_a_base_in_the_future_is_repaired(self):
        nightly = row(last_fired_at=self.now + 300 * DAY)
        assert decide(nightly, self.now) == Repair(nightly)

    def test_a_creation_in_the_future_is_repaired_too(self):
        nightly = row(created_at=self.now + 300 * DAY)
        assert decide(nightly, self.now) == Repair(nightly)

    def test_the_current_minute_still_counts(self):
        noon = row(cron="0 12 * * *", last_fired_at=self.now + 300 * DAY)
        due = decide(noon, self.now)
        assert due == Due(noon, ms("2026-09-10T12:00:00+00:00"), 0, repaired=True)

    def test_a_skew_of_seconds_between_machines_is_no_repair(self):
        every = row(cron="* * * * *", last_fired_at=self.now + 2_000)
        assert decide(every, self.now) is None
