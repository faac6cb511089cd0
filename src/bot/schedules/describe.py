"""A cron expression in one plain English sentence (contract §3, Add).

The sentence is made from the values that match, not from how they were written, so ``*/15``
and ``0,15,30,45`` read alike. It says "or" where either day field suffices, and "and only if"
where both must match.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from bot.schedules.expression import MONTH_NAMES, Cron

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONDAY_TO_FRIDAY = 0b0111110
_WHOLE_WEEK = 0b1111111
_ALL_DAYS = (1 << 32) - 2
_ALL_MONTHS = (1 << 13) - 2


def describe(cron: Cron, zone_name: str) -> str:
    """Say when a row fires, in one line: "at 09:00 every weekday (Europe/Berlin)".

    True of every accepted expression, also of one that can never fire, and never raises.
    """
    time, through_the_day = _time(cron)
    days = _days(cron)
    if through_the_day:
        days = days.removeprefix("every day").strip()
    return f"{time} {days}".rstrip() + f" ({zone_name})"


def _time(cron: Cron) -> tuple[str, bool]:
    """The times of day, and whether they run through all of it."""
    minutes, hours = _values(cron.minutes, 60), _values(cron.hours, 24)
    every = _every_minutes(minutes)
    if len(minutes) * len(hours) <= (4 if every else 6):
        times = [f"{hour:02}:{minute:02}" for hour in hours for minute in minutes]
        return f"at {_join(times)}", False
    if len(hours) == 24:
        if every or minutes == [0]:
            return every or "every hour, on the hour", True
        return f"at {_minutes(minutes)} of every hour", True
    start, end, step = hours[0], hours[-1], _step(hours)
    if every and (step == 1 or len(hours) == 1):
        return f"{every} from {start:02}:00 to {end:02}:59", False
    if len(minutes) == 1 and step:
        often = "every hour" if step == 1 else f"every {step} hours"
        return f"{often} from {start:02}:{minutes[0]:02} to {end:02}:{minutes[0]:02}", False
    if every:
        return f"{every} in {_hours(hours)}", False
    return f"at {_minutes(minutes)} of {_hours(hours)}", False


def _every_minutes(minutes: list[int]) -> str | None:
    """ "every N minutes", where that is true from one hour to the next."""
    step = 60 // len(minutes)
    if step == 60 or minutes != list(range(0, 60, step)):
        return None
    return "every minute" if step == 1 else f"every {step} minutes"


def _minutes(minutes: Sequence[int]) -> str:
    if (step := _step(minutes)) and step > 1:
        return f"every {_ordinal(step)} minute from {minutes[0]} to {minutes[-1]}"
    return f"minute{'s' if len(minutes) > 1 else ''} {_join(_runs(minutes))}"


def _hours(hours: Sequence[int]) -> str:
    if (step := _step(hours)) and step > 1:
        return f"every {_ordinal(step)} hour from {hours[0]:02} to {hours[-1]:02}"
    return f"the hour{'s' if len(hours) > 1 else ''} {_join(_runs(hours, '{:02}'.format))}"


def _days(cron: Cron) -> str:
    """The days: by date, by weekday, by either or by both."""
    months = "" if cron.months == _ALL_MONTHS else _months(cron.months)
    in_months = f" in {months}" if months else ""
    all_dates = cron.days == _ALL_DAYS
    all_weekdays = cron.weekdays == _WHOLE_WEEK
    if (all_dates and all_weekdays) or (cron.either and (all_dates or all_weekdays)):
        return f"every day{in_months}"
    if all_dates:
        return f"every {_weekdays(cron.weekdays, 'and')}{in_months}"
    if all_weekdays:
        return f"on {_dates(cron, months)}"
    joint = "or on any" if cron.either else "and only if that day is a"
    days = f"on {_dates(cron, '')} {joint} {_weekdays(cron.weekdays, 'or')}"
    # The comma tells that the months bind both halves.
    return f"{days},{in_months}" if months else days


def _dates(cron: Cron, months: str) -> str:
    """The days of the month, with the months that they are of ("" for every month)."""
    days = _values(cron.days, 32)
    parts: list[str] = []
    if (step := _step(days)) and step > 1:
        first, last = _ordinal(days[0]), _ordinal(days[-1])
        parts.append(f"every {_ordinal(step)} day from the {first} to the {last}")
    elif days:
        parts.append(f"the {_join(_runs(days, _ordinal))}")
    if cron.last_day:
        parts.append("the last day" if months else "the last day of the month")
    return " and on ".join(parts) + (f" of {months}" if months else "")


def _weekdays(bits: int, word: str) -> str:
    if bits == _MONDAY_TO_FRIDAY:
        return "weekday"
    # The week is read from Monday on.
    names = [_WEEKDAYS[day % 7] for day in range(1, 8) if bits >> day % 7 & 1]
    return _join(names, word)


def _months(bits: int) -> str:
    return _join(_runs(_values(bits, 13), MONTH_NAMES.__getitem__))


def _values(bits: int, size: int) -> list[int]:
    return [value for value in range(size) if bits >> value & 1]


def _step(values: Sequence[int]) -> int | None:
    """The common distance of the values, if that says more than to list them."""
    steps = {b - a for a, b in pairwise(values)}
    if len(steps) != 1:
        return None
    (step,) = steps
    return step if step == 1 or len(values) >= 5 else None


def _runs(values: Sequence[int], word: Callable[[int], str] = str) -> list[str]:
    """Values in words, three or more in a row as "a to b"."""
    words: list[str] = []
    at = 0
    while at < len(values):
        end = at
        while end + 1 < len(values) and values[end + 1] == values[end] + 1:
            end += 1
        if end - at >= 2:
            words.append(f"{word(values[at])} to {word(values[end])}")
        else:
            words += [word(value) for value in values[at : end + 1]]
        at = end + 1
    return words


def _join(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _ordinal(n: int) -> str:
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"
