"""Random expressions against two independent readings: cronsim, and a walk minute by minute."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bot.schedules.cron import check, latest_fire, next_fire, next_fires
from bot.schedules.expression import Cron
from bot.schedules.zones import SPAN, offset_at, stretches
from tests.unit.schedules.crons import (
    DAY_MS,
    EXPRESSIONS,
    FIXED,
    FREQUENT,
    MINUTE_MS,
    cron_of,
    iso,
    ms,
    zone_of,
)

# Clocks that change by whole hours, on the hour, away from midnight.
PLAIN = [
    "Africa/Casablanca",
    "America/New_York",
    "Antarctica/Troll",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "UTC",
]
# Half an hour, a quarter past, at midnight, over midnight, a whole day.
ODD = [
    "America/Havana",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kwajalein",
]
FIRST, LAST = ms("1985-01-01T00:00:00+00:00"), ms("2045-01-01T00:00:00+00:00")


def changes(name: str) -> list[int]:
    """The clock changes of a zone in the tested years, in epoch seconds."""
    zone = zone_of(name)
    spans = range(FIRST // 1000 // SPAN, LAST // 1000 // SPAN)
    found = [s for index in spans for s in stretches(zone, index)]
    return [s.start for s in found if s.reached != s.start + s.offset]


CHANGES = {name: changes(name) for name in PLAIN + ODD}


@st.composite
def moments(draw: st.DrawFn, names: list[str]) -> tuple[ZoneInfo, int]:
    """A zone and a moment (epoch ms, on the second), mostly within days of a clock change."""
    name = draw(st.sampled_from(names))
    if CHANGES[name] and draw(st.integers(0, 4)):
        near = draw(st.sampled_from(CHANGES[name]))
        shift = draw(st.one_of(st.integers(-180, 180), st.integers(-4000, 1500)))
        return zone_of(name), (near + shift * 60 + draw(st.sampled_from([0, 0, 29]))) * 1000
    return zone_of(name), draw(st.integers(FIRST // 1000, LAST // 1000)) * 1000


def in_overlap(zone: ZoneInfo, at_ms: int) -> bool:
    local = datetime.fromtimestamp(at_ms / 1000, zone).replace(fold=0)
    return local.utcoffset() != local.replace(fold=1).utcoffset()


class TestCronsim:
    """cronsim 2.8, walked forward.

    Left out, each for a difference that is known and wanted:

    - steps as large as the field, which cronsim reads and the contract refuses;
    - ``a/n`` in day of week, which cronsim runs on to 7, Sunday again;
    - a range of one value with a step, ``5-5/10``, which cronsim reads as ``5/10``
      (these three are left out by the builders in ``crons``);
    - a start inside an overlap: cronsim drops which of the two readings it was given;
    - rows with a star where clocks change by half hours, off the hour or at midnight: cronsim
      sets local fields to zero there, and lands in the gap or steps over a fire.
    """

    @staticmethod
    def agree(text: str, zone: ZoneInfo, after_ms: int, n: int = 6) -> None:
        cron = cron_of(text)
        assume(not in_overlap(zone, after_ms))
        try:
            sim = CronSim(text, datetime.fromtimestamp(after_ms / 1000, zone))
            expected = [iso(ms(next(sim).isoformat()), zone) for _ in range(n)]
        except (CronSimError, StopIteration):
            assert check(cron, zone, after_ms) is not None
            return
        assert [iso(fire, zone) for fire in next_fires(cron, zone, after_ms, n)] == expected

    @given(EXPRESSIONS, moments(PLAIN))
    @settings(deadline=None, derandomize=True, max_examples=500)
    def test_any_row_in_plain_zones(self, text: str, moment: tuple[ZoneInfo, int]):
        self.agree(text, *moment, n=3)

    @given(FREQUENT, moments(PLAIN))
    @settings(deadline=None, derandomize=True, max_examples=500)
    def test_daily_rows_over_plain_changes(self, text: str, moment: tuple[ZoneInfo, int]):
        self.agree(text, *moment)

    @given(FIXED, moments(ODD))
    @settings(deadline=None, derandomize=True, max_examples=500)
    def test_fixed_rows_over_odd_changes(self, text: str, moment: tuple[ZoneInfo, int]):
        self.agree(text, *moment)


def matches(cron: Cron, sim: CronSim, wall: datetime) -> bool:
    """Whether a local reading matches, by cronsim's sets and not by ours."""
    return (
        wall.minute in sim.minutes
        and wall.hour in sim.hours
        and wall.month in sim.months
        and sim.match_day(date(wall.year, wall.month, wall.day))
    )


def walked(text: str, zone: ZoneInfo, after_ms: int, upto_ms: int) -> list[int]:
    """Every fire in ``(after_ms, upto_ms]``, by the contract's words, one minute at a time.

    A row with fixed times fires when the local clock first reaches one of them, or has just
    been put past it. Any other row fires when the clock reads one of its times.
    """
    cron, sim = cron_of(text), CronSim(text, datetime(2000, 1, 1))
    epoch = datetime(1970, 1, 1)
    lead = DAY_MS + MINUTE_MS  # an overlap repeats readings of a day before, at most
    start = (after_ms - lead) // MINUTE_MS * 60
    reached = start + offset_at(zone, start) - 60
    fires: list[int] = []
    for second in range(start, upto_ms // 1000 + 1, 60):
        wall = second + offset_at(zone, second)
        readings = range(reached + 60, wall + 1, 60) if cron.fixed else [wall]
        reached = max(reached, wall)
        hit = any(matches(cron, sim, epoch + timedelta(seconds=reading)) for reading in readings)
        if hit and second * 1000 > after_ms:
            fires.append(second * 1000)
    return fires


def fires_within(cron: Cron, zone: ZoneInfo, after_ms: int, upto_ms: int) -> list[int]:
    fires: list[int] = []
    fire = next_fire(cron, zone, after_ms)
    while fire is not None and fire <= upto_ms:
        assert fire > after_ms
        fires.append(fire)
        after_ms = fire
        fire = next_fire(cron, zone, after_ms)
    return fires


class TestWalk:
    """Next is strictly after, next matches, nothing between matches: all in one comparison."""

    @given(st.one_of(FREQUENT, FREQUENT, EXPRESSIONS), moments(PLAIN + ODD), st.integers(1, 1600))
    @settings(deadline=None, derandomize=True, max_examples=300)
    def test_the_same_fires_and_the_same_latest(
        self, text: str, moment: tuple[ZoneInfo, int], minutes: int
    ):
        zone, after_ms = moment
        upto_ms = after_ms + minutes * MINUTE_MS
        cron = cron_of(text)
        try:
            expected = walked(text, zone, after_ms, upto_ms)
        except CronSimError:
            assert check(cron, zone, after_ms) is not None
            return
        assert fires_within(cron, zone, after_ms, upto_ms) == expected
        latest = latest_fire(cron, zone, after_ms, upto_ms, cap=2000)
        found = None if latest is None else (latest.at_ms, latest.coalesced)
        assert found == ((expected[-1], len(expected) - 1) if expected else None)

    @given(EXPRESSIONS, moments(PLAIN + ODD), st.integers(0, 900), st.integers(0, 40))
    @settings(deadline=None, derandomize=True, max_examples=500)
    def test_the_latest_of_many_days_is_that_of_repeated_next(
        self, text: str, moment: tuple[ZoneInfo, int], days: int, cap: int
    ):
        zone, after_ms = moment
        cron = cron_of(text)
        nexts = next_fires(cron, zone, after_ms, 300)
        upto_ms = after_ms + days * DAY_MS
        if len(nexts) == 300:
            upto_ms = min(upto_ms, nexts[-1])
        fires = [fire for fire in nexts if fire <= upto_ms]
        latest = latest_fire(cron, zone, after_ms, upto_ms, cap)
        found = None if latest is None else (latest.at_ms, latest.coalesced)
        assert found == ((fires[-1], min(len(fires) - 1, cap)) if fires else None)
