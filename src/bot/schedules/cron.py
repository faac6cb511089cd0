"""When a row fires (contract §3, Cron., Zones. and Due.).

Two steps, kept apart. ``_first``, ``_last`` and ``_count`` know the calendar and no zone:
they speak of *wall* time, the reading of a local clock as seconds since its own 1 January
1970. ``next_fire`` and ``latest_fire`` lay these readings over real time, stretch by stretch
of one offset. Months without a matching day and spans without a matching time are stepped
over, so the work is bounded whatever the expression.
"""

from calendar import isleap
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.schedules.expression import MONTH_NAMES, Cron, parse
from bot.schedules.zones import DAY, SPAN, Stretch, parse_zone, stretches
from bot.words import Code, Refused

__all__ = [
    "Cron",
    "Latest",
    "check",
    "latest_fire",
    "next_fire",
    "next_fires",
    "parse",
    "parse_zone",
]

FOLD_CAP = 1000

# The rarest row, 29 February on a given weekday, can be 40 years off across a year like 2100.
_HORIZON_MONTHS = 12 * 41

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EARLIEST = (date(2, 1, 1).toordinal() - _EPOCH_DAY) * DAY
_LATEST = (date(9900, 1, 1).toordinal() - _EPOCH_DAY) * DAY

# A set of weekdays times this is the same set six weeks on end.
_SIX_WEEKS = sum(1 << 7 * week for week in range(6))

_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Latest:
    """The fire that a claim takes (epoch ms), and how many earlier ones are folded into it."""

    at_ms: int
    coalesced: int


def check(cron: Cron, zone: ZoneInfo, now_ms: int) -> Refused | None:
    """Refuse an expression that can never fire; None is a good one (contract §3, Add).

    Looks at 41 years of months at most, so it takes well under a millisecond.
    """
    if next_fire(cron, zone, now_ms) is not None:
        return None
    months = [MONTH_NAMES[month] for month in range(1, 13) if cron.months >> month & 1]
    return Refused(
        Code.NEVER_FIRES,
        f"day of month: {cron.fields[2][:40]} never comes in {', '.join(months)}: "
        "choose a day that the month has, or L for its last day.",
    )


@lru_cache(maxsize=4096)
def next_fire(cron: Cron, zone: ZoneInfo, after_ms: int) -> int | None:
    """The first fire strictly after ``after_ms``, both in epoch milliseconds.

    A row with fixed times fires once for a time that the clocks skip, right after the gap,
    and once for a time that they repeat, the first time. Any other row follows real time.

    Returns:
        None when nothing fires within 41 years, or before the year 9900.
    """
    second = max(after_ms // 1000 + 1, _EARLIEST)
    index = second // SPAN
    while index * SPAN < _LATEST:
        for stretch in stretches(zone, index):
            if stretch.end <= second:
                continue
            if second <= stretch.start and _fires_after_gap(cron, stretch):
                return stretch.start * 1000
            wall = _first(cron, _wall(cron, stretch, max(second, stretch.start)))
            if wall is not None and wall < stretch.end + stretch.offset:
                return (wall - stretch.offset) * 1000
        # A local clock is less than a day off UTC, and no change moves it by more than one.
        # So nothing that is still to come reads less than this, or comes later than that.
        wall = _first(cron, (index + 1) * SPAN - DAY)
        if wall is None:
            return None
        index = max(index + 1, (wall - 2 * DAY) // SPAN)
    return None


def next_fires(cron: Cron, zone: ZoneInfo, after_ms: int, n: int) -> list[int]:
    """The next ``n`` fires strictly after ``after_ms``, or as many as there are (epoch ms)."""
    fires: list[int] = []
    while len(fires) < n and (fire := next_fire(cron, zone, after_ms)) is not None:
        fires.append(fire)
        after_ms = fire
    return fires


def latest_fire(
    cron: Cron, zone: ZoneInfo, after_ms: int, upto_ms: int, cap: int = FOLD_CAP
) -> Latest | None:
    """The latest fire in ``(after_ms, upto_ms]`` and how many earlier ones lie there.

    It steps back day by day and stops once ``cap`` earlier ones are counted, so the work grows
    with the days that fired, at most ``cap`` of them, and not with the minutes that passed
    (contract §3, Due.).

    Returns:
        None when nothing fires there: the row is not due.
    """
    low = max(after_ms // 1000 + 1, _EARLIEST)
    high = min(upto_ms // 1000 + 1, _LATEST)
    at: int | None = None
    fires = 0
    index = (high - 1) // SPAN
    while fires <= cap and index >= low // SPAN:
        for stretch in reversed(stretches(zone, index)):
            start, end = max(low, stretch.start), min(high, stretch.end)
            if start >= end:
                continue
            bottom, top = _wall(cron, stretch, start), end + stretch.offset
            if here := _count(cron, bottom, top):
                wall = _last(cron, top, bottom) if at is None else None
                at = at if wall is None else wall - stretch.offset
                fires += here
            if start == stretch.start and _fires_after_gap(cron, stretch):
                at = start if at is None else at
                fires += 1
        # The mirror of the step forward in next_fire.
        wall = _last(cron, index * SPAN + DAY, low - DAY)
        if wall is None:
            break
        index = min(index - 1, (wall + 2 * DAY) // SPAN)
    return None if at is None else Latest(at * 1000, min(fires - 1, cap))


def _wall(cron: Cron, stretch: Stretch, second: int) -> int:
    """The earliest reading that may still fire at ``second``: a fixed time, not a second time."""
    wall = second + stretch.offset
    return max(wall, stretch.reached) if cron.fixed else wall


def _fires_after_gap(cron: Cron, stretch: Stretch) -> bool:
    """Whether skipped times make a fixed row fire at the stretch's start, where none is due."""
    wall = stretch.start + stretch.offset
    if not cron.fixed or stretch.reached >= wall:
        return False
    skipped = _first(cron, stretch.reached)
    return skipped is not None and skipped < wall and _first(cron, wall) != wall


def _first(cron: Cron, wall: int) -> int | None:
    """The first matching reading at or after ``wall``, within 41 years."""
    day, second = divmod(wall, DAY)
    today = date.fromordinal(_EPOCH_DAY + day)
    year, month = today.year, today.month
    days = _days(cron, year, month)
    if days >> today.day & 1:
        minute = _first_minute(cron, -(-second // 60))
        if minute is not None:
            return day * DAY + minute * 60
    days = days >> today.day + 1 << today.day + 1
    for _ in range(_HORIZON_MONTHS):
        if days:
            midnight = date(year, month, _lowest(days)).toordinal() - _EPOCH_DAY
            return midnight * DAY + (_lowest(cron.hours) * 60 + _lowest(cron.minutes)) * 60
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        days = _days(cron, year, month)
    return None


def _last(cron: Cron, wall: int, floor: int) -> int | None:
    """The last matching reading before ``wall`` and at or after ``floor``."""
    day, second = divmod(wall, DAY)
    today = date.fromordinal(_EPOCH_DAY + day)
    year, month = today.year, today.month
    days = _days(cron, year, month)
    found: int | None = None
    if days >> today.day & 1:
        minute = _last_minute(cron, -(-second // 60))
        found = None if minute is None else day * DAY + minute * 60
    days &= (1 << today.day) - 1
    bottom = date.fromordinal(_EPOCH_DAY + floor // DAY)
    while found is None and (year, month) >= (bottom.year, bottom.month):
        if days:
            midnight = date(year, month, _highest(days)).toordinal() - _EPOCH_DAY
            found = midnight * DAY + (_highest(cron.hours) * 60 + _highest(cron.minutes)) * 60
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
        days = _days(cron, year, month)
    return found if found is not None and found >= floor else None


def _count(cron: Cron, low: int, high: int) -> int:
    """How many matching readings lie in ``[low, high)``, a few days at most."""
    total = 0
    for day in range(low // DAY, -(-high // DAY)):
        today = date.fromordinal(_EPOCH_DAY + day)
        if _days(cron, today.year, today.month) >> today.day & 1:
            midnight = day * DAY
            total += _minutes_before(cron, min(high - midnight, DAY))
            total -= _minutes_before(cron, max(low - midnight, 0))
    return total


def _days(cron: Cron, year: int, month: int) -> int:
    """The matching days of a month, as bits from 1."""
    if not cron.months >> month & 1:
        return 0
    length = 29 if month == 2 and isleap(year) else _MONTH_LENGTHS[month - 1]
    first_weekday = date(year, month, 1).isoweekday() % 7
    # Bit 1 is the month's first day.
    by_week = cron.weekdays * _SIX_WEEKS >> first_weekday << 1
    by_date = cron.days | cron.last_day << length
    days = by_date | by_week if cron.either else by_date & by_week
    return days & (2 << length) - 1


def _first_minute(cron: Cron, minute: int) -> int | None:
    """The first matching minute of the day (0 to 1439) at or after ``minute``."""
    hour, rest = divmod(minute, 60)
    if cron.hours >> hour & 1 and (minutes := cron.minutes >> rest):
        return minute + _lowest(minutes)
    hours = cron.hours >> hour + 1
    return (hour + 1 + _lowest(hours)) * 60 + _lowest(cron.minutes) if hours else None


def _last_minute(cron: Cron, minute: int) -> int | None:
    """The last matching minute of the day before ``minute``."""
    hour, rest = divmod(minute, 60)
    if cron.hours >> hour & 1 and (minutes := cron.minutes & (1 << rest) - 1):
        return hour * 60 + _highest(minutes)
    hours = cron.hours & (1 << hour) - 1
    return _highest(hours) * 60 + _highest(cron.minutes) if hours else None


def _minutes_before(cron: Cron, second: int) -> int:
    """How many matching minutes of the day begin before ``second`` of it."""
    hour, rest = divmod(-(-second // 60), 60)
    whole = (cron.hours & (1 << hour) - 1).bit_count() * cron.minutes.bit_count()
    return whole + (cron.hours >> hour & 1) * (cron.minutes & (1 << rest) - 1).bit_count()


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _highest(bits: int) -> int:
    return bits.bit_length() - 1
