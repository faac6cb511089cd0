"""The resident watchdog: holds the ledger against the engine, every ten minutes.

It starts what was admitted and never started, resumes what stalled, ends what died and frees
its slot, sees that refused writes are handed back, and writes down claims that never started, so
that nothing is silent. It never re-fires a claim: a person does (contract §3).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from enum import StrEnum

from bot import org
from bot.announce import announce
from bot.channels.base import render_outcome
from bot.dispatch.handback import render_handback
from bot.dispatch.turn import RECORDED
from bot.jobs.run import end_lost, job_ended
from bot.ports import EngineStatus, Fault, Firing, House, Posted
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.schedules.due import SKEW_MS
from bot.schedules.firing import claim_firing, firing_of_run, run_id_of
from bot.schedules.record import write_run_ids
from bot.schedules.row import BrokenRow, Row, rows_of
from bot.times import iso
from bot.words import TEXTS, Code, Delivery, Source, State

log = logging.getLogger("bot.watchdog")
STALL_MS = 120_000
"""How long a live run may go without beginning a step; no step is allowed to take as long."""
MAX_RESUMES = 3
DEADLINE_MS = 30 * 60_000
"""How long any run may live."""


class Remedy(StrEnum):
    """What the watchdog does about one unfinished run."""

    LEAVE = "leave"
    START = "start"
    RESUME = "resume"
    END = "end"


def remedy(run: Run, status: EngineStatus, now_ms: int) -> Remedy:
    """What an unfinished run needs, by how its instance stands. Pure; ``now_ms`` epoch ms."""
    # A step noted well ahead of now was noted under a wrong clock, and says nothing.
    quiet_ms = now_ms - run.touched_at
    stalled = quiet_ms >= STALL_MS or quiet_ms < -SKEW_MS
    if status is EngineStatus.ENDED:
        return Remedy.END
    if now_ms - run.admitted_at > DEADLINE_MS or run.resumed > MAX_RESUMES:
        return Remedy.END
    if not stalled:
        return Remedy.LEAVE
    return Remedy.START if status is EngineStatus.ABSENT else Remedy.RESUME


@dataclass(slots=True)
class WatchReport:
    """What one round did, by run id."""

    started: list[str] = field(default_factory=list[str])
    resumed: list[str] = field(default_factory=list[str])
    ended: list[str] = field(default_factory=list[str])
    unstarted: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        parts = [
            f"{len(names)} {word}"
            for word, names in (
                ("started", self.started),
                ("resumed", self.resumed),
                ("ended", self.ended),
                ("claims never started", self.unstarted),
                ("errors", self.errors),
            )
            if names
        ]
        return ", ".join(parts) or "nothing to do"


async def watch(house: House) -> WatchReport:
    """One round. A store that fails in the middle is reported; the rest goes on."""
    now_ms = house.clock.now_ms()
    report = WatchReport()
    for run in await ledger.unfinished(house.db):
        try:
            await _tend(house, run, now_ms, report)
        except Fault as fault:
            report.errors.append(f"{run.id}: {fault}")
    try:
        await _write_down_claims(house, now_ms, report)
    except Fault as fault:
        report.errors.append(f"claims: {fault}")
    try:
        report.ended += await end_lost(house)
    except Fault as fault:
        report.errors.append(f"jobs: {fault}")
    log.info("watchdog: %s", report, extra={"action": "watched"})
    return report


async def _tend(house: House, run: Run, now_ms: int, report: WatchReport) -> None:
    late = now_ms - run.admitted_at > DEADLINE_MS
    try:
        status = await house.engine.status(run.id)
    except Fault:
        if not late:
            raise
        status = EngineStatus.ALIVE
    what = remedy(run, status, now_ms)
    if what is Remedy.LEAVE:
        return
    log.warning("run %s: %s (%s)", run.id, what, status, extra={"action": f"watchdog_{what}"})
    if what is Remedy.START:
        await ledger.mark_resumed(house.db, run.id, now_ms)
        await house.engine.start([run.id])
        report.started.append(run.id)
    elif what is Remedy.RESUME:
        await ledger.mark_resumed(house.db, run.id, now_ms)
        await house.engine.resume(run.id)
        report.resumed.append(run.id)
    else:
        # The slot is freed first: an engine that does not answer keeps no thread busy.
        if run.owes_handback:
            await _hand_back(house, run, now_ms)
            report.ended.append(run.id)
        elif await end(house, run, Code.TIMED_OUT if late else Code.INTERRUPTED, now_ms):
            report.ended.append(run.id)
        if status is EngineStatus.ALIVE:
            await house.engine.stop(run.id)


async def end(house: House, run: Run, code: Code, now_ms: int) -> bool:
    """End a live run from outside: free its slot, record it, and say so where it would answer.

    False when it had ended by itself meanwhile, and then nothing is said.
    """
    text = f"{TEXTS[code].title} (run {run.id})."
    ended = await ledger.finish(
        house.db, run.id, state=State.FAILED, code=code, output=text, now_ms=now_ms
    )
    if ended:
        told = render_outcome(State.FAILED, code, text)
        delivery = await _say(house, run, told, now_ms, key=f"{run.id}-end")
        await ledger.set_delivery(house.db, run.id, delivery, text)
    current = await ledger.get(house.db, run.id)
    if current is not None and Source(current.source) in RECORDED:
        await house.history.record([firing_of_run(current)])
    if current is not None and Source(current.source) is Source.JOB:
        await job_ended(house, current)
    return ended


async def _hand_back(house: House, run: Run, now_ms: int) -> None:
    """Post the hand-back that a run's own instance could not, under the same key: once."""
    text = render_handback(run.text, None)
    told = render_outcome(run.state, run.code, text)
    delivery = await _say(house, run, told, now_ms, key=f"{run.id}-out")
    await ledger.set_delivery(house.db, run.id, delivery, text)
    current = await ledger.get(house.db, run.id)
    if current is not None:
        await house.history.record([firing_of_run(current)])


async def _say(house: House, run: Run, text: str, now_ms: int, *, key: str) -> str:
    if run.thread is not None:
        surface = house.channels.get(run.thread.partition(":")[0])
        if surface is not None:
            return str(await surface.post(run.thread, text, key=key, now_ms=now_ms))
    elif run.channel is not None:
        told = f"{run.name or run.actor}: {text}"
        return str(await announce(house, told, key=key, now_ms=now_ms, channel=run.channel))
    return str(Posted(Delivery.UNKNOWN))


async def _write_down_claims(house: House, now_ms: int, report: WatchReport) -> None:
    """Record claims that never started, and run ids that a tick died before writing."""
    rows = rows_of((await house.config.read(org.TIER)).entries)
    claimed = [
        row
        for row in rows
        if isinstance(row, Row)
        and row.stored.last_due_at is not None
        and row.stored.last_run_id is None
        and not row.stored.last_skipped
    ]
    if not claimed:
        return
    ids = [run_id_of(row.stored.id, row.stored.last_due_at or 0) for row in claimed]
    runs = await ledger.get_many(house.db, ids)
    claims = [claim_firing(row.stored, runs, now_ms) for row in claimed]
    never = [c for c in claims if c is not None and c.state is State.CLAIMED_NOT_STARTED]
    known = [firing_of_run(run) for run in runs.values()]
    if never or known:
        await house.history.record([*never, *known])
    for claim in never:
        await _say_unstarted(house, claim, rows, now_ms)
    report.unstarted += [claim.name for claim in never]
    if runs:
        await write_run_ids(house, set(runs))


async def _say_unstarted(
    house: House, claim: Firing, rows: list[Row | BrokenRow], now_ms: int
) -> None:
    """Say in the row's channel, once, that a claim never started and how a person fires it."""
    row = next(row for row in rows if isinstance(row, Row) and row.stored.id == claim.row_id)
    text = (
        f"{claim.name} · due {iso(claim.due_at or claim.claimed_at, row.zone)} · {claim.state}: "
        f"it was claimed and never ran. schedule fire {claim.name} runs that minute, once."
    )
    key = f"{claim.key}-unstarted"
    await announce(house, text, key=key, now_ms=now_ms, channel=row.stored.channel)
