"""The firing history: one row a firing, keyed by its run id. Pure over ``Sql``.

A due minute of a row has one firing, whichever record of it comes first; presses by hand have
one each. Kept for 90 days, and the last 200 of each schedule for good.

Firings stand in the order in which they were first recorded. The times that they bear are a
clock's, and a clock that ran ahead would make its firings the newest for good.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from bot.objects import Sql, dump
from bot.ports import Firing
from bot.words import State, Trigger
from schedule_do.merge import merge

DAY_MS = 24 * 60 * 60 * 1000
KEEP_MS = 90 * DAY_MS
KEEP_AT_LEAST = 200
PRUNE_SLACK_MS = DAY_MS
"""How much a schedule's history may be over its time before it is pruned, all at once."""
STARTING_MS = 30_000
"""Contract §3, States: a claim without a run is ``starting`` for that long."""
MAX_LIMIT = 200
FOREVER_MS = 10**15
MAX_PLACE = 2**63 - 1

MIGRATION: Sequence[str] = (
    """CREATE TABLE firings (
         key TEXT PRIMARY KEY,
         name TEXT NOT NULL,
         row_id TEXT NOT NULL,
         due_at INTEGER,
         claimed_at INTEGER NOT NULL,
         trigger TEXT NOT NULL,
         by TEXT,
         state TEXT NOT NULL,
         code TEXT,
         run_id TEXT,
         delivery TEXT,
         coalesced INTEGER NOT NULL
       ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX firings_by_name ON firings (name, claimed_at DESC, key DESC)",
    """CREATE UNIQUE INDEX firings_once ON firings (row_id, due_at)
       WHERE trigger <> 'hand' AND due_at IS NOT NULL""",
    """CREATE INDEX firings_without_run ON firings (claimed_at)
       WHERE trigger = 'refire' OR state IN ('starting', 'claimed_not_started')""",
)

IN_ORDER: Sequence[str] = (
    "ALTER TABLE firings RENAME TO unordered",
    """CREATE TABLE firings (
         number INTEGER PRIMARY KEY,
         key TEXT NOT NULL UNIQUE,
         name TEXT NOT NULL,
         row_id TEXT NOT NULL,
         due_at INTEGER,
         claimed_at INTEGER NOT NULL,
         trigger TEXT NOT NULL,
         by TEXT,
         state TEXT NOT NULL,
         code TEXT,
         run_id TEXT,
         delivery TEXT,
         coalesced INTEGER NOT NULL
       ) STRICT""",
    """INSERT INTO firings (key, name, row_id, due_at, claimed_at, trigger, by, state, code,
                            run_id, delivery, coalesced)
       SELECT key, name, row_id, due_at, claimed_at, trigger, by, state, code,
              run_id, delivery, coalesced
       FROM unordered ORDER BY claimed_at, key""",
    "DROP TABLE unordered",
    # An index ends with the number by itself.
    "CREATE INDEX firings_by_name ON firings (name)",
    "CREATE INDEX firings_by_row ON firings (row_id)",
    "CREATE INDEX firings_by_time ON firings (name, claimed_at)",
    """CREATE UNIQUE INDEX firings_once ON firings (row_id, due_at)
       WHERE trigger <> 'hand' AND due_at IS NOT NULL""",
    """CREATE INDEX firings_without_run ON firings (claimed_at)
       WHERE trigger = 'refire' OR state IN ('starting', 'claimed_not_started')""",
)

# Names by hopping along the index: costs by names, not by firings.
_EVERY_NAME = """RECURSIVE asked (name) AS (
  SELECT MIN(name) FROM firings
  UNION ALL
  SELECT (SELECT MIN(name) FROM firings WHERE name > asked.name)
  FROM asked WHERE asked.name IS NOT NULL
)"""
_COLUMNS = tuple(field.name for field in fields(Firing))
_LIST = ", ".join(_COLUMNS)


class Firings:
    """The firings of every schedule, stored and catalog alike. Times are epoch milliseconds."""

    def __init__(self, sql: Sql):
        self._sql = sql

    def record(self, firings: Sequence[Firing]) -> None:
        """Insert or advance firings (see ``merge``), all or none."""
        if firings:
            self._sql.transaction(lambda: self._record(firings))

    def _record(self, firings: Sequence[Firing]) -> None:
        known = {_identity(firing): firing for firing in self._known(firings)}
        keys = {firing.key: identity for identity, firing in known.items()}
        for told in firings:
            identity = keys.get(told.key, _identity(told))
            before = known.get(identity)
            after = told if before is None else merge(before, told)
            known[identity] = after
            keys[after.key] = identity
        # One statement and one parameter for all rows, whatever their number. What is known
        # keeps its place; what one call brings that is new stands in the order of its claims.
        self._sql.exec(
            f"""INSERT OR REPLACE INTO firings (number, {_LIST})
                SELECT (SELECT number FROM firings WHERE key = value ->> 0),
                       {", ".join(f"value ->> {place}" for place in range(len(_COLUMNS)))}
                FROM json_each(?)""",
            dump([astuple(each) for each in sorted(known.values(), key=_claimed_at)]),
        )
        self._prune({firing.name for firing in firings}, max(f.claimed_at for f in firings))

    def _known(self, firings: Sequence[Firing]) -> list[Firing]:
        """What is stored of them, under their keys or as the same due minute of the same row."""
        return self._select(
            """WITH told AS (
                 SELECT value ->> 0 AS key, value ->> 1 AS row_id, value ->> 2 AS due_at,
                        value ->> 3 AS trigger
                 FROM json_each(?)
               )
               SELECT * FROM firings WHERE key IN (SELECT key FROM told)
               UNION
               SELECT firings.* FROM told JOIN firings
                 ON firings.row_id = told.row_id AND firings.due_at = told.due_at
                AND firings.trigger <> 'hand' AND firings.due_at IS NOT NULL
               WHERE told.trigger <> 'hand'""",
            dump([(each.key, each.row_id, each.due_at, each.trigger) for each in firings]),
        )

    def _prune(self, names: set[str], now_ms: int) -> None:
        """Drop what is over its time, of schedules whose oldest firing is well over it."""
        self._sql.exec(
            """WITH floors AS MATERIALIZED (
                 SELECT asked.value AS name,
                        (SELECT number FROM firings WHERE name = asked.value
                         ORDER BY number DESC LIMIT 1 OFFSET ?) AS number
                 FROM json_each(?) AS asked
                 WHERE EXISTS (SELECT 1 FROM firings WHERE name = asked.value AND claimed_at < ?)
               )
               DELETE FROM firings WHERE key IN (
                 SELECT firings.key FROM floors JOIN firings
                   ON firings.name = floors.name AND firings.claimed_at < ?
                  AND firings.number < floors.number
               )""",
            KEEP_AT_LEAST - 1,
            dump(sorted(names)),
            now_ms - KEEP_MS - PRUNE_SLACK_MS,
            now_ms - KEEP_MS,
        )

    def latest(self, claims: Mapping[str, str | None]) -> dict[str, Firing]:
        """The last firing of each row by row id, see ``HistoryStore.latest``.

        Costs by rows and by the presses by hand since their claims, not by firings.
        """
        found = self._select(
            """WITH asked AS (
                 SELECT value ->> 0 AS row_id, value ->> 1 AS claim FROM json_each(?)
               )
               SELECT firings.* FROM asked JOIN firings ON firings.number = (
                 SELECT number FROM firings WHERE row_id = asked.row_id
                    AND (asked.claim IS NULL OR key = asked.claim OR trigger = 'hand')
                 ORDER BY number DESC LIMIT 1
               )
               WHERE asked.claim IS NULL OR EXISTS (SELECT 1 FROM firings WHERE key = asked.claim)
            """,
            dump(list(claims.items())),
        )
        return {firing.row_id: firing for firing in found}

    def history(
        self, name: str, limit: int, before_ms: int | None = None, row_id: str | None = None
    ) -> list[Firing]:
        """At most ``limit`` firings of a name or a row, see ``HistoryStore.history``."""
        before_ms = FOREVER_MS if before_ms is None else before_ms
        return self._select(
            f"""WITH page AS (
                  SELECT MIN(number) AS number FROM firings
                  WHERE name = ? AND claimed_at = ? AND row_id = COALESCE(?, row_id)
                )
                SELECT * FROM firings WHERE {"name" if row_id is None else "row_id"} = ?
                  AND number < COALESCE((SELECT number FROM page), {MAX_PLACE})
                  AND ((SELECT number FROM page) IS NOT NULL OR claimed_at < ?)
                ORDER BY number DESC LIMIT ?""",
            name,
            before_ms,
            row_id,
            name if row_id is None else row_id,
            before_ms,
            limit,
        )

    def strips(self, since_ms: int, bucket_ms: int) -> dict[str, list[list[Any]]]:
        """The firings claimed since ``since_ms``, counted by name, bucket and state.

        Each name has ``[bucket, state, count, folded]`` in the order of buckets, which count from
        ``since_ms``; ``folded`` is how many minutes were folded into those firings. Costs by the
        firings of that time.
        """
        # An object's storage binds every number as a real one, hence the CAST.
        rows = self._sql.exec(
            f"""WITH {_EVERY_NAME}
                SELECT json_group_array(json_array(name, bucket, state, n, folded)) AS strips
                FROM (
                  SELECT firings.name AS name, CAST((claimed_at - ?) / ? AS INTEGER) AS bucket,
                         state, COUNT(*) AS n, SUM(coalesced) AS folded
                  FROM asked JOIN firings
                    ON firings.name = asked.name AND firings.claimed_at >= ?
                  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
                )""",
            since_ms,
            bucket_ms,
            since_ms,
        )
        strips: dict[str, list[list[Any]]] = {}
        for name, *counted in json.loads(rows[0]["strips"]):
            strips.setdefault(name, []).append(counted)
        return strips

    def claims_without_run(self, since_ms: int, now_ms: int) -> int:
        """Firings claimed after ``since_ms`` whose claim had no run at first.

        A re-fire counts: there was nothing to re-fire otherwise.
        """
        rows = self._sql.exec(
            f"""SELECT COUNT(*) AS n FROM firings
                WHERE (trigger = '{Trigger.REFIRE}'
                       OR state IN ('{State.STARTING}', '{State.CLAIMED_NOT_STARTED}'))
                  AND claimed_at > ? AND (state <> '{State.STARTING}' OR claimed_at <= ?)""",
            since_ms,
            now_ms - STARTING_MS,
        )
        return rows[0]["n"]

    def _select(self, query: str, *params: Any) -> list[Firing]:
        """The firings that a query finds. One JSON string crosses: rows would cost ten times it."""
        rows = self._sql.exec(
            f"SELECT json_group_array(json_array({_LIST})) AS firings FROM ({query})", *params
        )
        return [Firing(*values) for values in json.loads(rows[0]["firings"])]


def _claimed_at(firing: Firing) -> int:
    return firing.claimed_at


def _identity(firing: Firing) -> tuple[Any, ...]:
    """What makes two records one firing: the row's due minute, or the key of a press by hand."""
    if firing.trigger == Trigger.HAND or firing.due_at is None:
        return (firing.key,)
    return (firing.row_id, firing.due_at)
