"""The minute tick: read once, claim what is due, admit it, and return (contract §3).

It waits for no run. Whatever breaks in the middle is reported in its answer; nothing is
dispatched that was not claimed, and the next tick goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot import org
from bot.dispatch import admit as dispatch
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.ports import Document, Fault, Firing, House, TickRecord
from bot.runs import ledger
from bot.schedules import broken
from bot.schedules.claim import CLAIM_BATCH, Claimed, claim
from bot.schedules.due import Decision, Due, Repair, Stale, decide
from bot.schedules.firing import firing_of_run, left_behind, message_of, run_id_of
from bot.schedules.row import BrokenRow, Row, rows_of
from bot.times import iso
from bot.words import State, Trigger

log = logging.getLogger("bot.tick")
ADMISSION_ATTEMPTS = 2


@dataclass(slots=True)
class TickReport:
    """What one tick did. ``at`` and ``ms``: epoch milliseconds and a duration."""

    at: int
    ms: int = 0
    due: int = 0
    claimed: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])
    started: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    skipped: list[str] = field(default_factory=list[str])
    repaired: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def to_json(self) -> dict[str, Any]:
        """The route's answer (contract §6)."""
        return {
            "at": iso(self.at),
            "due": self.due,
            "claimed": self.claimed,
            "lost": self.lost,
            "started": [{"name": name, "run_id": run_id} for name, run_id in self.started],
            "refused": [{"name": name, "code": code} for name, code in self.refused],
            "skipped": self.skipped,
            "repaired": self.repaired,
            "broken": self.broken,
            "errors": self.errors,
            "jobs": {"due": 0, "claimed": 0, "lost": 0, "skipped": 0, "stale": 0, "started": 0},
            "ms": self.ms,
        }

    def fault(self, stage: str, fault: Fault) -> None:
        """Note that a store failed at ``stage``."""
        self.errors.append(f"{stage}: {fault}")
        log.error("tick: %s failed: %s", stage, fault, extra={"action": "tick_fault"})


@dataclass(slots=True)
class _Work:
    """What the claimed firings of one tick have come to so far."""

    won: list[Decision] = field(default_factory=list[Decision])
    messages: dict[str, IncomingMessage] = field(default_factory=dict[str, IncomingMessage])
    admissions: list[Admission] = field(default_factory=list[Admission])


async def tick(house: House) -> TickReport:
    """One tick. Raises Fault only where the org document cannot be read: nothing was done."""
    now_ms = house.clock.now_ms()
    report = TickReport(at=now_ms)
    document = await house.config.read(org.TIER)
    work = _Work()
    wreck = await _claim_and_admit(house, document, now_ms, report, work)
    if work.admissions:
        try:
            await dispatch.start(house, work.admissions)
        except Fault as fault:
            report.fault("start", fault)
    if work.won:
        await _write_down(house, work, now_ms, report)
    if wreck:
        await _pause_broken(house, wreck, now_ms, report)
    report.ms = house.clock.now_ms() - now_ms
    house.background.defer(house.history.record_tick(_record(report)))
    return report


async def _claim_and_admit(
    house: House, document: Document, now_ms: int, report: TickReport, work: _Work
) -> list[BrokenRow]:
    rows = rows_of(document.entries)
    pending, version = _decisions(rows, now_ms), document.version
    report.due = sum(not isinstance(decision, Repair) for decision in pending)
    read_again = False
    while pending:
        batch, pending = pending[:CLAIM_BATCH], pending[CLAIM_BATCH:]
        batch = await _without_trace_lost(house, batch, report)
        if not batch:
            continue
        try:
            claimed = await claim(house.config, version, batch, now_ms)
        except Fault as fault:
            report.fault("claim", fault)
            report.lost += [decision.row.name for decision in (*batch, *pending)]
            break
        if isinstance(claimed, Claimed):
            version = claimed.version
            await _admit(house, batch, now_ms, report, work)
            continue
        report.lost += [decision.row.name for decision in batch]
        if read_again or not pending:
            report.lost += [decision.row.name for decision in pending]
            break
        read_again = True
        try:
            document = await house.config.read(org.TIER)
        except Fault as fault:
            report.fault("read again", fault)
            report.lost += [decision.row.name for decision in pending]
            break
        following = {decision.row.name for decision in pending}
        pending = [
            decision
            for decision in _decisions(rows_of(document.entries), now_ms)
            if decision.row.name in following
        ]
        version = document.version
    return [row for row in rows if isinstance(row, BrokenRow) and not broken.is_paused(row.entry)]


async def _without_trace_lost(
    house: House, batch: list[Decision], report: TickReport
) -> list[Decision]:
    """Write down earlier claims that never started before newer ones take their place.

    Returns the batch; without the rows whose earlier claim could not be written down, which
    wait for the next tick.
    """
    found = [(d, left_behind(d.row.stored)) for d in batch if not isinstance(d, Repair)]
    earlier = {decision.row.name: firing for decision, firing in found if firing is not None}
    if not earlier:
        return batch
    try:
        runs = await ledger.get_many(house.db, [firing.key for firing in earlier.values()])
        known = [firing_of_run(run) for run in runs.values()]
        never = [firing for firing in earlier.values() if firing.key not in runs]
        await house.history.record([*known, *never])
    except Fault as fault:
        report.fault("earlier claims", fault)
        report.lost += list(earlier)
        return [decision for decision in batch if decision.row.name not in earlier]
    return batch


def _decisions(rows: Sequence[Row | BrokenRow], now_ms: int) -> list[Decision]:
    decided = (decide(row, now_ms) for row in rows if isinstance(row, Row))
    return [decision for decision in decided if decision is not None]


async def _admit(
    house: House, batch: Sequence[Decision], now_ms: int, report: TickReport, work: _Work
) -> None:
    """Admit one claimed batch at once: what dies here is at most one batch."""
    messages: list[IncomingMessage] = []
    for decision in batch:
        work.won.append(decision)
        if isinstance(decision, Repair) or decision.repaired:
            report.repaired.append(decision.row.name)
            log.warning(
                "the base of %s lay in the future and is set to now",
                decision.row.name,
                extra={"action": "clock_repaired"},
            )
        if isinstance(decision, Repair):
            continue
        if isinstance(decision, Stale):
            report.skipped.append(decision.row.name)
            continue
        report.claimed.append(decision.row.name)
        messages.append(
            message_of(
                decision.row,
                trigger=Trigger.TICK,
                claimed_at=now_ms,
                due_at=decision.due_at,
                run_id=run_id_of(decision.row.stored.id, decision.due_at),
                coalesced=decision.coalesced,
            )
        )
    if not messages:
        return
    for attempt in range(ADMISSION_ATTEMPTS):
        try:
            admissions = await dispatch.admit(house, messages, now_ms)
            break
        except Fault as fault:
            if attempt + 1 == ADMISSION_ATTEMPTS:
                report.fault("admission", fault)
                return
    work.admissions += admissions
    for message, admission in zip(messages, admissions, strict=True):
        work.messages[message.run_id] = message
        name = message.name or ""
        if admission.kind is AdmissionKind.REFUSED:
            report.refused.append((name, str(admission.code)))
        else:
            report.started.append((name, admission.run_id))


async def _write_down(house: House, work: _Work, now_ms: int, report: TickReport) -> None:
    """One write to the history, one swap for the run ids. Both can be lost without harm: the
    ledger knows the runs, and a claim without a run shows by itself."""
    firings = [_skipped(d, now_ms) for d in work.won if isinstance(d, Stale)]
    firings += [
        _admitted(work.messages[admission.run_id], admission)
        for admission in work.admissions
        if admission.kind is not AdmissionKind.DUPLICATE
    ]
    try:
        if firings:
            await house.history.record(firings)
    except Fault as fault:
        report.fault("history", fault)
    run_ids = {admission.run_id for admission in work.admissions}
    if not run_ids:
        return
    try:
        await write_run_ids(house, run_ids)
    except Fault as fault:
        report.fault("run ids", fault)


async def write_run_ids(house: House, run_ids: set[str]) -> None:
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

    await org.change(house.config, decision)


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


async def _pause_broken(
    house: House, wreck: Sequence[BrokenRow], now_ms: int, report: TickReport
) -> None:
    try:
        report.broken += await broken.pause(house, [row.name for row in wreck], now_ms)
    except Fault as fault:
        report.fault("pause broken rows", fault)


def _record(report: TickReport) -> TickRecord:
    return TickRecord(
        at=report.at,
        ms=report.ms,
        due=report.due,
        claimed=len(report.claimed),
        lost=len(report.lost),
        started=len(report.started),
        errors=len(report.errors),
    )
