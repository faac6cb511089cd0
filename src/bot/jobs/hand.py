"""A job run once by hand (``/api/job-run``): claimed, admitted and started like any other."""

from __future__ import annotations

import logging

from bot import org
from bot.authz.actor import Actor
from bot.dispatch import admit as dispatch
from bot.jobs import store
from bot.jobs.job import Job
from bot.jobs.run import grants_now, hand_run_id, message_of
from bot.jobs.service import no_job
from bot.ports import Fault, House
from bot.words import Code, Refused, Trigger

log = logging.getLogger("bot.jobs")
BY = "internal"
"""Who pressed: the bearer of the internal key, who is no actor."""


async def begin(
    house: House, owner: Actor, job_id: str, *, call_id: str, now_ms: int
) -> str | Refused:
    """Claim and start one run of the owner's job; its run id.

    The job keeps its slot, and one that is off runs all the same: the key's bearer asked.
    Returns ``not_found`` for another's job, ``conflict`` where the job changed or went while it
    was read. Raises Fault when a store does not answer; what was claimed then shows, and is
    ended by the watchdog.
    """
    job = await store.get(house.db, owner.id, job_id)
    if job is None:
        return no_job(job_id)
    if not isinstance(job, Job):
        return Refused(Code.BAD_VALUE, f"The job can no longer be read: {job.reason}")
    entries = (await house.config.read(org.TIER)).entries
    run_id = hand_run_id(job.id, call_id)
    if not await store.claim_by_hand(house.db, job, run_id, now_ms):
        return Refused(Code.CONFLICT, "The job changed or was deleted just now. Look again.")
    message = message_of(
        job,
        owner,
        grants_now(house, owner, entries),
        run_id=run_id,
        claimed_at=now_ms,
        trigger=Trigger.HAND,
        by=BY,
    )
    admissions = await dispatch.admit(house, [message], now_ms)
    try:
        await dispatch.start(house, admissions)
    except Fault as fault:
        # The run is admitted: the watchdog starts it, or its deadline ends it.
        log.error("run %s not started: %s", run_id, fault, extra={"action": "start_failed"})
    return run_id
