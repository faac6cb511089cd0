"""Time zones: which names are known, and what a zone's clocks do (contract §3, Zones.).

Real time is cut into stretches, each with one offset from UTC. That is all the rest of the
house needs to know about clock changes.
"""

import difflib
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

from bot.words import Code, Refused

MAX_LENGTH = 64
DAY = 86_400

# Seconds of real time that are looked at together, with the day before them. No two changes
# of one zone in the tzdata lie that near to each other (the nearest are 6.96 days apart; a
# test holds it), so equal offsets at both ends mean that nothing changed in between.
SPAN = 5 * DAY

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Stretch(NamedTuple):
    """Real time from ``start`` to before ``end`` (epoch seconds) with one offset.

    ``offset`` is seconds east of UTC, so the local clock runs from ``start + offset`` to
    ``end + offset``. ``reached`` is the furthest that it had come before: less than
    ``start + offset`` when clocks went forward at ``start`` (the readings between do not
    exist), more when they went back (the readings between come a second time), and the same
    where nothing changed.
    """

    start: int
    end: int
    offset: int
    reached: int


def parse_zone(name: str) -> ZoneInfo | Refused:
    """Find an IANA zone by its exact name in the bundled tzdata.

    The name is looked up in the list that tzdata ships, and never becomes a path unless it
    stands there. The machine's own zones are not used.

    Returns:
        The zone (the same object each time), or ``Refused`` with ``bad_zone`` and a near name.
    """
    if len(name) > MAX_LENGTH:
        return Refused(Code.BAD_ZONE, f"zone: {name[:40]!r}... is too long to be a zone's name.")
    return _load(name) if name in _names() else Refused(Code.BAD_ZONE, _advice(name))


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


@lru_cache(maxsize=256)
def _load(name: str) -> ZoneInfo:
    path = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with path.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _advice(name: str) -> str:
    """Why a name is no zone, and what to write instead."""
    wanted = name.strip().casefold().replace(" ", "_")
    by_folded = {known.casefold(): known for known in sorted(_names())}
    by_city = {known.rpartition("/")[2]: known for known in by_folded}
    near = by_folded.get(wanted) or by_folded.get(by_city.get(wanted, ""))
    if near is None and wanted[:3] in ("utc", "gmt"):
        return f"zone: {name!r} is an offset, not a zone: name a place, such as Europe/Berlin."
    if near is None and "/" in wanted:
        close = difflib.get_close_matches(wanted, by_folded, n=1, cutoff=0.75)
        near = by_folded[close[0]] if close else None
    if near is None:
        return f"zone: {name!r} is no IANA time zone: write one such as Europe/Berlin or UTC."
    return f"zone: {name!r} is no IANA time zone. Did you mean {near}?"


def offset_at(zone: ZoneInfo, second: int) -> int:
    """Seconds east of UTC that the zone's clocks show at an epoch second."""
    # Not fromtimestamp(): it stops at 2038 where C's time_t has 32 bits.
    offset = (_EPOCH + timedelta(seconds=second)).astimezone(zone).utcoffset()
    assert offset is not None
    return offset.days * DAY + offset.seconds


@lru_cache(maxsize=2048)
def stretches(zone: ZoneInfo, index: int) -> tuple[Stretch, ...]:
    """The one or two stretches of the ``index``-th span of real time since 1970."""
    start, end = index * SPAN, (index + 1) * SPAN
    early, late = start - DAY - 1, end - 1
    before, after = offset_at(zone, early), offset_at(zone, late)
    if before == after:
        return (Stretch(start, end, after, start + after),)
    change = _change(zone, early, late)
    if change < start:
        # Of a change in the day before, what it repeats may still be running.
        return (Stretch(start, end, after, max(change + before, start + after)),)
    last = Stretch(change, end, after, change + before)
    if change == start:
        return (last,)
    return (Stretch(start, change, before, start + before), last)


def _change(zone: ZoneInfo, low: int, high: int) -> int:
    """The first second in ``(low, high]`` that has the offset of ``high``, by bisection."""
    before = offset_at(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        if offset_at(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high
