"""Tick statistics: one row a tick, kept for 31 days. Pure over ``Sql``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from bot.objects import Sql
from bot.ports import Json, TickRecord
from schedule_do.firings import DAY_MS, MAX_PLACE

MINUTE_MS = 60 * 1000
KEEP_MS = 31 * DAY_MS

MIGRATION: Sequence[str] = (
    """CREATE TABLE ticks (
         number INTEGER PRIMARY KEY,
         at INTEGER NOT NULL,
         ms INTEGER NOT NULL,
         due INTEGER NOT NULL,
         claimed INTEGER NOT NULL,
         lost INTEGER NOT NULL,
         started INTEGER NOT NULL,
         errors INTEGER NOT NULL
       ) STRICT""",
    "CREATE INDEX ticks_by_time ON ticks (at, ms)",
)


class Ticks:
    """What each tick did. Times are epoch milliseconds, durations milliseconds."""

    def __init__(self, sql: Sql):
        self._sql = sql
        self._summed_up: tuple[Any, Json] = (None, None)

    def record(self, tick: TickRecord) -> None:
        """Keep one tick's figures, and drop those that are over their time."""
        self._sql.exec(
            """INSERT INTO ticks (at, ms, due, claimed, lost, started, errors)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            *astuple(tick),
        )
        self._sql.exec("DELETE FROM ticks WHERE at < ?", tick.at - KEEP_MS)

    def strip(self, since_ms: int, bucket_ms: int) -> list[list[int]]:
        """``[bucket, count]`` of the ticks since ``since_ms``; buckets count from there.

        A bucket that is not there had no tick: the bot was down, or nobody called it.
        """
        # An object's storage binds every number as a real one, hence the CAST.
        rows = self._sql.exec(
            """SELECT CAST((at - ?) / ? AS INTEGER) AS bucket, COUNT(*) AS n FROM ticks
               WHERE at >= ? GROUP BY 1 ORDER BY 1""",
            since_ms,
            bucket_ms,
            since_ms,
        )
        return [[row["bucket"], row["n"]] for row in rows]

    def history(self, limit: int, before_ms: int) -> list[TickRecord]:
        """At most ``limit`` ticks, the one recorded last first; see ``HistoryStore.history``."""
        rows = self._sql.exec(
            f"""WITH page AS (SELECT MIN(number) AS number FROM ticks WHERE at = ?)
                SELECT at, ms, due, claimed, lost, started, errors FROM ticks
                WHERE number < COALESCE((SELECT number FROM page), {MAX_PLACE})
                  AND ((SELECT number FROM page) IS NOT NULL OR at < ?)
                ORDER BY number DESC LIMIT ?""",
            before_ms,
            before_ms,
            limit,
        )
        return [TickRecord(**row) for row in rows]

    def last(self) -> Json:
        """``{at, ms}`` of the tick recorded last, or None."""
        rows = self._sql.exec("SELECT at, ms FROM ticks ORDER BY number DESC LIMIT 1")
        return dict(rows[0]) if rows else None

    def spreads(self, now_ms: int) -> Json:
        """``{h24, d30}``: the spread of the last day and of the last 30 days.

        A month is 43,200 rows to read and anybody may ask, so an answer is kept until the next
        tick is recorded or the next minute begins.
        """
        newest = self._sql.exec("SELECT MAX(number) AS number FROM ticks")[0]["number"]
        state = (newest, now_ms // MINUTE_MS)
        if self._summed_up[0] != state:
            summary = {
                "h24": self.spread(now_ms - DAY_MS, now_ms),
                "d30": self.spread(now_ms - 30 * DAY_MS, now_ms),
            }
            self._summed_up = (state, summary)
        return self._summed_up[1]

    def spread(self, since_ms: int, until_ms: int) -> Json:
        """``{count, p50, p95}`` of the durations of ticks after ``since_ms``, up to ``until_ms``.

        Percentiles are by nearest rank, None where there was no tick.
        """
        rows = self._sql.exec(
            "SELECT ms, COUNT(*) AS n FROM ticks WHERE at > ? AND at <= ? GROUP BY ms ORDER BY ms",
            since_ms,
            until_ms,
        )
        counts = [(row["ms"], row["n"]) for row in rows]
        return {
            "count": sum(n for _, n in counts),
            "p50": percentile(counts, 50),
            "p95": percentile(counts, 95),
        }


def percentile(counts: Sequence[tuple[int, int]], percent: int) -> int | None:
    """The nearest-rank percentile of values in rising order, each with how often it comes."""
    total = sum(n for _, n in counts)
    nearest_rank = -(-total * percent // 100)
    seen = 0
    for value, n in counts:
        seen += n
        if seen >= nearest_rank:
            return value
    return None
