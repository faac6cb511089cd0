"""When a job fires: read strictly, said plainly, and computed. Pure (contract §7).

A recurring job fires every N minutes or hours, phase-locked to its creation, or every day at
a UTC time. A one-shot fires once. All instants are epoch milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.times import iso
from bot.words import Code, Refused

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
MAX_DAYS = 366
MAX_MINUTES = MAX_DAYS * 24 * 60

_INTERVAL = re.compile(r"\*/([0-9]{1,20})([mh])", re.ASCII)
_DAILY = re.compile(r"daily@([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_UNITS = {"m": ("minute", 1), "h": ("hour", 60)}
FORMS = "Write */Nm (every N minutes), */Nh (every N hours) or daily@HH:MM (UTC)."


@dataclass(frozen=True, slots=True)
class Interval:
    """Every ``count`` minutes (``m``) or hours (``h``), counted from the job's creation."""

    count: int
    unit: str

    @property
    def period_ms(self) -> int:
        """How long one interval is."""
        return self.count * _UNITS[self.unit][1] * MINUTE_MS

    @property
    def text(self) -> str:
        """As it is stored, ``*/30m``."""
        return f"*/{self.count}{self.unit}"

    def after(self, base: int, created_at: int) -> int:
        """The first instant strictly after ``base``."""
        return created_at + ((base - created_at) // self.period_ms + 1) * self.period_ms

    def upto(self, now_ms: int, created_at: int) -> int:
        """The last instant that is not after ``now_ms``."""
        return created_at + (now_ms - created_at) // self.period_ms * self.period_ms


@dataclass(frozen=True, slots=True)
class Daily:
    """Every day at one minute of the UTC day, 0 to 1439."""

    minute: int

    @property
    def clock(self) -> str:
        """The time of day, ``09:00``."""
        return f"{self.minute // 60:02}:{self.minute % 60:02}"

    @property
    def text(self) -> str:
        """As it is stored, ``daily@09:00``."""
        return f"daily@{self.clock}"

    def after(self, base: int, created_at: int) -> int:
        """The first instant strictly after ``base``."""
        return self.upto(base, created_at) + DAY_MS

    def upto(self, now_ms: int, created_at: int) -> int:
        """The last instant that is not after ``now_ms``. A day of epoch time has no gaps."""
        offset = self.minute * MINUTE_MS
        return (now_ms - offset) // DAY_MS * DAY_MS + offset


@dataclass(frozen=True, slots=True)
class Once:
    """Once, at ``run_at``."""

    run_at: int


Recurring = Interval | Daily
Spec = Interval | Daily | Once


def parse_schedule(value: object) -> Recurring | Refused:
    """Read ``*/Nm``, ``*/Nh`` or ``daily@HH:MM``; ``bad_time`` says what is wrong with others."""
    if not isinstance(value, str):
        return _bad_time(f"schedule is a text, not {value!r:.40}. {FORMS}")
    daily = _DAILY.fullmatch(value)
    if daily:
        return Daily(int(daily[1]) * 60 + int(daily[2]))
    interval = _INTERVAL.fullmatch(value)
    if interval is None:
        if value.startswith("daily@"):
            return _bad_time(
                f"{value[6:46]!r} is not a time of day. Write two digits each, 00:00 to 23:59, "
                "such as daily@09:00 (UTC)."
            )
        return _bad_time(f"{value[:40]!r} is not a job's schedule. {FORMS}")
    digits, unit = interval.groups()
    if digits.startswith("0"):
        return _bad_time(
            f"{value[:40]!r} is refused: N is a number from 1, without a leading zero. Every 0 "
            "minutes would never fire and hold a place for ever."
        )
    if int(digits) * _UNITS[unit][1] > MAX_MINUTES:
        return _bad_time(f"{value[:40]!r} is refused: an interval is at most {MAX_DAYS} days.")
    return Interval(int(digits), unit)


def parse_minutes(value: object, now_ms: int) -> Once | Refused:
    """Read ``run_in_minutes``: a whole number of minutes from ``now_ms``, at least one.

    JSON tells 5 from 5.0 and means the same; a truth value is no number in it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _bad_time(f"run_in_minutes is a number, not {value!r:.40}.")
    if isinstance(value, float) and not value.is_integer():
        return _bad_time(f"run_in_minutes is {value}; it takes whole minutes.")
    if not 1 <= value <= MAX_MINUTES:
        shown = value if abs(value) < 10**15 else f"{float(value):g}"
        return _bad_time(
            f"run_in_minutes is {shown}; it takes 1 to {MAX_MINUTES} ({MAX_DAYS} days)."
        )
    return Once(now_ms + int(value) * MINUTE_MS)


def parse_when(schedule: object, run_in_minutes: object, now_ms: int) -> Spec | Refused:
    """Read the one time that a job is given; both or neither is ``bad_time``. None is absent."""
    if (schedule is None) == (run_in_minutes is None):
        which = "not both" if schedule is not None else "one of them"
        return _bad_time(
            f"A job has a schedule (recurring) or run_in_minutes (once): give {which}. {FORMS}"
        )
    if schedule is not None:
        return parse_schedule(schedule)
    return parse_minutes(run_in_minutes, now_ms)


def describe(spec: Spec) -> str:
    """When it fires, in plain English: ``every 30 minutes``, ``every day at 09:00 UTC``."""
    if isinstance(spec, Once):
        return f"once, at {iso(spec.run_at)}"
    if isinstance(spec, Daily):
        return f"every day at {spec.clock} UTC"
    word = _UNITS[spec.unit][0]
    return f"every {word}" if spec.count == 1 else f"every {spec.count} {word}s"


def _bad_time(detail: str) -> Refused:
    return Refused(Code.BAD_TIME, detail)
