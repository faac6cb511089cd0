"""What is due: rows and a clock reading in, decisions out. Pure (contract §3, Due)."""

from __future__ import annotations

from dataclasses import dataclass

from bot.schedules.cron import latest_fire, next_fire
from bot.schedules.row import Row

MINUTE_MS = 60_000
MAX_COALESCED = 1_000
SKEW_MS = MINUTE_MS
"""How far ahead a row's base may lie before the clock that wrote it was plainly wrong."""


@dataclass(frozen=True, slots=True)
class Due:
    """The row fires for ``due_at``, the latest due minute; ``coalesced`` earlier ones fold in."""

    row: Row
    due_at: int
    coalesced: int
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Stale:
    """The latest due minute is older than the row's window: advance past it without a run."""

    row: Row
    due_at: int
    coalesced: int
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """The row's base lies in the future, and nothing is due: set the base to now."""

    row: Row


Decision = Due | Stale | Repair


def decide(row: Row, now_ms: int) -> Decision | None:
    """What one row asks of a tick at ``now_ms`` (epoch milliseconds); None is nothing.

    The base is ``lastFiredAt`` or, before the first firing, ``createdAt``. A base more than a
    minute ahead was written under a wrong clock: the current minute then still counts, so
    the row is not silenced, and the run id of a minute that did run keeps it from running twice.
    """
    stored = row.stored
    if not stored.enabled:
        return None
    base = stored.created_at if stored.last_fired_at is None else stored.last_fired_at
    repaired = base > now_ms + SKEW_MS
    if repaired:
        base = now_ms - now_ms % MINUTE_MS - 1
    following = next_fire(row.cron, row.zone, base)
    if following is None or following > now_ms:
        return Repair(row) if repaired else None
    latest = latest_fire(row.cron, row.zone, base, now_ms, cap=MAX_COALESCED)
    assert latest is not None, "a fire lies in the interval"
    kind = Due
    if row.window_ms is not None and now_ms - latest.at_ms > row.window_ms:
        kind = Stale
    return kind(row, latest.at_ms, latest.coalesced, repaired)
