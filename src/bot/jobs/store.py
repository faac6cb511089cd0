"""The jobs' store in D1: every statement that touches ``jobs`` and ``job_runs``.

A claim holds for one version of a row and for the ``last_fired_at`` that was read, so that
whatever happened to the row between reading and claiming loses the claim (contract §7). The
claim, the row of its run and the event of a job that is given up are one transaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot import events
from bot.authz.actor import Actor, parse_actor
from bot.events import Event
from bot.jobs.decide import SKEW_MS, Decision, Fire, claimed
from bot.jobs.job import Job
from bot.jobs.spec import Once, parse_schedule
from bot.ports import Database, Statement
from bot.words import Refused, Trigger

MAX_JOBS_PER_USER = 10
"""Jobs of one person that may still fire. One that is spent or given up holds no place."""
KEPT_OFF = 20
"""Jobs of one person that are off and still listed; older ones make room for new ones."""
MAX_A_TICK = 200

_ID = re.compile(r"[a-z0-9]{1,40}", re.ASCII)
_COLUMNS = (
    "id, user_id, name, prompt, schedule, run_at, enabled, created_at, last_fired_at, thread, "
    "version, by_agent"
)
_INSERT = """
INSERT INTO jobs
  (id, user_id, name, prompt, schedule, run_at, created_at, next_at, thread, by_agent)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
WHERE (SELECT count(*) FROM jobs WHERE user_id = ?2 AND enabled = 1) < ?11
ON CONFLICT DO NOTHING
"""
_PRUNE = """
DELETE FROM jobs WHERE id IN (
  SELECT id FROM jobs WHERE user_id = ? AND enabled = 0
  ORDER BY last_fired_at DESC LIMIT -1 OFFSET ?
)
"""
# One query a tick, whatever is due: jobs by their due instant, jobs whose base lies in the
# future (which next_at would silence), and whether any event waits for its push. Its rows are
# found along partial indexes, so that it costs by what is due and not by what is stored.
_DUE = f"""
SELECT waiting.pushes, due.* FROM
  (SELECT EXISTS (SELECT 1 FROM events WHERE push_at <= ?1) AS pushes) AS waiting
LEFT JOIN (
  SELECT * FROM (
    SELECT {_COLUMNS}, next_at FROM jobs WHERE next_at <= ?1 ORDER BY next_at LIMIT ?3
  )
  UNION ALL
  SELECT * FROM (
    SELECT {_COLUMNS}, next_at FROM jobs
    WHERE coalesce(last_fired_at, created_at) > ?2
      AND next_at IS NOT NULL AND schedule IS NOT NULL AND next_at > ?1 LIMIT ?3
  )
  LIMIT ?3
) AS due ON true
"""
# The claim of contract §7 for many rows at once: each changes only where the row is as it was
# read (IS, since a job that never fired holds NULL), and RETURNING names those that changed.
_CLAIM = """
UPDATE jobs SET last_fired_at = ?2, version = version + 1,
  next_at = json_extract(value, '$.next_at'), enabled = json_extract(value, '$.enabled')
FROM json_each(?1)
WHERE jobs.id = json_extract(value, '$.id')
  AND jobs.version = json_extract(value, '$.version')
  AND jobs.last_fired_at IS json_extract(value, '$.last_fired_at')
RETURNING jobs.id AS id
"""
_CLAIMED_RUNS = """
INSERT INTO job_runs (run_id, job_id, user_id, name, thread, due_at, claimed_at, trigger)
SELECT json_extract(value, '$.run_id'), jobs.id, user_id, name, thread,
       json_extract(value, '$.due_at'), ?2, ?3
FROM json_each(?1) CROSS JOIN jobs ON jobs.id = json_extract(value, '$.id')
WHERE json_extract(value, '$.run_id') IS NOT NULL
  AND version = json_extract(value, '$.version') + 1 AND last_fired_at = ?2
ON CONFLICT DO NOTHING
"""
_IF_CLAIMED = """EXISTS (
  SELECT 1 FROM jobs WHERE id = json_extract(value, '$.when.id')
    AND version = json_extract(value, '$.when.version') + 1
    AND last_fired_at = json_extract(value, '$.at')
)"""
_BY_HAND = """
INSERT INTO job_runs (run_id, job_id, user_id, name, thread, claimed_at, trigger)
SELECT ?1, id, user_id, name, thread, ?2, ?3 FROM jobs WHERE id = ?4 AND version = ?5
ON CONFLICT DO NOTHING
"""
_END = """
UPDATE job_runs SET state = ?, code = ?, ended_at = ? WHERE run_id = ? AND ended_at IS NULL
"""
_LISTED = f"""
SELECT {", ".join(f"jobs.{name}" for name in _COLUMNS.split(", "))},
       last.run_id, last.due_at, last.claimed_at, last.trigger, last.ended_at,
       coalesce(last.state, runs.state) AS state, coalesce(last.code, runs.code) AS code,
       events.push
FROM jobs
LEFT JOIN job_runs AS last ON last.run_id = (
  SELECT run_id FROM job_runs WHERE job_id = jobs.id ORDER BY claimed_at DESC, run_id DESC LIMIT 1
)
LEFT JOIN runs ON runs.id = last.run_id
LEFT JOIN events ON events.key = last.run_id
WHERE jobs.user_id = ?1 AND (?2 IS NULL OR jobs.id = ?2)
ORDER BY jobs.created_at, jobs.rowid
"""
_OPEN = """
SELECT job_runs.run_id, job_runs.user_id, job_runs.job_id, job_runs.name, job_runs.thread,
       job_runs.due_at, job_runs.claimed_at, runs.id AS known
FROM job_runs LEFT JOIN runs ON runs.id = job_runs.run_id
WHERE ended_at IS NULL
  AND (runs.state <> 'running' OR (runs.id IS NULL AND job_runs.claimed_at <= ?))
ORDER BY job_runs.claimed_at LIMIT 200
"""


@dataclass(frozen=True, slots=True)
class BrokenJob:
    """A stored job that no longer reads, and why."""

    job: Job
    reason: str


@dataclass(frozen=True, slots=True)
class Due:
    """What the one query of a tick found: jobs that may be due, and whether pushes wait."""

    jobs: Sequence[Job | BrokenJob]
    pushes_wait: bool
    rows_read: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A decision to be claimed: the job as it was read, and ``after``, as the claim leaves it.

    ``run_id`` where it fires; ``event`` where the job is given up and its owner is told.
    """

    job: Job
    decision: Decision
    after: Job
    run_id: str | None = None
    event: Event | None = None


def claim_of(
    job: Job,
    decision: Decision,
    now_ms: int,
    *,
    run_id: str | None = None,
    event: Event | None = None,
) -> Claim:
    """The claim of a decision (not Skip) at ``now_ms``."""
    return Claim(job, decision, claimed(job, decision, now_ms), run_id, event)


async def insert(db: Database, job: Job) -> bool:
    """Store a new job unless its owner has as many as they may; False where it was not stored.

    The quota is asked in the insert itself: ten at once at nine leave ten.
    """
    _, added = await db.batch(
        [
            Statement(_PRUNE, (job.user_id, KEPT_OFF)),
            Statement(
                _INSERT,
                (
                    job.id,
                    job.user_id,
                    job.name,
                    job.prompt,
                    None if isinstance(job.spec, Once) else job.spec.text,
                    job.spec.run_at if isinstance(job.spec, Once) else None,
                    job.created_at,
                    job.next_at,
                    job.thread,
                    int(job.by_agent),
                    MAX_JOBS_PER_USER,
                ),
            ),
        ]
    )
    return added.changes == 1


async def get(db: Database, user_id: str, job_id: str) -> Job | BrokenJob | None:
    """One job of that owner; another's is not there."""
    found = await db.run(
        f"SELECT {_COLUMNS} FROM jobs WHERE id = ? AND user_id = ?", job_id, user_id
    )
    return _read(found.rows[0]) if found.rows else None


async def listed(
    db: Database, user_id: str, job_id: str | None = None
) -> list[tuple[Job | BrokenJob, Mapping[str, Any] | None]]:
    """The owner's jobs in the order of their making, each with the row of its last run."""
    found = await db.run(_LISTED, user_id, job_id)
    return [(_read(row), row if row["run_id"] is not None else None) for row in found.rows]


async def delete(db: Database, user_id: str, job_id: str) -> bool:
    """Delete a job of that owner; False where there is none. Its history stays."""
    gone = await db.run("DELETE FROM jobs WHERE id = ? AND user_id = ?", job_id, user_id)
    return gone.changes == 1


async def due(db: Database, now_ms: int, limit: int = MAX_A_TICK) -> Due:
    """What may be due at ``now_ms``, the longest due first, at most ``limit``: one query."""
    found = await db.run(_DUE, now_ms, now_ms + SKEW_MS, limit)
    jobs = [_read(row) for row in found.rows if row["id"] is not None]
    return Due(jobs, bool(found.rows and found.rows[0]["pushes"]), found.rows_read)


async def claim(db: Database, claims: Sequence[Claim], now_ms: int) -> set[str]:
    """Claim jobs in one transaction; the ids of those that were won.

    Raises Fault where the database does not answer, and then nobody knows what was won: the
    caller fires nothing, and the watchdog finds the runs that were claimed.
    """
    entries = json.dumps([_entry(each) for each in claims])
    told = [
        (each.event, {"id": each.job.id, "version": each.job.version})
        for each in claims
        if each.event is not None
    ]
    batch = [
        Statement(_CLAIM, (entries, now_ms)),
        Statement(_CLAIMED_RUNS, (entries, now_ms, Trigger.TICK)),
    ]
    if told:
        batch.append(events.adding(told, condition=_IF_CLAIMED))
        batch.append(events.trimming([event.owner for event, _ in told]))
    answers = await db.batch(batch)
    return {row["id"] for row in answers[0].rows}


def _entry(each: Claim) -> dict[str, Any]:
    return {
        "id": each.job.id,
        "version": each.job.version,
        "last_fired_at": each.job.last_fired_at,
        "next_at": each.after.next_at,
        "enabled": int(each.after.enabled),
        "run_id": each.run_id,
        "due_at": each.decision.due_at if isinstance(each.decision, Fire) else None,
    }


async def claim_by_hand(db: Database, job: Job, run_id: str, now_ms: int) -> bool:
    """Write the row of a run by hand, unless the job changed or went since it was read.

    The job keeps its slot: nothing of its times moves.
    """
    made = await db.run(_BY_HAND, run_id, now_ms, Trigger.HAND, job.id, job.version)
    return made.changes == 1


async def end_run(db: Database, run_id: str, *, state: str, code: str | None, event: Event) -> None:
    """End a run's row and tell its owner, in one transaction. Repeated, it changes nothing."""
    await db.batch(
        [
            Statement(_END, (state, code, event.at, run_id)),
            events.adding([(event, {})]),
            events.trimming([event.owner]),
        ]
    )


async def get_run(db: Database, run_id: str) -> Mapping[str, Any] | None:
    """The row of one run."""
    found = await db.run("SELECT * FROM job_runs WHERE run_id = ?", run_id)
    return found.rows[0] if found.rows else None


async def open_runs(db: Database, before_ms: int) -> Sequence[Mapping[str, Any]]:
    """Rows without an end whose run has ended, or was claimed by ``before_ms`` and never came.

    ``known`` is None where the ledger does not know the run.
    """
    return (await db.run(_OPEN, before_ms)).rows


def _read(row: Mapping[str, Any]) -> Job | BrokenJob:
    """A row as a job; one that does not read is taken for a one-shot that was due long ago."""
    run_at: int | None = row["run_at"]
    spec = Once(run_at) if run_at is not None else parse_schedule(row["schedule"])
    owner = parse_actor(row["user_id"])
    reason = spec.detail if isinstance(spec, Refused) else None
    if not _ID.fullmatch(row["id"]):
        # Among a hundred instances started at once, one bad id would stop them all.
        reason = f"{row['id'][:80]!r} is not a job's id"
    if not isinstance(owner, Actor) or not owner.is_person:
        reason = f"{row['user_id'][:80]!r} is not a person"
    job = Job(
        id=row["id"],
        user_id=row["user_id"],
        name=row["name"],
        prompt=row["prompt"],
        spec=Once(row["created_at"]) if reason is not None or isinstance(spec, Refused) else spec,
        created_at=row["created_at"],
        last_fired_at=row["last_fired_at"],
        enabled=bool(row["enabled"]),
        thread=row["thread"],
        version=row["version"],
        by_agent=bool(row["by_agent"]),
    )
    return job if reason is None else BrokenJob(job, reason)
