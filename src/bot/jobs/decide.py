"""What a job asks of a tick: fire, skip or skip as stale, with the due instant. Pure (§7).

The instant that a job fires for is the latest one that is due; earlier ones fold into it. A
one-shot and an interval are stale when they have been due for more than 24 h: what an interval
lost is made up for within one period, so that a long backlog does not fire all at once. A
daily job is due for its latest day, whatever it missed before: today's run, five minutes late
after a week's outage, is not lost to last Tuesday's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.jobs.job import Job
from bot.jobs.spec import DAY_MS, MINUTE_MS, Interval, Once, Recurring

CATCH_UP_MS = DAY_MS
"""How late a job may fire."""
SKEW_MS = MINUTE_MS
"""How far ahead a job's base may lie before the clock that wrote it was plainly wrong."""


@dataclass(frozen=True, slots=True)
class Fire:
    """The job fires for ``due_at``, the latest due instant."""

    due_at: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing is due."""


@dataclass(frozen=True, slots=True)
class SkipStale:
    """Missed by more than 24 h, first at ``due_at``: advance without a run."""

    due_at: int


@dataclass(frozen=True, slots=True)
class Repair:
    """The base lies in the future and nothing is due: set it to now, or the job is silent."""


Decision = Fire | Skip | SkipStale | Repair


def decide(job: Job, now_ms: int) -> Decision:
    """Judge one job at ``now_ms`` (epoch milliseconds) by its times alone.

    A base more than a minute ahead was written under a wrong clock. The minute before now still
    counts then, and the run id of an instant that did run keeps it from running twice.
    """
    if not job.enabled:
        return Skip()
    if isinstance(job.spec, Once):
        if job.last_fired_at is not None or job.spec.run_at > now_ms:
            return Skip()
        late = now_ms - job.spec.run_at > CATCH_UP_MS
        return SkipStale(job.spec.run_at) if late else Fire(job.spec.run_at)
    return _decide_recurring(job, job.spec, now_ms)


def _decide_recurring(job: Job, spec: Recurring, now_ms: int) -> Decision:
    ahead = job.base > now_ms + SKEW_MS
    first = spec.after(now_ms - MINUTE_MS if ahead else job.base, job.created_at)
    if first > now_ms:
        return Repair() if ahead else Skip()
    if isinstance(spec, Interval) and now_ms - first > CATCH_UP_MS:
        return SkipStale(first)
    return Fire(spec.upto(now_ms, job.created_at))


def claimed(job: Job, decision: Decision, now_ms: int) -> Job:
    """The job as it stands once ``decision`` (not Skip) is claimed at ``now_ms``.

    A one-shot is spent by its claim, run or stale alike.
    """
    return replace(
        job,
        last_fired_at=now_ms,
        enabled=not isinstance(job.spec, Once),
        version=job.version + 1,
    )
