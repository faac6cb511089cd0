"""croniter as a second oracle: the same fires for the same rows, in UTC where zones say nothing.

croniter accepts more than the contract and reads some of it otherwise, so rows are given to it
with every field written out as plain numbers and the star rule decided by us.
"""

from __future__ import annotations

from datetime import UTC, datetime

from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.schedules.cron import next_fire, parse, parse_zone
from bot.words import Refused
from tests.unit.builders import ms

FIRST, LAST = ms("2024-01-01T00:00:00+00:00"), ms("2031-01-01T00:00:00+00:00")
FIELDS = ((0, 59), (0, 23), (1, 28), (1, 12), (0, 6))


@st.composite
def fields(draw: st.DrawFn) -> list[str]:
    """Five fields, each a star or a list of numbers."""
    written: list[str] = []
    for low, high in FIELDS:
        numbers = draw(st.lists(st.integers(low, high), max_size=4, unique=True))
        written.append(",".join(map(str, sorted(numbers))) or "*")
    return written


@settings(deadline=None, max_examples=300, derandomize=True)
@given(fields(), st.integers(FIRST, LAST))
def test_the_next_three_fires_are_croniters(written: list[str], start_ms: int):
    text = " ".join(written)
    cron, zone = parse(text), parse_zone("UTC")
    assert not isinstance(cron, Refused)
    assert not isinstance(zone, Refused)
    theirs = croniter(text, datetime.fromtimestamp(start_ms // 1000, UTC))
    at_ms: int | None = start_ms // 1000 * 1000
    for _ in range(3):
        assert at_ms is not None
        at_ms = next_fire(cron, zone, at_ms)
        assert at_ms == int(theirs.get_next(float) * 1000)
