"""Builders for the tests of schedules: moments as people write them, and random expressions."""

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from bot.schedules.cron import parse, parse_zone
from bot.schedules.expression import Cron

MINUTE_MS = 60_000
DAY_MS = 86_400_000


def cron_of(text: str) -> Cron:
    cron = parse(text)
    assert isinstance(cron, Cron), cron
    return cron


def zone_of(name: str) -> ZoneInfo:
    zone = parse_zone(name)
    assert isinstance(zone, ZoneInfo), zone
    return zone


def ms(text: str) -> int:
    """ISO 8601 with an offset, as epoch milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def iso(at_ms: int, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(at_ms / 1000, zone).isoformat()


def _item(low: int, high: int, size: int) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    pair = st.tuples(value, value).map(sorted)
    step = st.integers(1, size - 1)
    return st.one_of(
        value.map(str),
        pair.map(lambda p: f"{p[0]}-{p[1]}"),
        # Not a range of one value with a step: cronsim reads 5-5/10 as 5/10.
        st.tuples(pair.filter(lambda p: p[0] < p[1]), step).map(
            lambda t: f"{t[0][0]}-{t[0][1]}/{t[1]}"
        ),
        step.map(lambda n: f"*/{n}"),
        # Not in the week: cronsim runs 1/2 on to 7, which is Sunday again.
        st.tuples(value, step).map(lambda t: f"{t[0]}/{t[1]}") if high != 7 else st.just("*"),
    )


def _field(low: int, high: int, size: int) -> st.SearchStrategy[str]:
    items = st.lists(_item(low, high, size), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), _item(low, high, size), items)


MINUTES = _field(0, 59, 60)
HOURS = _field(0, 23, 24)
DAYS = st.one_of(_field(1, 31, 31), st.sampled_from(["L", "15,L", "31,L", "*", "*"]))
MONTHS = st.one_of(_field(1, 12, 12), st.just("*"), st.sampled_from(["2", "MAR,oct", "JAN-JUN"]))
WEEKDAYS = st.one_of(_field(0, 7, 7), st.just("*"), st.sampled_from(["mon-fri", "SUN", "7"]))

EXPRESSIONS = st.tuples(MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS).map(" ".join)
"""Any expression of the dialect; some of them never fire."""

NO_STAR = {"minute": MINUTES, "hour": HOURS}
FIXED = st.tuples(
    *(field.filter(lambda text: not text.startswith("*")) for field in NO_STAR.values()),
    DAYS,
    MONTHS,
    WEEKDAYS,
).map(" ".join)
"""Expressions that name times of day, so that clock changes are made up for."""

FREQUENT = st.tuples(MINUTES, HOURS, st.just("*"), st.just("*"), st.just("*")).map(" ".join)
"""Expressions that fire every day, so that a clock change is sure to meet one."""
