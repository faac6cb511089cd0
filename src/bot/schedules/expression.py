"""The cron dialect: what is accepted, what is refused by name (contract §3, Cron.).

An expression is five fields. Each becomes a set of values, kept as the bits of an int:
bit 9 of ``hours`` says that the row fires in hour 9. Nothing here knows a date or a zone.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from bot.words import Code, Refused

# Every value of every field, written out with two digits each, takes 420 characters.
MAX_LENGTH = 500

# By their number: there is no month 0.
MONTH_NAMES = (
    "",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class _Field(NamedTuple):
    """One of the five places: its values, and the names that some of them have."""

    name: str
    low: int
    high: int
    size: int
    names: dict[str, int]


_FIELDS = (
    _Field("minute", 0, 59, 60, {}),
    _Field("hour", 0, 23, 24, {}),
    _Field("day of month", 1, 31, 31, {}),
    _Field("month", 1, 12, 12, {MONTH_NAMES[i][:3].upper(): i for i in range(1, 13)}),
    # 7 is written for Sunday too, so the range is one longer than the week.
    _Field("day of week", 0, 7, 7, {name: i for i, name in enumerate(_WEEKDAYS)}),
)
_DAY_OF_MONTH = _FIELDS[2]
_SHAPE = "minute, hour, day of month, month, day of week"


@dataclass(frozen=True, slots=True)
class Cron:
    """An accepted expression. Two are equal when their source texts are.

    Attributes:
        source: the text as it was given.
        fields: the five fields in capitals, for ``describe`` and for comparing.
        minutes, hours, days, months, weekdays: the values of each field, as bits
            (days and months count from 1, Sunday is bit 0 of ``weekdays``).
        last_day: ``L`` stands in day of month.
        either: day of month and day of week are both restricted, so either one suffices.
            Otherwise both must match. A field that starts with ``*`` is not restricted.
        fixed: neither minute nor hour starts with ``*``: the row names times of day, and
            fires once for each of them whatever the clocks do. Otherwise it follows real time.
    """

    source: str
    fields: tuple[str, ...] = field(compare=False)
    minutes: int = field(compare=False)
    hours: int = field(compare=False)
    days: int = field(compare=False)
    months: int = field(compare=False)
    weekdays: int = field(compare=False)
    last_day: bool = field(compare=False)
    either: bool = field(compare=False)
    fixed: bool = field(compare=False)


class _Bad(Exception):
    """Carries one refusal from the depth of the parser to ``parse``."""


def parse(text: str) -> Cron | Refused:
    """Read an expression, or say what is wrong with it.

    Work is bounded: a text over 500 characters is refused unread.

    Returns:
        The ``Cron``, or ``Refused`` with ``bad_cron`` and a sentence that names the field.
        Whether it can ever fire is another question: see ``bot.schedules.cron.check``.
    """
    if len(text) > MAX_LENGTH:
        return Refused(
            Code.BAD_CRON,
            f"The cron is {len(text)} characters long: write five fields ({_SHAPE}) "
            f"in at most {MAX_LENGTH} characters.",
        )
    return _parse(text)


@lru_cache(maxsize=512)
def _parse(text: str) -> Cron | Refused:
    try:
        fields = _split(text)
        minutes, hours, days, months, weekdays = (
            _values(kind, part) for kind, part in zip(_FIELDS, fields, strict=True)
        )
    except _Bad as bad:
        return Refused(Code.BAD_CRON, str(bad))
    minute, hour, day, _, weekday = fields
    return Cron(
        source=text,
        fields=fields,
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=(weekdays | weekdays >> 7) & 0b1111111,
        last_day="L" in day.split(","),
        either=not (day.startswith("*") or weekday.startswith("*")),
        fixed=not (minute.startswith("*") or hour.startswith("*")),
    )


def _split(text: str) -> tuple[str, ...]:
    """Cut into five fields at ASCII blanks, in capitals."""
    text = text.strip(" \t")
    if text.startswith("@"):
        raise _Bad(f"Aliases such as {text[:40]!r} are not known: write five fields ({_SHAPE}).")
    fields = re.split("[ \t]+", text) if text else []
    places = [kind.name for kind in _FIELDS] if len(fields) == 5 else ["cron"] * len(fields)
    for place, part in zip(places, fields, strict=True):
        # Before upper(): some letters beyond ASCII have an ASCII capital.
        odd = next((char for char in part if not char.isascii()), None)
        if odd is not None:
            raise _Bad(
                f"{place}: {odd!r} (U+{ord(odd):04X}) is not ASCII: "
                "write plain digits, letters and spaces."
            )
    if len(fields) != 5:
        raise _Bad(
            f"A cron has exactly five fields, no seconds and no year ({_SHAPE}): "
            f"this has {len(fields)}."
        )
    return tuple(part.upper() for part in fields)


def _values(kind: _Field, text: str) -> int:
    """The bits of one field: a list of items, each one a set of values."""
    bits = 0
    for item in text.split(","):
        if not item:
            raise _Bad(f"{kind.name}: {text[:40]!r} has an empty list item: drop the comma.")
        if item != "L" or kind is not _DAY_OF_MONTH:
            for value in _item(kind, item):
                bits |= 1 << value
    return bits


def _item(kind: _Field, item: str) -> range:
    """The values of ``*``, ``a``, ``a-b``, and of each of them with ``/step``."""
    base, slash, step_text = item.partition("/")
    step = _step(kind, item, step_text) if slash else 1
    # The week ends on Saturday for a star or an open step: 7 is only a way to write Sunday.
    end = kind.low + kind.size - 1
    if base == "*":
        return range(kind.low, end + 1, step)
    if not base:
        raise _Bad(f"{kind.name}: nothing stands before the step in {item[:40]!r}: write *{item}.")
    first, dash, last = base.partition("-")
    low = _value(kind, item, first)
    if dash:
        high = _value(kind, item, last)
        if high < low:
            raise _Bad(
                f"{kind.name}: the range {base[:40]!r} runs backwards, and nothing wraps: "
                f"write {_unwrapped(kind, low, high)}."
            )
        return range(low, high + 1, step)
    return range(low, max(low, end) + 1, step) if slash else range(low, low + 1)


def _unwrapped(kind: _Field, low: int, high: int) -> str:
    """A range that runs backwards, as the two that were meant."""
    words = {value: name for name, value in kind.names.items()}
    end = kind.low + kind.size - 1
    parts = [(low, end), (kind.low, high)] if low <= end else [(kind.low, high)]
    return ",".join(
        str(words.get(a, a)) if a == b else f"{words.get(a, a)}-{words.get(b, b)}" for a, b in parts
    )


def _step(kind: _Field, item: str, text: str) -> int:
    """A step: at least 1 and smaller than the field, since a larger one would never step."""
    if not text.isdigit():
        raise _Bad(f"{kind.name}: the step in {item[:40]!r} is not a whole number.")
    if len(text) > 4 or not 0 < int(text) < kind.size:
        raise _Bad(
            f"{kind.name}: the step in {item[:40]!r} is out of range: "
            f"use 1 to {kind.size - 1}, or a list of values."
        )
    return int(text)


def _value(kind: _Field, item: str, text: str) -> int:
    """One value: a number within the field, or one of its names."""
    if text in kind.names:
        return kind.names[text]
    if not text.isdigit():
        raise _Bad(f"{kind.name}: {_complaint(kind, item, text)}")
    # The length first: a number of a thousand digits is not even read.
    if len(text) > 4 or not kind.low <= int(text) <= kind.high:
        raise _Bad(f"{kind.name}: {text[:40]!r} is out of range: use {kind.low} to {kind.high}.")
    return int(text)


def _complaint(kind: _Field, item: str, text: str) -> str:
    """Say what a token that is neither number nor name was meant to be, and what to do."""
    if "?" in item:
        return "'?' is not known: write *."
    if "#" in item:
        return f"{item[:40]!r}: the nth weekday (#) is not known: name the weekday alone."
    if re.fullmatch(r"(\d+|L)?W\d*", text):
        return f"{item[:40]!r}: the nearest weekday (W) is not known: name the day itself."
    if re.match(r"H\b", text):
        return f"{item[:40]!r}: H is not known: choose a value from {kind.low} to {kind.high}."
    if re.fullmatch(r"\d*L", text):
        return f"{item[:40]!r}: L is the last day of the month, alone or in a list of day of month."
    if text[:1] in ("", "+", "-"):
        return f"{item[:40]!r}: a value is missing or has a sign: use {kind.low} to {kind.high}."
    if kind.names:
        name = next(iter(kind.names))
        return f"{text[:40]!r} is neither a number nor a name of three letters such as {name}."
    return f"{text[:40]!r} is not a whole number: use {kind.low} to {kind.high}."
