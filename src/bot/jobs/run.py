"""A job's run: its id, its message, and how it ends (contract §7).

It is an ordinary turn as the owner, under the grants the owner holds when it is dispatched. It
takes no thread: nobody's conversation can make it late, and its outcome is pushed.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot import pushes
from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import Grant, grants_of
from bot.channels.base import cut
from bot.dispatch.message import IncomingMessage
from bot.events import Event, EventKind
from bot.jobs import store
from bot.jobs.job import Job
from bot.ports import Fault, House
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.times import iso_or_none
from bot.words import TEXTS, Code, Source, State, Trigger

log = logging.getLogger("bot.jobs")
LOST_MS = 120_000
"""How long after its claim a run that the ledger does not know is given up."""
MAX_TOLD = 3_500
"""Characters of an event's text, so that it fits one Telegram message with its heading."""


def run_id_of(job_id: str, due_at: int) -> str:
    """The run id of a due instant: whoever dispatches that instant names the same run."""
    return f"{job_id}-{datetime.fromtimestamp(due_at / 1000, UTC):%Y%m%dT%H%M%S}"


def hand_run_id(job_id: str, call_id: str) -> str:
    """The run id of a run by hand: one a call, however often the call is repeated."""
    return f"{job_id}-h{hashlib.sha256(call_id.encode()).hexdigest()[:20]}"


def owner_of(job: Job) -> Actor:
    """The job's owner; the store reads no job whose owner is not a person."""
    owner = parse_actor(job.user_id)
    assert isinstance(owner, Actor)
    return owner


def grants_now(house: House, owner: Actor, entries: Mapping[str, Any]) -> tuple[Grant, ...]:
    """What the owner holds by the org document as it stands: a job keeps no grants of its own."""
    return grants_of(owner, entries, house.settings.admins)


def message_of(
    job: Job,
    owner: Actor,
    grants: tuple[Grant, ...],
    *,
    run_id: str,
    claimed_at: int,
    due_at: int | None = None,
    trigger: Trigger = Trigger.TICK,
    by: str | None = None,
) -> IncomingMessage:
    """The job's firing as a message: its owner's actor, saying its prompt."""
    return IncomingMessage(
        run_id=run_id,
        actor=owner,
        grants=grants,
        source=Source.JOB,
        text=job.prompt,
        name=job.name,
        row_id=job.id,
        due_at=due_at,
        claimed_at=claimed_at,
        trigger=trigger,
        by=by,
        by_agent=job.by_agent,
    )


async def job_ended(house: House, run: Run) -> None:
    """Write down the end of a job's run, tell its owner, and push it.

    Called wherever a run is ended: by its turn, by a cancel, by the watchdog. Repeated, it
    tells nothing twice. Raises Fault where the end could not be written; a push that fails is
    recorded and raises nothing.
    """
    row = await store.get_run(house.db, run.id)
    event = _event_of(run, row["thread"] if row else None, house.clock.now_ms())
    await store.end_run(house.db, run.id, state=run.state, code=run.code, event=event)
    await _pushed(house, run.id)


async def end_lost(house: House) -> list[str]:
    """End the rows of runs that died before they could say so; their run ids.

    A run whose end was written to the ledger and not here is ended as the ledger says. One
    that was claimed ``LOST_MS`` ago and never admitted is ``interrupted``, and its owner told.
    """
    now_ms = house.clock.now_ms()
    ended: list[str] = []
    for row in await store.open_runs(house.db, now_ms - LOST_MS):
        run = await ledger.get(house.db, row["run_id"]) if row["known"] else None
        if run is not None:
            await job_ended(house, run)
        else:
            await _end_unstarted(house, row, now_ms)
        ended.append(row["run_id"])
    return ended


async def _end_unstarted(house: House, row: Mapping[str, Any], now_ms: int) -> None:
    code = Code.INTERRUPTED
    event = Event(
        key=row["run_id"],
        owner=row["user_id"],
        kind=EventKind.JOB_ERROR,
        text=f"❌ {row['name']}\nIt was claimed and never started, so it did not run.",
        at=now_ms,
        thread=row["thread"],
        data={
            "job_id": row["job_id"],
            "name": row["name"],
            "run_id": row["run_id"],
            "due_at": iso_or_none(row["due_at"]),
            "state": State.FAILED,
            "code": code,
        },
    )
    log.error("job run %s was claimed and never started", row["run_id"])
    await store.end_run(house.db, row["run_id"], state=State.FAILED, code=code, event=event)
    await _pushed(house, row["run_id"])


def _event_of(run: Run, thread: str | None, now_ms: int) -> Event:
    went_well = run.state is State.OK
    how = f"{run.state}: {run.code}" if run.code else run.state
    heading = f"✅ {run.name}" if went_well else f"❌ {run.name} · {how}"
    body = (run.output or "").strip() or _title_of(run.code)
    return Event(
        key=run.id,
        owner=run.actor,
        kind=EventKind.JOB_RESULT if went_well else EventKind.JOB_ERROR,
        text=f"{heading}\n{cut(body, run.id, MAX_TOLD)}",
        at=now_ms,
        thread=thread,
        data={
            "job_id": run.row_id,
            "name": run.name,
            "run_id": run.id,
            "due_at": iso_or_none(run.due_at),
            "state": run.state,
            "code": run.code,
        },
    )


def _title_of(code: str | None) -> str:
    return TEXTS[Code(code)].title + "." if code in set(Code) else "There was no output."


async def _pushed(house: House, run_id: str) -> None:
    try:
        delivery = await pushes.push(house, run_id)
        if delivery is not None:
            await ledger.set_delivery(house.db, run_id, delivery, None)
    except Fault as fault:
        # The event still waits for its push; the next tick sends it.
        log.error("run %s: push failed: %s", run_id, fault, extra={"action": "push_failed"})
