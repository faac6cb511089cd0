"""What a cron event of the catalog does: the tick, the watchdog, or a dispatched text."""

from __future__ import annotations

import logging

from bot.announce import default_channel
from bot.dispatch import admit as dispatch
from bot.ports import Firing, House
from bot.runs import ledger
from bot.runs.watchdog import watch
from bot.schedules.catalog import (
    BY_CRON,
    KEEP_ALIVE,
    WATCHDOG,
    CatalogSchedule,
    message_of,
    row_id_of,
)
from bot.schedules.due import MINUTE_MS
from bot.schedules.firing import firing_of_run, run_id_of
from bot.schedules.tick import tick
from bot.words import State, Trigger

log = logging.getLogger("bot.catalog")


async def run_catalog(house: House, cron: str, scheduled_ms: int) -> None:
    """Run the catalog schedule of ``cron``; ``scheduled_ms`` is the event's own time.

    Every one of them may come twice or late: the tick and the watchdog are idempotent, and a
    dispatched text has one run id per due minute. Raises Fault when a store does not answer.
    """
    schedule = BY_CRON.get(cron)
    if schedule is None:
        log.error("no catalog schedule has the cron %s", cron, extra={"action": "cron_unknown"})
    elif schedule is KEEP_ALIVE:
        report = await tick(house)
        log.info("tick %s", report.to_json(), extra={"action": "ticked"})
    elif schedule is WATCHDOG:
        await _watch(house, scheduled_ms)
    else:
        await _dispatch(house, schedule, scheduled_ms)


async def _watch(house: House, scheduled_ms: int) -> None:
    due_at = scheduled_ms - scheduled_ms % MINUTE_MS
    now_ms = house.clock.now_ms()
    report = await watch(house)
    row_id = row_id_of(WATCHDOG)
    firing = Firing(
        key=run_id_of(row_id, due_at),
        name=WATCHDOG.name,
        row_id=row_id,
        due_at=due_at,
        claimed_at=now_ms,
        trigger=Trigger.TICK,
        by=None,
        state=State.FAILED if report.errors else State.OK,
        code="store_unavailable" if report.errors else None,
    )
    await house.history.record([firing])


async def _dispatch(house: House, schedule: CatalogSchedule, scheduled_ms: int) -> None:
    now_ms = house.clock.now_ms()
    due_at = scheduled_ms - scheduled_ms % MINUTE_MS
    message = message_of(schedule, due_at, now_ms, await default_channel(house))
    admissions = await dispatch.admit(house, [message], now_ms)
    await dispatch.start(house, admissions)
    run = await ledger.get(house.db, message.run_id)
    if run is not None:
        await house.history.record([firing_of_run(run)])
