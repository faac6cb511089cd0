"""The minute tick: read once, claim what is due, admit it, and return (contract §3).

It waits for no run. Whatever breaks in the middle is reported in its answer; nothing is
dispatched that was not claimed, and the next tick goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot import org
from bot.dispatch import admit as dispatch
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.jobs.tick import tick_jobs
from bot.ports import Document, Fault, House
from bot.schedules import broken
from bot.schedules.claim import CLAIM_BATCH, Claimed, NotTaken, claim
from bot.schedules.due import Decision, Repair, Stale, decide
from bot.schedules.firing import message_of, run_id_of
from bot.schedules.record import write_down, write_down_earlier
from bot.schedules.report import TickReport
from bot.schedules.row import BrokenRow, Row, rows_of
from bot.words import Trigger

log = logging.getLogger("bot.tick")
ADMISSION_ATTEMPTS = 2


@dataclass(slots=True)
class _Won:
    """What the claims of one tick have come to so far."""

    skips: list[Stale] = field(default_factory=list[Stale])
    admitted: list[tuple[IncomingMessage, Admission]] = field(
        default_factory=list[tuple[IncomingMessage, Admission]]
    )


async def tick(house: House) -> TickReport:
    """One tick, over stored schedules and then over jobs. A store that fails is in the report.

    The statistics are written after the answer, so that an idle tick is one read of the
    document and the jobs' one query. The engine is set going last: a hundred runs that begin
    would hold up whatever the tick still had to do.
    """
    now_ms = house.clock.now_ms()
    report = TickReport(at=now_ms)
    won = _Won()
    try:
        document = await house.config.read(org.TIER)
    except Fault as fault:
        report.fault("read", fault)
    else:
        await _tick_schedules(house, document, now_ms, report, won)
    report.jobs = await tick_jobs(house, now_ms)
    report.errors += report.jobs.errors
    if won.admitted:
        try:
            await dispatch.start(house, [admission for _, admission in won.admitted])
        except Fault as fault:
            report.fault("start", fault)
    report.ms = house.clock.now_ms() - now_ms
    house.background.defer(house.history.record_tick(report.record()))
    return report


async def _tick_schedules(
    house: House, document: Document, now_ms: int, report: TickReport, won: _Won
) -> None:
    rows = rows_of(document.entries)
    await _claim_and_admit(house, document.version, rows, now_ms, report, won)
    if won.admitted or won.skips:
        await write_down(house, won.skips, won.admitted, now_ms, report)
    wreck = [r for r in rows if isinstance(r, BrokenRow) and not broken.is_paused(r)]
    if wreck:
        try:
            await broken.pause(house, wreck, now_ms, report)
        except Fault as fault:
            report.fault("pause broken rows", fault)


async def _claim_and_admit(
    house: House,
    version: int,
    rows: Sequence[Row | BrokenRow],
    now_ms: int,
    report: TickReport,
    won: _Won,
) -> None:
    """Claim batch by batch, each under the version that the one before it left.

    A batch that lost its swap waits for the next tick; the rows that follow it are read again,
    once. One that the document does not take is halved until the row that it is for stands
    alone: that one is reported, and the others fire.
    """
    pending = _decisions(rows, now_ms, report)
    report.due = sum(not isinstance(decision, Repair) for decision in pending)
    batches = _batches(pending, CLAIM_BATCH)
    read_again = False
    while batches:
        batch = await write_down_earlier(house, batches.pop(0), report)
        if not batch:
            continue
        try:
            claimed = await claim(house.config, version, batch, now_ms)
            if isinstance(claimed, Claimed):
                version = claimed.version
                await _admit(house, batch, now_ms, report, won)
                continue
            if isinstance(claimed, NotTaken):
                if len(batch) == 1:
                    report.unclaimed(batch[0].row.name, claimed.reason)
                else:
                    batches[:0] = _batches(batch, (len(batch) + 1) // 2)
                continue
            report.lost += _names(batch)
            batch = []
            if read_again or not batches:
                break
            read_again = True
            document = await house.config.read(org.TIER)
        except Fault as fault:
            report.fault("claim", fault)
            report.lost += _names(batch)
            break
        version = document.version
        following = {name for batch in batches for name in _names(batch)}
        again = _decisions(rows_of(document.entries), now_ms, report)
        batches = _batches([each for each in again if each.row.name in following], CLAIM_BATCH)
    report.lost += [name for batch in batches for name in _names(batch)]


def _batches(decisions: list[Decision], size: int) -> list[list[Decision]]:
    return [decisions[start : start + size] for start in range(0, len(decisions), size)]


def _decisions(rows: Sequence[Row | BrokenRow], now_ms: int, report: TickReport) -> list[Decision]:
    """What each row asks; one that cannot be judged is reported and keeps no other waiting."""
    decisions: list[Decision] = []
    for row in rows:
        if isinstance(row, BrokenRow):
            continue
        try:
            decision = decide(row, now_ms)
        except Exception as error:
            report.errors.append(f"{row.name}: it cannot be judged: {error}")
            log.exception("%s cannot be judged", row.name, extra={"action": "row_unjudged"})
            continue
        if decision is not None:
            decisions.append(decision)
    return decisions


def _names(decisions: Sequence[Decision]) -> list[str]:
    return [decision.row.name for decision in decisions]


async def _admit(
    house: House, batch: Sequence[Decision], now_ms: int, report: TickReport, won: _Won
) -> None:
    """Admit one claimed batch at once: what dies here is at most one batch."""
    messages: list[IncomingMessage] = []
    for decision in batch:
        name = decision.row.name
        if isinstance(decision, Repair) or decision.repaired:
            report.repaired.append(name)
            log.warning(
                "the base of %s lay in the future and is set to now",
                name,
                extra={"action": "clock_repaired"},
            )
        if isinstance(decision, Repair):
            continue
        if isinstance(decision, Stale):
            report.skipped.append(name)
            won.skips.append(decision)
            continue
        report.claimed.append(name)
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
    admissions = await _admissions(house, messages, now_ms, report) if messages else []
    for message, admission in zip(messages, admissions, strict=False):
        won.admitted.append((message, admission))
        name = message.name or ""
        if admission.kind is AdmissionKind.REFUSED:
            report.refused.append((name, str(admission.code)))
        elif admission.kind is AdmissionKind.ADMITTED:
            report.started.append((name, admission.run_id))


async def _admissions(
    house: House, messages: Sequence[IncomingMessage], now_ms: int, report: TickReport
) -> list[Admission]:
    """Admission, tried again once, since what is claimed and not admitted waits for a person.

    Nothing where it fails for good.
    """
    for attempt in range(1, ADMISSION_ATTEMPTS + 1):
        try:
            return await dispatch.admit(house, messages, now_ms)
        except Fault as fault:
            if attempt == ADMISSION_ATTEMPTS:
                report.fault("admission", fault)
    return []
