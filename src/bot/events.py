"""The owners' event ring: the last 200 things that a person is told of (contract §7).

An event has a key and is said once a key, however often the step that says it runs. It is
written as due for a push, in the same transaction as what it tells of; ``bot.pushes`` sends it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.ports import Database, Statement
from bot.times import iso

RING = 200
"""Events kept for one owner."""


class EventKind(StrEnum):
    """What happened."""

    JOB_RESULT = "job_result"
    JOB_ERROR = "job_error"
    JOB_ABANDONED = "job_abandoned"


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell ``owner`` once, under ``key``.

    ``thread`` is where to push it when the owner has no linked chat; ``at`` epoch milliseconds.
    """

    key: str
    owner: str
    kind: EventKind
    text: str
    at: int
    thread: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


_COLUMNS = ("key", "owner", "kind", "text", "thread", "data", "at")
_FROM_JSON = ", ".join(f"json_extract(value, '$.{name}')" for name in _COLUMNS)
_ADD = f"""
INSERT INTO events ({", ".join(_COLUMNS)}, push_at)
SELECT {_FROM_JSON}, json_extract(value, '$.at') FROM json_each(?1) WHERE {{condition}}
ON CONFLICT DO NOTHING
"""
_TRIM = f"""
DELETE FROM events WHERE seq IN (
  SELECT seq FROM (
    SELECT seq, row_number() OVER (PARTITION BY owner ORDER BY seq DESC) AS place
    FROM events WHERE owner IN (SELECT value FROM json_each(?1))
  ) WHERE place > {RING}
)
"""
_AFTER = f"""
SELECT seq, kind, text, data, at, push FROM events WHERE owner = ? AND seq > ?
ORDER BY seq LIMIT {RING}
"""


def adding(
    events: Sequence[tuple[Event, Mapping[str, Any]]], *, condition: str = "true"
) -> Statement:
    """The statement that adds events, each with values of its own for ``condition``.

    ``condition`` is SQL over ``value``, one event as JSON; the values beside an event are found
    there under ``$.when``.
    """
    entries = [
        {
            "key": event.key,
            "owner": event.owner,
            "kind": event.kind,
            "text": event.text,
            "thread": event.thread,
            "data": json.dumps(dict(event.data), ensure_ascii=False),
            "at": event.at,
            "when": dict(when),
        }
        for event, when in events
    ]
    return Statement(_ADD.format(condition=condition), (json.dumps(entries, ensure_ascii=False),))


def trimming(owners: Sequence[str]) -> Statement:
    """The statement that keeps each of these owners' newest events and drops the rest."""
    return Statement(_TRIM, (json.dumps(sorted(set(owners))),))


async def after(db: Database, owner: str, seq: int) -> list[dict[str, Any]]:
    """The owner's events that came after ``seq``, oldest first, as the routes show them.

    ``push`` says how telling them went: ``delivered``, ``unknown``, ``undelivered: REASON``, or
    None while it is still to be sent.
    """
    found = await db.run(_AFTER, owner, seq)
    return [
        {**row, "data": json.loads(row["data"] or "{}"), "at": iso(row["at"])} for row in found.rows
    ]
