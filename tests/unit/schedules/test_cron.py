"""When a row fires: the shared cases, clock changes, what is due, and the bound on work."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.schedules import cron as module
from bot.schedules.cron import Latest, check, latest_fire, next_fire, next_fires, parse, parse_zone
from bot.schedules.expression import Cron
from bot.words import Code, Refused
from tests.unit.schedules.crons import DAY_MS, MINUTE_MS, cron_of, iso, ms, zone_of

CASES = json.loads((Path(__file__).parents[2] / "data" / "cron.json").read_text("utf-8"))
UTC = zone_of("UTC")
NOW = ms("2026-11-30T12:00:00+00:00")


def fires(text: str, zone_name: str, after: str, n: int) -> list[str]:
    zone = zone_of(zone_name)
    return [iso(fire, zone) for fire in next_fires(cron_of(text), zone, ms(after), n)]


class TestSharedCases:
    @pytest.mark.parametrize("case", CASES["fires"], ids=lambda case: case["why"])
    def test_fires(self, case: dict[str, Any]):
        found = fires(case["cron"], case["zone"], case["from"], len(case["next"]))
        assert found == case["next"]
        assert check(cron_of(case["cron"]), zone_of(case["zone"]), ms(case["from"])) is None

    @pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["cron"][:30])
    def test_refused(self, case: dict[str, Any]):
        cron = parse(case["cron"])
        refused = check(cron, UTC, NOW) if isinstance(cron, Cron) else cron
        assert refused is not None
        assert refused.code == case["code"]

    @pytest.mark.parametrize("case", CASES["zones_refused"], ids=lambda case: case["zone"])
    def test_zones_refused(self, case: dict[str, Any]):
        refused = parse_zone(case["zone"])
        assert isinstance(refused, Refused)
        assert refused.code == case["code"]


class TestCalendar:
    def test_strictly_after_the_minute_itself_and_within_it(self):
        after = "2026-05-05T09:00:00+00:00"
        assert fires("0 9 * * *", "UTC", after, 1) == ["2026-05-06T09:00:00+00:00"]
        just_before = ms(after) - 1
        assert next_fire(cron_of("0 9 * * *"), UTC, just_before) == ms(after)
        assert next_fire(cron_of("0 9 * * *"), UTC, ms(after) + 1) == ms(after) + DAY_MS

    @pytest.mark.parametrize(
        ("text", "after", "expected"),
        [
            # both day fields restricted: either one
            ("0 0 13 * 5", "2026-11-01", ["2026-11-06", "2026-11-13", "2026-11-20", "2026-11-27"]),
            ("0 0 31 2 1", "2026-02-01", ["2026-02-02", "2026-02-09", "2026-02-16", "2026-02-23"]),
            ("0 0 L 2 1", "2028-02-20", ["2028-02-21", "2028-02-28", "2028-02-29", "2029-02-05"]),
            # a star in one of them: both
            ("0 0 */2 * 1", "2026-11-01", ["2026-11-09", "2026-11-23", "2026-12-07"]),
            (
                "0 0 13 * */5",
                "2026-01-01",
                ["2026-02-13", "2026-03-13", "2026-09-13", "2026-11-13"],
            ),
            ("0 0 L * */6", "2026-01-01", ["2026-01-31", "2026-02-28", "2026-05-31", "2026-10-31"]),
            # the calendar
            ("0 0 29 2 *", "2026-01-01", ["2028-02-29", "2032-02-29"]),
            ("0 0 L 2 *", "2027-01-01", ["2027-02-28", "2028-02-29", "2029-02-28"]),
            ("0 0 29 2 *", "2096-03-01", ["2104-02-29"]),
            ("0 0 29 2 *", "1996-03-01", ["2000-02-29"]),
            # 29 February on a Sunday or Saturday: rarer than eight years, still found
            ("0 0 29 2 */6", "2032-03-01", ["2048-02-29", "2060-02-29"]),
            ("0 0 29 2 */6", "2088-03-01", ["2116-02-29"]),
        ],
    )
    def test_days(self, text: str, after: str, expected: list[str]):
        found = fires(text, "UTC", f"{after}T00:00:00+00:00", len(expected))
        assert [fire[:10] for fire in found] == expected

    def test_nothing_is_found_beyond_the_calendar(self):
        cron = cron_of("* * * * *")
        assert next_fire(cron, UTC, 10**18) is None
        assert next_fires(cron, UTC, 10**18, 3) == []
        assert next_fire(cron, UTC, -(10**18)) is not None


GOLDEN = [
    # Berlin, 29 March 2026: 02:00 becomes 03:00
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
    ),
    (
        "0,15,30,45 2 * * *",
        "Europe/Berlin",
        "2026-03-29T01:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"],
    ),
    (
        "30 2,3 * * *",
        "Europe/Berlin",
        "2026-03-29T01:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"],
    ),
    (
        "0 2,3 * * *",
        "Europe/Berlin",
        "2026-03-29T01:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"],
    ),
    (
        "59 1 * * *",
        "Europe/Berlin",
        "2026-03-29T01:00:00+01:00",
        ["2026-03-29T01:59:00+01:00", "2026-03-30T01:59:00+02:00"],
    ),
    (
        "0 3 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T03:00:00+02:00"],
    ),
    ("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00", ["2026-03-30T02:00:00+02:00"]),
    (
        "30 * * * *",
        "Europe/Berlin",
        "2026-03-29T00:30:00+01:00",
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"],
    ),
    (
        "*/20 * * * *",
        "Europe/Berlin",
        "2026-03-29T01:20:00+01:00",
        ["2026-03-29T01:40:00+01:00", "2026-03-29T03:00:00+02:00"],
    ),
    ("0 */2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00", ["2026-03-29T04:00:00+02:00"]),
    (
        "30 2 * * 0",
        "Europe/Berlin",
        "2026-03-28T12:00:00+01:00",
        ["2026-03-29T03:00:00+02:00", "2026-04-05T02:30:00+02:00"],
    ),
    ("30 2 * * 1", "Europe/Berlin", "2026-03-28T12:00:00+01:00", ["2026-03-30T02:30:00+02:00"]),
    # Berlin, 25 October 2026: 03:00 becomes 02:00
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00+02:00",
        ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
    ),
    ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:45:00+02:00", ["2026-10-26T02:30:00+01:00"]),
    ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:15:00+01:00", ["2026-10-26T02:30:00+01:00"]),
    (
        "0,30 2-3 * * *",
        "Europe/Berlin",
        "2026-10-25T02:30:00+02:00",
        ["2026-10-25T03:00:00+01:00", "2026-10-25T03:30:00+01:00", "2026-10-26T02:00:00+01:00"],
    ),
    (
        "*/30 2 * * *",
        "Europe/Berlin",
        "2026-10-25T02:00:00+02:00",
        [
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-26T02:00:00+01:00",
        ],
    ),
    (
        "0 */2 * * *",
        "Europe/Berlin",
        "2026-10-25T00:00:00+02:00",
        ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T04:00:00+01:00"],
    ),
    # New York, 8 March and 1 November 2026
    (
        "0 2 * * *",
        "America/New_York",
        "2026-03-07T12:00:00-05:00",
        ["2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"],
    ),
    (
        "30 1 * * *",
        "America/New_York",
        "2026-10-31T12:00:00-04:00",
        ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"],
    ),
    (
        "*/30 1 * * *",
        "America/New_York",
        "2026-11-01T00:00:00-04:00",
        [
            "2026-11-01T01:00:00-04:00",
            "2026-11-01T01:30:00-04:00",
            "2026-11-01T01:00:00-05:00",
            "2026-11-01T01:30:00-05:00",
        ],
    ),
    # Dublin, whose winter is the exception: 25 October and 29 March
    (
        "30 1 * * *",
        "Europe/Dublin",
        "2026-10-24T12:00:00+01:00",
        ["2026-10-25T01:30:00+01:00", "2026-10-26T01:30:00+00:00"],
    ),
    (
        "30 1 * * *",
        "Europe/Dublin",
        "2026-03-28T12:00:00+00:00",
        ["2026-03-29T02:00:00+01:00", "2026-03-30T01:30:00+01:00"],
    ),
    (
        "*/30 1 * * *",
        "Europe/Dublin",
        "2026-10-25T01:30:00+01:00",
        ["2026-10-25T01:00:00+00:00", "2026-10-25T01:30:00+00:00"],
    ),
    # Casablanca leaves summer time for Ramadan: 15 February and 22 March 2026
    (
        "30 2 * * *",
        "Africa/Casablanca",
        "2026-02-14T12:00:00+01:00",
        ["2026-02-15T02:30:00+01:00", "2026-02-16T02:30:00+00:00"],
    ),
    (
        "30 2 * * *",
        "Africa/Casablanca",
        "2026-03-21T12:00:00+00:00",
        ["2026-03-22T03:00:00+01:00", "2026-03-23T02:30:00+01:00"],
    ),
    # Lord Howe shifts by half an hour: 5 April and 4 October 2026
    (
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T12:00:00+10:30",
        ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"],
    ),
    (
        "*/15 * * * *",
        "Australia/Lord_Howe",
        "2026-10-04T01:30:00+10:30",
        ["2026-10-04T01:45:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-04T02:45:00+11:00"],
    ),
    (
        "*/15 * * * *",
        "Australia/Lord_Howe",
        "2026-04-05T01:30:00+11:00",
        [
            "2026-04-05T01:45:00+11:00",
            "2026-04-05T01:30:00+10:30",
            "2026-04-05T01:45:00+10:30",
            "2026-04-05T02:00:00+10:30",
        ],
    ),
    (
        "30 1,2 * * *",
        "Australia/Lord_Howe",
        "2026-04-04T12:00:00+11:00",
        ["2026-04-05T01:30:00+11:00", "2026-04-05T02:30:00+10:30"],
    ),
    # Chatham changes at a quarter to: 27 September 2026, 02:45 becomes 03:45
    (
        "0 3 * * *",
        "Pacific/Chatham",
        "2026-09-26T12:00:00+12:45",
        ["2026-09-27T03:45:00+13:45", "2026-09-28T03:00:00+13:45"],
    ),
    (
        "0 * * * *",
        "Pacific/Chatham",
        "2026-09-27T01:30:00+12:45",
        ["2026-09-27T02:00:00+12:45", "2026-09-27T04:00:00+13:45"],
    ),
    # Havana changes at midnight: 8 March 2026 (00:00 to 01:00), 2 November 2025 (01:00 to 00:00)
    (
        "0 0 * * *",
        "America/Havana",
        "2026-03-07T12:00:00-05:00",
        ["2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"],
    ),
    ("*/30 0 * * *", "America/Havana", "2026-03-07T12:00:00-05:00", ["2026-03-09T00:00:00-04:00"]),
    (
        "0 0 8 3 *",
        "America/Havana",
        "2026-01-01T00:00:00-05:00",
        ["2026-03-08T01:00:00-04:00", "2027-03-08T00:00:00-04:00"],
    ),
    (
        "30 0 * * *",
        "America/Havana",
        "2025-11-01T12:00:00-04:00",
        ["2025-11-02T00:30:00-04:00", "2025-11-03T00:30:00-05:00"],
    ),
    # Sao Paulo went back over midnight: 17 February 2019, 00:00 became 23:00 of the 16th
    (
        "30 23 * * *",
        "America/Sao_Paulo",
        "2019-02-16T12:00:00-02:00",
        ["2019-02-16T23:30:00-02:00", "2019-02-17T23:30:00-03:00"],
    ),
    (
        "30 * * * 6",
        "America/Sao_Paulo",
        "2019-02-16T22:30:00-02:00",
        ["2019-02-16T23:30:00-02:00", "2019-02-16T23:30:00-03:00", "2019-02-23T00:30:00-03:00"],
    ),
    ("0 0 * * *", "America/Sao_Paulo", "2019-02-16T12:00:00-02:00", ["2019-02-17T00:00:00-03:00"]),
    # St John's went back a minute after midnight: 7 November 2010, 00:01 became 23:01 of the 6th
    (
        "0 0 * * *",
        "America/St_Johns",
        "2010-11-06T12:00:00-02:30",
        ["2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"],
    ),
    (
        "0 * * * *",
        "America/St_Johns",
        "2010-11-06T22:30:00-02:30",
        [
            "2010-11-06T23:00:00-02:30",
            "2010-11-07T00:00:00-02:30",
            "2010-11-07T00:00:00-03:30",
            "2010-11-07T01:00:00-03:30",
        ],
    ),
    # whole days that never were: Apia 30 December 2011, Kwajalein 21 August 1993
    (
        "0 9 30 12 *",
        "Pacific/Apia",
        "2011-12-01T00:00:00-10:00",
        ["2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00"],
    ),
    (
        "0 0 * * *",
        "Pacific/Apia",
        "2011-12-29T12:00:00-10:00",
        ["2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"],
    ),
    (
        "0 9,21 * * 5",
        "Pacific/Apia",
        "2011-12-29T12:00:00-10:00",
        ["2011-12-31T00:00:00+14:00", "2012-01-06T09:00:00+14:00"],
    ),
    (
        "0 * * * *",
        "Pacific/Apia",
        "2011-12-29T22:30:00-10:00",
        ["2011-12-29T23:00:00-10:00", "2011-12-31T00:00:00+14:00"],
    ),
    (
        "0 9 * * *",
        "Pacific/Kwajalein",
        "1993-08-20T10:00:00-12:00",
        ["1993-08-22T00:00:00+12:00", "1993-08-22T09:00:00+12:00"],
    ),
    # a day that came twice: Kwajalein, 30 September 1969 (23 hours back at midnight)
    (
        "0 9 * * *",
        "Pacific/Kwajalein",
        "1969-09-29T12:00:00+11:00",
        ["1969-09-30T09:00:00+11:00", "1969-10-01T09:00:00-12:00"],
    ),
    (
        "0 */12 * * *",
        "Pacific/Kwajalein",
        "1969-09-30T06:00:00+11:00",
        ["1969-09-30T12:00:00+11:00", "1969-09-30T12:00:00-12:00", "1969-10-01T00:00:00-12:00"],
    ),
    # local mean time, with seconds
    (
        "0 0 1 12 *",
        "Europe/London",
        "1847-01-01T00:00:00+00:00",
        ["1847-12-01T00:01:15+00:00", "1848-12-01T00:00:00+00:00"],
    ),
    ("0 12 * * *", "Europe/Paris", "1900-01-01T00:00:00+00:00", ["1900-01-01T12:00:00+00:09:21"]),
    (
        "30 0 * * *",
        "Africa/Monrovia",
        "1972-01-06T12:00:00-00:44:30",
        ["1972-01-07T00:44:30+00:00", "1972-01-08T00:30:00+00:00"],
    ),
    # far ahead, by the rule at the end of the zone's data
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2099-03-28T12:00:00+01:00",
        ["2099-03-29T03:00:00+02:00", "2099-03-30T02:30:00+02:00"],
    ),
]


class TestClockChanges:
    @pytest.mark.parametrize(("text", "zone", "after", "expected"), GOLDEN)
    def test_golden(self, text: str, zone: str, after: str, expected: list[str]):
        assert fires(text, zone, after, len(expected)) == expected

    @pytest.mark.parametrize(("text", "zone", "after", "expected"), GOLDEN)
    def test_the_latest_fire_is_the_last_of_the_same_ones(
        self, text: str, zone: str, after: str, expected: list[str]
    ):
        for n, fire in enumerate(expected):
            latest = latest_fire(cron_of(text), zone_of(zone), ms(after), ms(fire))
            assert latest == Latest(ms(fire), n)


class TestNeverFires:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("0 0 30 2 *", "day of month: 30 never comes in February"),
            ("0 0 31 2 *", "day of month: 31 never comes in February"),
            ("0 0 30-31 2 *", "day of month: 30-31 never comes in February"),
            ("0 0 31 4,6 *", "day of month: 31 never comes in April, June"),
            ("0 0 31 2,4,6,9,11 *", "February, April, June, September, November"),
            ("0 0 30 2 */2", "day of month: 30 never comes in February"),
            ("* * 31 SEP *", "day of month: 31 never comes in September"),
        ],
    )
    def test_impossible_dates_are_refused(self, text: str, says: str):
        refused = check(cron_of(text), UTC, NOW)
        assert isinstance(refused, Refused)
        assert refused.code is Code.NEVER_FIRES
        assert says in refused.detail

    @pytest.mark.parametrize(
        "text",
        [
            "0 0 29 2 *",
            "0 0 31 2 1",
            "0 0 30 2,4 *",
            "0 0 31,L 2 *",
            "0 0 29 2 */6",
            "30 2 29 3 *",
            "0 0 31 * *",
        ],
    )
    def test_rare_dates_are_not(self, text: str):
        assert check(cron_of(text), zone_of("Europe/Berlin"), NOW) is None

    @pytest.mark.parametrize("text", ["0 0 29 2 */2", "0 0 29 2 */5", "0 0 29 2 */6"])
    def test_the_rarest_rows_of_the_dialect_are_found_from_any_year(self, text: str):
        # One weekday alone would mean "or"; */5 is Sunday and Friday, and both must match.
        cron = cron_of(text)
        for year in range(2000, 2800, 4):
            assert next_fire(cron, UTC, ms(f"{year}-03-01T00:00:00+00:00")) is not None


class TestLatestFire:
    def test_nothing_in_the_interval(self):
        cron = cron_of("0 9 * * *")
        at = ms("2026-05-05T09:00:00+00:00")
        assert latest_fire(cron, UTC, at, at) is None
        assert latest_fire(cron, UTC, at, at + DAY_MS - 1) is None
        assert latest_fire(cron, UTC, at, at - DAY_MS) is None

    def test_open_at_the_start_and_closed_at_the_end(self):
        cron = cron_of("0 9 * * *")
        at = ms("2026-05-05T09:00:00+00:00")
        assert latest_fire(cron, UTC, at - 1, at) == Latest(at, 0)
        assert latest_fire(cron, UTC, at, at + DAY_MS) == Latest(at + DAY_MS, 0)
        assert latest_fire(cron, UTC, at - 1, at + DAY_MS) == Latest(at + DAY_MS, 1)

    def test_folds_at_most_the_cap(self):
        cron = cron_of("* * * * *")
        for n, coalesced in [
            (1, 0),
            (2, 1),
            (1000, 999),
            (1001, 1000),
            (1002, 1000),
            (10**6, 1000),
        ]:
            latest = latest_fire(cron, UTC, NOW - n * MINUTE_MS, NOW)
            assert latest == Latest(NOW, coalesced)
        assert latest_fire(cron, UTC, NOW - DAY_MS, NOW, cap=0) == Latest(NOW, 0)

    def test_folds_times_in_one_gap_into_one_fire(self):
        cron, zone = cron_of("0,30 2 * * *"), zone_of("Europe/Berlin")
        after, upto = ms("2026-03-28T12:00:00+01:00"), ms("2026-03-29T12:00:00+02:00")
        assert latest_fire(cron, zone, after, upto) == Latest(ms("2026-03-29T03:00:00+02:00"), 0)

    def test_a_base_far_off_the_calendar_still_answers(self):
        assert latest_fire(cron_of("0 0 1 1 *"), UTC, -(10**18), NOW) == Latest(
            ms("2026-01-01T00:00:00+00:00"), 1000
        )
        assert latest_fire(cron_of("0 0 30 2 *"), UTC, -(10**18), 10**18) is None


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[[], int]]:
    """Count the calls of one function of the module: ``counted("_days")()`` is how many so far."""

    def count(name: str) -> Callable[[], int]:
        calls = 0
        real = getattr(module, name)

        def spy(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            return real(*args)

        monkeypatch.setattr(module, name, spy)
        next_fire.cache_clear()
        return lambda: calls

    return count


class TestBoundOnWork:
    """Work is counted in months and spans looked at, not in seconds."""

    @pytest.mark.parametrize("text", ["0 0 30 2 *", "* * 31 2,4,6,9,11 *", "0 0 30 2 */2"])
    def test_an_impossible_date_is_seen_in_41_years_of_months(
        self, text: str, counted: Callable[[str], Callable[[], int]]
    ):
        months, spans = counted("_days"), counted("stretches")
        assert check(cron_of(text), zone_of("Europe/Berlin"), NOW) is not None
        assert months() <= 2 * 41 * 12 + 10
        assert spans() <= 2

    def test_29_february_across_2100_steps_over_what_lies_between(
        self, counted: Callable[[str], Callable[[], int]]
    ):
        months, spans = counted("_days"), counted("stretches")
        assert next_fire(cron_of("0 0 29 2 *"), UTC, ms("2096-03-01T00:00:00+00:00")) is not None
        assert months() <= 2 * 8 * 12 + 10
        assert spans() <= 4

    def test_an_every_minute_row_that_slept_a_year_costs_a_few_days(
        self, counted: Callable[[str], Callable[[], int]]
    ):
        days, spans = counted("_days"), counted("stretches")
        latest = latest_fire(cron_of("* * * * *"), UTC, NOW - 366 * DAY_MS, NOW)
        assert latest == Latest(NOW, 1000)
        assert days() <= 20
        assert spans() <= 2

    def test_a_daily_row_that_slept_since_1970_costs_about_the_cap(
        self, counted: Callable[[str], Callable[[], int]]
    ):
        days = counted("_days")
        latest = latest_fire(cron_of("0 9 * * *"), UTC, 0, NOW)
        assert latest == Latest(ms("2026-11-30T09:00:00+00:00"), 1000)
        assert days() <= 1500

    def test_a_rare_row_that_slept_since_1970_steps_over_empty_years(
        self, counted: Callable[[str], Callable[[], int]]
    ):
        spans = counted("stretches")
        latest = latest_fire(cron_of("0 0 29 2 *"), UTC, 0, NOW)
        assert latest == Latest(ms("2024-02-29T00:00:00+00:00"), 13)
        assert spans() <= 3 * 14 + 2

    def test_the_next_fire_is_remembered(self, counted: Callable[[str], Callable[[], int]]):
        spans = counted("stretches")
        cron = cron_of("0 9 * * *")
        first = next_fire(cron, UTC, NOW)
        before = spans()
        assert next_fire(cron, UTC, NOW) == first
        assert spans() == before
