"""One firing: its run id, its message, its record and its state. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

from bot.authz.actor import Actor, Surface
from bot.dispatch.message import IncomingMessage
from bot.ports import Firing
from bot.runs.ledger import Run
from bot.schedules.describe import describe
from bot.schedules.row import LAST_MS, Row, StoredRow
from bot.times import iso
from bot.words import Source, State, Trigger

STARTING_MS = 30_000
"""How long a claim without a run is called ``starting``."""


def run_id_of(row_id: str, due_at: int) -> str:
    """The run id of a due minute: whoever dispatches that minute names the same run.

    The minute is written in UTC, so that a local hour that comes twice makes two ids.
    """
    return f"{row_id}-{datetime.fromtimestamp(due_at / 1000, UTC):%Y%m%dT%H%M}"


def hand_run_id(row_id: str, call_id: str) -> str:
    """The run id of a press by hand: one per call, however often the call is repeated."""
    return f"{row_id}-h{hashlib.sha256(call_id.encode()).hexdigest()[:20]}"


def slot_of(row: StoredRow) -> str | None:
    """The slot a row's run holds besides its thread: a standing thread has one at a time."""
    return f"standing:{row.id}" if row.thread == "standing" else None


def message_of(
    row: Row,
    *,
    trigger: Trigger,
    claimed_at: int,
    due_at: int | None,
    run_id: str,
    by: str | None = None,
    coalesced: int = 0,
) -> IncomingMessage:
    """The row's firing as a message: its own actor, exactly its grants, its channel.

    The actor is made here, from a stored row, and nowhere else.
    """
    stored = row.stored
    standing = stored.thread == "standing"
    return IncomingMessage(
        run_id=run_id,
        actor=Actor(Surface.SCHEDULE, stored.name),
        grants=row.grants,
        source=Source.SCHEDULE,
        text=stored.text,
        channel=stored.channel,
        thread=stored.thread_key if standing else None,
        slot=slot_of(stored),
        lead=lead_of(row, due_at, trigger, by),
        name=stored.name,
        row_id=stored.id,
        due_at=due_at,
        claimed_at=claimed_at,
        trigger=trigger,
        by=by,
        coalesced=coalesced,
    )


def lead_of(row: Row, due_at: int | None, trigger: Trigger, by: str | None) -> str:
    """The first line of a thread that a firing opens."""
    what = f"{row.name} · {describe(row.cron, row.stored.zone)}"
    if row.stored.thread == "standing":
        return what
    if due_at is None:
        return f"{what} · by hand, {by}"
    again = f", re-fired by {by}" if trigger is Trigger.REFIRE else ""
    return f"{what} · due {iso(due_at, row.zone)}{again}"


def left_behind(stored: StoredRow) -> Firing | None:
    """The record of a row's claim that no run id was written for, or None.

    A claim that never started, or one skipped as stale. The history must hold it before a
    newer claim takes its place on the row; a run that did start outranks it there.
    """
    if stored.last_due_at is None or stored.last_run_id is not None:
        return None
    claimed_at = _claimed_at(stored)
    state = State.SKIPPED_STALE if stored.last_skipped else State.CLAIMED_NOT_STARTED
    return _of_claim(stored, stored.last_due_at, claimed_at, state)


def firing_of_run(run: Run) -> Firing:
    """A run's firing as the history keeps it."""
    return Firing(
        key=run.id,
        name=run.name or "",
        row_id=run.row_id or "",
        due_at=run.due_at,
        claimed_at=run.claimed_at or run.admitted_at,
        trigger=run.trigger or Trigger.TICK,
        by=run.by,
        state=run.state,
        code=run.code,
        run_id=run.id,
        delivery=run.delivery,
        coalesced=run.coalesced,
    )


def last_firing(
    stored: StoredRow, recorded: Firing | None, runs: Mapping[str, Run], now_ms: int
) -> Firing | None:
    """A row's last firing with its state as it stands now (contract §3, States).

    ``recorded`` is the row's in ``HistoryStore.latest``, ``runs`` the ledger's rows of its
    claimed minute and of ``recorded``. The ledger outranks the history, and a claim that
    neither knows speaks for itself.
    """
    claim = claim_firing(stored, runs, now_ms)
    if recorded is None:
        return claim
    if recorded.key in runs:
        return firing_of_run(runs[recorded.key])
    by_hand_since = claim is None or claim.key != recorded.key
    return recorded if by_hand_since or recorded.run_id else claim


def claim_key(stored: StoredRow) -> str | None:
    """The key of the minute that the row claimed last, or None before its first claim."""
    return None if stored.last_due_at is None else run_id_of(stored.id, stored.last_due_at)


def claim_firing(stored: StoredRow, runs: Mapping[str, Run], now_ms: int) -> Firing | None:
    """The firing of the minute that the row claimed last, or None before its first claim."""
    if stored.last_due_at is None:
        return None
    run = runs.get(run_id_of(stored.id, stored.last_due_at))
    if run is not None:
        return firing_of_run(run)
    claimed_at = _claimed_at(stored)
    if stored.last_skipped:
        state = State.SKIPPED_STALE
    elif 0 <= now_ms - claimed_at < STARTING_MS:
        state = State.STARTING
    else:
        state = State.CLAIMED_NOT_STARTED
    return _of_claim(stored, stored.last_due_at, claimed_at, state)


def _claimed_at(stored: StoredRow) -> int:
    """When the row's last due minute was claimed; the base stands in where nobody wrote it."""
    assert stored.last_due_at is not None
    base = stored.last_fired_at or stored.last_due_at
    return stored.last_claimed_at or (base if base < LAST_MS else stored.last_due_at)


def _of_claim(stored: StoredRow, due_at: int, claimed_at: int, state: State) -> Firing:
    return Firing(
        key=run_id_of(stored.id, due_at),
        name=stored.name,
        row_id=stored.id,
        due_at=due_at,
        claimed_at=claimed_at,
        trigger=Trigger.TICK,
        by=None,
        state=state,
        coalesced=stored.coalesced or 0,
    )
