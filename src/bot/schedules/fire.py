"""A person's Fire: re-firing a claim that never started, or running a row once by hand."""

from __future__ import annotations

from dataclasses import dataclass

from bot import org
from bot.dispatch import admit as dispatch
from bot.dispatch.message import AdmissionKind, IncomingMessage
from bot.ports import Firing, House
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.schedules.edit import readable
from bot.schedules.firing import (
    claim_firing,
    firing_of_run,
    hand_run_id,
    message_of,
    run_id_of,
)
from bot.schedules.record import write_run_ids
from bot.schedules.row import Row
from bot.words import Code, Refused, State, Trigger

SAME_PRESS_MS = 60_000
"""How long after a re-fire another press is taken for the same one."""


@dataclass(frozen=True, slots=True)
class Fired:
    """What a press of Fire came to: the run, and its state now."""

    name: str
    run_id: str
    state: State
    trigger: Trigger
    due_at: int | None
    by: str | None = None


async def fire(house: House, name: str, *, by: str, call_id: str, now_ms: int) -> Fired | Refused:
    """Fire a row now (contract §3, Fire). Raises Fault when a store does not answer.

    A row that is ``claimed_not_started`` has that due minute dispatched, under the run id of
    the minute, so at most once however often it is pressed; a press while that re-fired run
    lives, or within a minute of it, is the same press. Any other row runs once by hand under
    an id made from ``call_id`` and keeps its slot. A live standing thread is refused
    ``thread_busy``; a due minute that it refuses waits for the next press.
    """
    document = await house.config.read(org.TIER)
    row = readable(document.entries, name)
    if isinstance(row, Refused):
        return row
    runs = await _known_runs(house, row, call_id)
    claim = claim_firing(row.stored, runs, now_ms)
    if claim is not None and claim.state is State.STARTING:
        return Refused(
            Code.CONFLICT,
            f"{name} was claimed less than 30 seconds ago and is starting. Look again shortly.",
        )
    if claim is not None and claim.state is State.CLAIMED_NOT_STARTED:
        return await _dispatch(house, _refire(row, claim, by), now_ms)
    again = runs.get(hand_run_id(row.stored.id, call_id))
    if again is None and claim is not None:
        again = _same_press(runs.get(claim.key), now_ms)
    if again is not None:
        return _fired(again)
    message = message_of(
        row,
        trigger=Trigger.HAND,
        claimed_at=now_ms,
        due_at=None,
        run_id=hand_run_id(row.stored.id, call_id),
        by=by,
    )
    return await _dispatch(house, message, now_ms)


async def refire(house: House, name: str, key: str, *, by: str, now_ms: int) -> Fired | Refused:
    """Dispatch the claim whose run would have the id ``key``, and nothing else. Raises Fault.

    However many press, and whenever, that minute runs once: whoever comes later is answered
    with its run. A claim that was overtaken by a later one is ``conflict``.
    """
    document = await house.config.read(org.TIER)
    row = readable(document.entries, name)
    if isinstance(row, Refused):
        return row
    due_at = row.stored.last_due_at
    current = None if due_at is None else run_id_of(row.stored.id, due_at)
    runs = await ledger.get_many(house.db, [key, *filter(None, [current])])
    if key in runs and runs[key].name == name:
        return _fired(runs[key])
    claim = claim_firing(row.stored, runs, now_ms)
    if claim is None or claim.key != key or claim.state is not State.CLAIMED_NOT_STARTED:
        return Refused(
            Code.CONFLICT,
            f"That minute of {name} can be fired no more. schedule show {name} says how it stands.",
        )
    return await _dispatch(house, _refire(row, claim, by), now_ms)


def _refire(row: Row, claim: Firing, by: str) -> IncomingMessage:
    """The dispatch of a claim that never started, pressed by a person."""
    return message_of(
        row,
        trigger=Trigger.REFIRE,
        claimed_at=claim.claimed_at,
        due_at=claim.due_at,
        run_id=claim.key,
        by=by,
        coalesced=claim.coalesced,
    )


async def _known_runs(house: House, row: Row, call_id: str) -> dict[str, Run]:
    ids = [hand_run_id(row.stored.id, call_id)]
    if row.stored.last_due_at is not None:
        ids.append(run_id_of(row.stored.id, row.stored.last_due_at))
    return await ledger.get_many(house.db, ids)


def _same_press(run: Run | None, now_ms: int) -> Run | None:
    """The re-fired run that a press belongs to: one that lives, or began a moment ago."""
    if run is None or run.trigger != Trigger.REFIRE:
        return None
    return run if run.live or 0 <= now_ms - run.admitted_at < SAME_PRESS_MS else None


def _fired(run: Run) -> Fired:
    trigger = Trigger(run.trigger or "hand")
    return Fired(run.name or "", run.id, run.state, trigger, run.due_at, run.by)


async def _dispatch(house: House, message: IncomingMessage, now_ms: int) -> Fired | Refused:
    (admission,) = await dispatch.admit(house, [message], now_ms)
    await dispatch.start(house, [admission])
    run = await ledger.get(house.db, message.run_id)
    if run is not None:
        if message.trigger is Trigger.REFIRE:
            await write_run_ids(house, {message.run_id})
        await house.history.record([firing_of_run(run)])
    if admission.kind is AdmissionKind.REFUSED and admission.code is Code.THREAD_BUSY:
        return Refused(
            Code.THREAD_BUSY,
            f"The standing thread of {message.name} has a live run. Try again when it has ended.",
        )
    if run is None:
        return Refused(Code.INTERNAL, "The run was admitted and is not in the ledger.")
    return _fired(run)
