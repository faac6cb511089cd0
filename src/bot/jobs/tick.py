"""The jobs' part of the minute tick: one query, one claim, one admission (contract §7).

It waits for no run and no push. What breaks is reported and never stops the schedules; nothing
is dispatched that was not claimed, and what is not claimed is due again at the next tick.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot import org, pushes
from bot.dispatch import admit as dispatch
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.events import Event, EventKind
from bot.jobs import store
from bot.jobs.decide import Fire, Repair, Skip, SkipStale, decide
from bot.jobs.job import Job
from bot.jobs.run import grants_now, message_of, owner_of, run_id_of
from bot.jobs.spec import Once
from bot.jobs.store import BrokenJob, Claim, claim_of
from bot.ports import Fault, House
from bot.times import iso

log = logging.getLogger("bot.jobs")
ADMISSION_ATTEMPTS = 2


@dataclass(slots=True)
class JobsReport:
    """What one tick did about jobs.

    ``rows_read`` is what its due query cost, ``admitted_ms`` how long it took until all was
    claimed and admitted; starting the instances comes after.
    """

    due: int = 0
    claimed: int = 0
    lost: int = 0
    skipped: int = 0
    stale: int = 0
    started: int = 0
    errors: list[str] = field(default_factory=list[str])
    rows_read: int = 0
    admitted_ms: int = 0

    def to_json(self) -> dict[str, int]:
        """The tick's answer about jobs (contract §6)."""
        return {
            "due": self.due,
            "claimed": self.claimed,
            "lost": self.lost,
            "skipped": self.skipped,
            "stale": self.stale,
            "started": self.started,
        }

    def fault(self, stage: str, fault: Fault) -> None:
        """Note that a store failed at ``stage``."""
        self.errors.append(f"jobs, {stage}: {fault}")
        log.error("jobs: %s failed: %s", stage, fault, extra={"action": "tick_fault"})


async def tick_jobs(house: House, now_ms: int) -> JobsReport:
    """Claim and admit the jobs that are due at ``now_ms``. Never raises Fault.

    With nothing due it is one query. At most ``store.MAX_A_TICK`` jobs are looked at, the
    longest due first; the others keep their due instants and follow in the next tick.
    """
    report, begun_at = JobsReport(), house.clock.now_ms()
    try:
        found = await store.due(house.db, now_ms)
    except Fault as fault:
        report.fault("due", fault)
        return report
    report.rows_read = found.rows_read
    claims = _claims(found.jobs, now_ms, report)
    pushes_wait = found.pushes_wait
    if claims:
        messages, told = await _claim(house, claims, now_ms, report)
        admissions = await _admit(house, messages, now_ms, report)
        report.admitted_ms = house.clock.now_ms() - begun_at
        await _start(house, admissions, report)
        pushes_wait |= told
        log.info(
            "jobs %s: %s rows read, admitted after %s ms",
            report.to_json(),
            report.rows_read,
            report.admitted_ms,
            extra={"action": "jobs_ticked"},
        )
    if pushes_wait:
        house.background.defer(_flush(house))
    return report


def _claims(jobs: Sequence[Job | BrokenJob], now_ms: int, report: JobsReport) -> list[Claim]:
    claims: list[Claim] = []
    for each in jobs:
        if isinstance(each, BrokenJob):
            event = _given_up(each.job, f"can no longer be read: {each.reason}", now_ms)
            claims.append(claim_of(each.job, SkipStale(each.job.created_at), now_ms, event=event))
            continue
        decision = decide(each, now_ms)
        if isinstance(decision, Skip):
            report.skipped += 1
        elif isinstance(decision, Fire):
            run_id = run_id_of(each.id, decision.due_at)
            claims.append(claim_of(each, decision, now_ms, run_id=run_id))
        elif isinstance(decision, SkipStale) and isinstance(each.spec, Once):
            claims.append(
                claim_of(each, decision, now_ms, event=_abandoned(each, decision.due_at, now_ms))
            )
        else:
            claims.append(claim_of(each, decision, now_ms))
    return claims


async def _claim(
    house: House, claims: Sequence[Claim], now_ms: int, report: JobsReport
) -> tuple[list[IncomingMessage], bool]:
    """Claim; the messages of what fires, and whether an event was made that waits for its push."""
    report.due = sum(not isinstance(each.decision, Repair) for each in claims)
    try:
        # Before the claim: what cannot be dispatched for want of grants is not claimed.
        entries = (await house.config.read(org.TIER)).entries
        won = await store.claim(house.db, claims, now_ms)
    except Fault as fault:
        report.fault("claim", fault)
        report.lost = report.due
        return [], False
    messages: list[IncomingMessage] = []
    told = False
    for each in claims:
        if isinstance(each.decision, Repair):
            report.skipped += 1
            log.warning("job %s: its base lay in the future", each.job.id)
        elif each.job.id not in won:
            report.lost += 1
        elif isinstance(each.decision, Fire):
            report.claimed += 1
            messages.append(_message(house, each, each.decision, entries, now_ms))
        else:
            report.stale += 1
            told |= each.event is not None
    return messages, told


def _message(
    house: House, claim: Claim, fire: Fire, entries: Mapping[str, Any], now_ms: int
) -> IncomingMessage:
    owner = owner_of(claim.job)
    return message_of(
        claim.job,
        owner,
        grants_now(house, owner, entries),
        run_id=run_id_of(claim.job.id, fire.due_at),
        claimed_at=now_ms,
        due_at=fire.due_at,
    )


async def _admit(
    house: House, messages: Sequence[IncomingMessage], now_ms: int, report: JobsReport
) -> list[Admission]:
    """Admission, tried again once: a claim that is not admitted is lost, and told as lost."""
    if not messages:
        return []
    admissions: list[Admission] = []
    for attempt in range(1, ADMISSION_ATTEMPTS + 1):
        try:
            admissions = await dispatch.admit(house, messages, now_ms)
            break
        except Fault as fault:
            if attempt == ADMISSION_ATTEMPTS:
                report.fault("admission", fault)
    report.started = sum(each.kind is AdmissionKind.ADMITTED for each in admissions)
    return admissions


async def _start(house: House, admissions: Sequence[Admission], report: JobsReport) -> None:
    try:
        await dispatch.start(house, admissions)
    except Fault as fault:
        report.fault("start", fault)


def _abandoned(job: Job, due_at: int, now_ms: int) -> Event:
    why = f"was due at {iso(due_at)}, more than a day ago, and did not run"
    return _given_up(job, why, now_ms, due_at)


def _given_up(job: Job, why: str, now_ms: int, due_at: int | None = None) -> Event:
    """The one message about a job that will never run: what happened, and whose move it is."""
    return Event(
        key=f"{job.id}-abandoned",
        owner=job.user_id,
        kind=EventKind.JOB_ABANDONED,
        text=f"⚠️ {job.name} {why}. It is off, and yours to re-schedule.\n{job.prompt[:500]}",
        at=now_ms,
        thread=job.thread,
        data={
            "job_id": job.id,
            "name": job.name,
            "due_at": None if due_at is None else iso(due_at),
        },
    )


async def _flush(house: House) -> None:
    await pushes.flush(house)
