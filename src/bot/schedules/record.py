"""Writing down what a tick did: the history's firings and the rows' run ids.

All of it can be lost without harm, since the ledger knows the runs and a claim without a run
shows by itself; the watchdog writes it down later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot import org
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.ports import Document, Fault, Firing, House
from bot.runs import ledger
from bot.schedules.due import Decision, Repair, Stale
from bot.schedules.firing import firing_of_run, left_behind, run_id_of
from bot.schedules.report import TickReport
from bot.schedules.row import BrokenRow, rows_of
from bot.words import Refused, State, Trigger


async def write_down_earlier(
    house: House, batch: list[Decision], report: TickReport
) -> list[Decision]:
    """Write down earlier claims that never started before newer ones take their place.

    Returns the batch; without the rows whose earlier claim could not be written down, which
    wait for the next tick.
    """
    found = [(each, left_behind(each.row.stored)) for each in batch if not isinstance(each, Repair)]
    earlier = {decision.row.name: firing for decision, firing in found if firing is not None}
    if not earlier:
        return batch
    try:
        await write_down_claims(house, list(earlier.values()))
    except Fault as fault:
        report.fault("earlier claims", fault)
        report.lost += list(earlier)
        return [decision for decision in batch if decision.row.name not in earlier]
    return batch


async def write_down_claims(house: House, claims: Sequence[Firing]) -> None:
    """Write claims without a run id to the history; as the run that came of one, if one did.

    Raises Fault when a store does not answer.
    """
    runs = await ledger.get_many(house.db, [claim.key for claim in claims])
    known = [firing_of_run(run) for run in runs.values()]
    never = [claim for claim in claims if claim.key not in runs]
    await house.history.record([*known, *never])


async def write_down(
    house: House,
    skips: Sequence[Stale],
    admitted: Sequence[tuple[IncomingMessage, Admission]],
    now_ms: int,
    report: TickReport,
) -> None:
    """One write to the history, one swap for the run ids."""
    firings = [_skipped(decision, now_ms) for decision in skips]
    firings += [
        _admitted(message, admission)
        for message, admission in admitted
        if admission.kind is not AdmissionKind.DUPLICATE
    ]
    try:
        if firings:
            await house.history.record(firings)
    except Fault as fault:
        report.fault("history", fault)
    if not admitted:
        return
    try:
        written = await write_run_ids(house, {message.run_id for message, _ in admitted})
        if isinstance(written, Refused):
            raise Fault(written.detail)
    except Fault as fault:
        report.fault("run ids", fault)


async def write_run_ids(house: House, run_ids: set[str]) -> Refused | None:
    """Write the run ids of claimed minutes to their rows, where the claim still stands."""

    def decision(document: Document) -> tuple[dict[str, Any], None]:
        changes: dict[str, Any] = {}
        for row in rows_of(document.entries):
            if isinstance(row, BrokenRow) or row.stored.last_due_at is None:
                continue
            run_id = run_id_of(row.stored.id, row.stored.last_due_at)
            if row.stored.last_run_id is None and run_id in run_ids:
                changes[row.key] = {**document.entries[row.key], "lastRunId": run_id}
        return changes, None

    return await org.change(house.config, decision, upkeep=True)


def _skipped(decision: Stale, now_ms: int) -> Firing:
    stored = decision.row.stored
    return Firing(
        key=run_id_of(stored.id, decision.due_at),
        name=stored.name,
        row_id=stored.id,
        due_at=decision.due_at,
        claimed_at=now_ms,
        trigger=Trigger.TICK,
        by=None,
        state=State.SKIPPED_STALE,
        coalesced=decision.coalesced,
    )


def _admitted(message: IncomingMessage, admission: Admission) -> Firing:
    return Firing(
        key=message.run_id,
        name=message.name or "",
        row_id=message.row_id or "",
        due_at=message.due_at,
        claimed_at=message.claimed_at or 0,
        trigger=message.trigger or Trigger.TICK,
        by=message.by,
        state=State.REFUSED if admission.kind is AdmissionKind.REFUSED else State.RUNNING,
        code=admission.code,
        run_id=message.run_id,
        coalesced=message.coalesced,
    )
