"""The run ledger in D1: one row a turn, and the thread slot as an index over the live rows.

Every statement that takes or frees a slot is here. A live row has the state ``running``;
``finish`` is conditional on it, so a run that was ended stays ended as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.authz.grants import Grant, parse_grants
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.ports import Database, Statement
from bot.words import Code, Refused, State, Trigger

COLUMNS = (
    "id, actor, grants, source, name, row_id, due_at, claimed_at, trigger, by, channel, thread, "
    "slot, lead, text, route, effect, state, code, output, delivery, coalesced, admitted_at, "
    "started_at, touched_at, resumed, finished_at, model_calls, tokens_in, tokens_out, by_agent"
)
_INSERTED = (
    "id, actor, grants, source, name, row_id, due_at, claimed_at, trigger, by, channel, thread, "
    "slot, lead, text, coalesced, by_agent"
)
_FROM_JSON = ", ".join(f"json_extract(value, '$.{name}')" for name in _INSERTED.split(", "))
_ADMIT = f"""
INSERT INTO runs ({_INSERTED}, state, admitted_at, touched_at, finished_at, code, route, effect)
SELECT {_FROM_JSON},
       json_extract(value, '$.state'), ?2, ?2, json_extract(value, '$.finished_at'),
       json_extract(value, '$.code'), json_extract(value, '$.route'),
       json_extract(value, '$.effect')
FROM json_each(?1) WHERE true
ON CONFLICT DO NOTHING RETURNING id
"""
_OWING = "(state = 'refused' AND code = 'schedule_write' AND delivery IS NULL)"
_NEVER_WRITTEN = """SELECT value AS id FROM json_each(?) AS told
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = told.value)"""
# One bound value may hold 2 MB; a row is at most a 4,000 character text and its names.
_CHUNK = 100


@dataclass(frozen=True, slots=True)
class Run:
    """A ledger row. Times are epoch milliseconds; absent values are None."""

    id: str
    actor: str
    grants: tuple[Grant, ...]
    source: str
    name: str | None
    row_id: str | None
    due_at: int | None
    claimed_at: int | None
    trigger: str | None
    by: str | None
    channel: str | None
    thread: str | None
    slot: str | None
    lead: str | None
    text: str
    route: str | None
    effect: str | None
    state: State
    code: str | None
    output: str | None
    delivery: str | None
    coalesced: int
    admitted_at: int
    started_at: int | None
    touched_at: int
    resumed: int
    finished_at: int | None
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    by_agent: bool = False

    @property
    def live(self) -> bool:
        """Whether it still holds its slot."""
        return self.state is State.RUNNING

    @property
    def owes_handback(self) -> bool:
        """Whether admission refused it as a write and its hand-back is still to be posted."""
        refused = self.state is State.REFUSED and self.code == Code.SCHEDULE_WRITE
        return refused and self.delivery is None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a message before it starts: a refusal that needs no model to see."""

    code: Code
    route: str
    effect: str


def _read(row: Mapping[str, Any]) -> Run:
    grants = parse_grants(json.loads(row["grants"]))
    values: dict[str, Any] = dict(row)
    values["grants"] = () if isinstance(grants, Refused) else grants
    values["state"] = State(row["state"])
    values["by_agent"] = bool(row["by_agent"])
    return Run(**values)


async def admit(
    db: Database,
    messages: Sequence[tuple[IncomingMessage, Verdict | None]],
    now_ms: int,
) -> list[Admission]:
    """Claim a slot and a ledger row for each message, in one transaction a hundred.

    A message with a verdict is written as refused with its code and takes no slot. One whose
    thread is taken is written as refused ``thread_busy``; a re-fire is refused and not written,
    since its minute's one run is still to come. One whose run id stands in the ledger already
    changes nothing and is a duplicate: a firing has at most one run.
    """
    answers: list[Admission] = []
    for start in range(0, len(messages), _CHUNK):
        chunk = messages[start : start + _CHUNK]
        first = [_entry(message, verdict, now_ms) for message, verdict in chunk]
        busy = [
            {**entry, "state": State.REFUSED, "code": Code.THREAD_BUSY, "finished_at": now_ms}
            for entry, (message, verdict) in zip(first, chunk, strict=True)
            if verdict is None and message.trigger is not Trigger.REFIRE
        ]
        inserted, refused, waiting = await db.batch(
            [
                Statement(_ADMIT, (_dump(first), now_ms)),
                Statement(_ADMIT, (_dump(busy), now_ms)),
                Statement(_NEVER_WRITTEN, (_dump([message.run_id for message, _ in chunk]),)),
            ]
        )
        new = {row["id"] for row in inserted.rows}
        taken = {row["id"] for row in (*refused.rows, *waiting.rows)}
        for message, verdict in chunk:
            answers.append(_answer(message.run_id, verdict, new, taken))
    return answers


def _dump(entries: Sequence[Any]) -> str:
    # Unescaped, a hundred of the longest texts stay under the 2 MB of one bound value.
    return json.dumps(entries, ensure_ascii=False)


def _entry(message: IncomingMessage, verdict: Verdict | None, now_ms: int) -> dict[str, Any]:
    return {
        "id": message.run_id,
        "actor": message.actor.id,
        "grants": json.dumps([str(grant) for grant in message.grants]),
        "source": message.source,
        "name": message.name,
        "row_id": message.row_id,
        "due_at": message.due_at,
        "claimed_at": message.claimed_at,
        "trigger": message.trigger,
        "by": message.by,
        "channel": message.channel,
        "thread": message.thread,
        "slot": message.slot,
        "lead": message.lead,
        "text": message.text,
        "coalesced": message.coalesced,
        "by_agent": int(message.by_agent),
        "state": State.REFUSED if verdict else State.RUNNING,
        "code": verdict.code if verdict else None,
        "route": verdict.route if verdict else None,
        "effect": verdict.effect if verdict else None,
        "finished_at": now_ms if verdict else None,
    }


def _answer(run_id: str, verdict: Verdict | None, new: set[str], busy: set[str]) -> Admission:
    if run_id in new:
        if verdict is None:
            return Admission(run_id, AdmissionKind.ADMITTED)
        return Admission(run_id, AdmissionKind.REFUSED, verdict.code)
    if run_id in busy:
        return Admission(run_id, AdmissionKind.REFUSED, Code.THREAD_BUSY)
    return Admission(run_id, AdmissionKind.DUPLICATE)


async def get(db: Database, run_id: str) -> Run | None:
    """One run."""
    rows = (await db.run(f"SELECT {COLUMNS} FROM runs WHERE id = ?", run_id)).rows
    return _read(rows[0]) if rows else None


async def get_many(db: Database, run_ids: Sequence[str]) -> dict[str, Run]:
    """Several runs by id, in one query."""
    if not run_ids:
        return {}
    sql = f"SELECT {COLUMNS} FROM runs WHERE id IN (SELECT value FROM json_each(?))"
    rows = (await db.run(sql, json.dumps(list(run_ids)))).rows
    return {row["id"]: _read(row) for row in rows}


_OPEN_TO_ALL = """(source <> 'job' AND coalesce(thread, channel, '') NOT GLOB 'web:@*'
  AND coalesce(thread, channel, '') NOT GLOB 'slack:D*'
  AND coalesce(thread, channel, '') NOT GLOB 'slack:*/r*'
  AND coalesce(thread, channel, '') NOT GLOB 'telegram:[0-9]*')"""


async def recent(
    db: Database, *, state: str | None, name: str | None, limit: int, reader: str | None = None
) -> list[Run]:
    """The newest runs, filtered by state and name where given.

    ``reader`` is who reads, by the rule of ``privacy.may_see``; None reads everything.
    """
    rows = await db.run(
        f"SELECT {COLUMNS} FROM runs WHERE (?1 IS NULL OR state = ?1) "
        "AND (?2 IS NULL OR name = ?2) "
        f"AND (?4 IS NULL OR actor = ?4 OR {_OPEN_TO_ALL}) "
        "ORDER BY admitted_at DESC, id DESC LIMIT ?3",
        state,
        name,
        limit,
        reader,
    )
    return [_read(row) for row in rows.rows]


async def unfinished(db: Database, *, limit: int = 200) -> list[Run]:
    """Runs that hold their slot or owe a hand-back, the longest untouched first."""
    rows = await db.run(
        f"SELECT {COLUMNS} FROM runs WHERE state = 'running' "
        f"UNION ALL SELECT {COLUMNS} FROM runs WHERE {_OWING} ORDER BY touched_at LIMIT ?",
        limit,
    )
    return [_read(row) for row in rows.rows]


async def live_in_thread(db: Database, thread: str) -> Run | None:
    """The run that holds a thread's slot."""
    rows = await db.run(
        f"SELECT {COLUMNS} FROM runs WHERE state = 'running' AND thread = ?", thread
    )
    return _read(rows.rows[0]) if rows.rows else None


async def touch(db: Database, run_id: str, now_ms: int) -> bool:
    """Note that a step begins; False when the run was ended meanwhile."""
    done = await db.run(
        "UPDATE runs SET touched_at = ?, started_at = coalesce(started_at, ?) "
        "WHERE id = ? AND state = 'running'",
        now_ms,
        now_ms,
        run_id,
    )
    return done.changes == 1


async def begin(db: Database, run_id: str, now_ms: int) -> Run | None:
    """As ``touch``, answering the run; None when it was ended meanwhile."""
    begun = await db.run(
        "UPDATE runs SET touched_at = ?1, started_at = coalesce(started_at, ?1) "
        f"WHERE id = ?2 AND state = 'running' RETURNING {COLUMNS}",
        now_ms,
        run_id,
    )
    return _read(begun.rows[0]) if begun.rows else None


async def earlier_in_thread(
    db: Database, run: Run, *, limit: int, actor: str | None = None
) -> list[Run]:
    """The last runs of the run's thread that were admitted before it, oldest first.

    Those of one ``actor``, where it is given.
    """
    if run.thread is None:
        return []
    found = await db.run(
        f"SELECT {COLUMNS} FROM runs WHERE thread = ?1 AND admitted_at <= ?2 AND id != ?3 "
        "AND (?5 IS NULL OR actor = ?5) ORDER BY admitted_at DESC, rowid DESC LIMIT ?4",
        run.thread,
        run.admitted_at,
        run.id,
        limit,
        actor,
    )
    return [_read(row) for row in reversed(found.rows)]


async def set_thread(db: Database, run_id: str, thread: str) -> bool:
    """Note the thread that a run opened; False when another live run holds that thread."""
    done = await db.run("UPDATE OR IGNORE runs SET thread = ? WHERE id = ?", thread, run_id)
    return done.changes == 1


async def mark_resumed(db: Database, run_id: str, now_ms: int) -> None:
    """Count one resumption of a stalled run."""
    await db.run(
        "UPDATE runs SET resumed = resumed + 1, touched_at = ? "
        f"WHERE id = ? AND (state = 'running' OR {_OWING})",
        now_ms,
        run_id,
    )


async def finish(
    db: Database,
    run_id: str,
    *,
    state: State,
    code: str | None,
    output: str | None,
    now_ms: int,
    route: str | None = None,
    effect: str | None = None,
    delivery: str | None = None,
) -> bool:
    """End a live run and free its slot; False when it had ended already."""
    done = await db.run(
        "UPDATE runs SET state = ?, code = ?, output = ?, finished_at = ?, touched_at = ?, "
        "route = coalesce(?, route), effect = coalesce(?, effect), "
        "delivery = coalesce(?, delivery) WHERE id = ? AND state = 'running'",
        state,
        code,
        output,
        now_ms,
        now_ms,
        route,
        effect,
        delivery,
        run_id,
    )
    return done.changes == 1


async def set_delivery(db: Database, run_id: str, delivery: str, output: str | None) -> None:
    """Note how the outcome of a run that had ended already reached its channel."""
    await db.run(
        "UPDATE runs SET delivery = ?, output = coalesce(output, ?) WHERE id = ?",
        delivery,
        output,
        run_id,
    )
