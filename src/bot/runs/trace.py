"""What a run's agent did: one row a call of a model or of a tool (table ``run_steps``)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.ports import Database, Statement
from bot.times import iso

MAX_ARGS = 500
MAX_NOTE = 300


class Did(StrEnum):
    """How one call ended."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    """A call of what was not offered, or outside the grants: nothing was done."""
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One call. ``tool`` is None for a model's; ``at`` and ``ms`` are its begin and its length.

    ``args`` and ``note`` (why it was not ok) are cut when they are kept.
    """

    name: str
    did: Did
    at: int
    ms: int
    tool: str | None = None
    args: str | None = None
    note: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0


_RECORD = """
INSERT INTO run_steps (run_id, name, tool, args, outcome, note, ms, tokens_in, tokens_out, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (run_id, name) DO UPDATE SET tool = ?3, args = ?4, outcome = ?5, note = ?6, ms = ?7,
  tokens_in = ?8, tokens_out = ?9, at = ?10
"""
# Counted anew from the rows, so that a step which runs again is not counted twice.
_COUNT = """
UPDATE runs SET (model_calls, tokens_in, tokens_out) = (
  SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM run_steps
  WHERE run_id = ?1 AND tool IS NULL
) WHERE id = ?1
"""


async def record(db: Database, run_id: str, entry: Entry) -> None:
    """Keep one call, and the run's usage with it. Raises Fault."""
    values = (
        run_id,
        entry.name,
        _cut(entry.tool, MAX_NOTE),
        _cut(entry.args, MAX_ARGS),
        entry.did,
        _cut(entry.note, MAX_NOTE),
        entry.ms,
        entry.tokens_in,
        entry.tokens_out,
        entry.at,
    )
    statements = [Statement(_RECORD, values)]
    if entry.tool is None:
        statements.append(Statement(_COUNT, (run_id,)))
    await db.batch(statements)


async def read(db: Database, run_id: str) -> list[dict[str, Any]]:
    """A run's calls in their order, as the routes and commands show them."""
    found = await db.run(
        "SELECT name, tool, args, outcome, note, ms, tokens_in, tokens_out, at FROM run_steps"
        " WHERE run_id = ? ORDER BY rowid",
        run_id,
    )
    return [{**row, "at": iso(row["at"])} for row in found.rows]


def line(step: dict[str, Any]) -> str:
    """One call in a line, for people."""
    what = step["tool"] or "model"
    args = f" {step['args']}" if step["args"] else ""
    why = f": {json.dumps(step['note'], ensure_ascii=False)}" if step["note"] else ""
    used = f", {step['tokens_in']} + {step['tokens_out']} tokens" if step["tool"] is None else ""
    return f"- {step['name']} · {what}{args} → {step['outcome']}{why} ({step['ms']} ms{used})"


def _cut(text: str | None, limit: int) -> str | None:
    return text if text is None or len(text) <= limit else f"{text[: limit - 1]}…"
