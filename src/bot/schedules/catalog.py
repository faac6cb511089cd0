"""The three schedules that ship in code (contract §1). Their crons are wrangler.jsonc's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.authz.actor import Actor, Surface
from bot.authz.grants import Grant
from bot.dispatch.message import IncomingMessage
from bot.schedules.firing import run_id_of
from bot.words import Source, Trigger


@dataclass(frozen=True, slots=True)
class CatalogSchedule:
    """A schedule of the product's own. Its cron is in UTC, weekdays by name."""

    name: str
    cron: str
    text: str = ""
    grants: tuple[Grant, ...] = ()


KEEP_ALIVE: Final = CatalogSchedule("keep-alive", "* * * * *", "the minute tick")
WATCHDOG: Final = CatalogSchedule("resident-watchdog", "*/10 * * * *", "resume or end stalled runs")
SELF_IMPROVEMENT: Final = CatalogSchedule(
    "self-improvement",
    "0 6 * * MON",
    "Look at the runs of the last seven days: name the schedules that failed or were refused "
    "most, say what they have in common, and propose one change that would help most.",
    (Grant("run:read"), Grant("schedule:read")),
)
CATALOG: Final = (KEEP_ALIVE, SELF_IMPROVEMENT, WATCHDOG)
NAMES: Final = frozenset(schedule.name for schedule in CATALOG)
BY_CRON: Final = {schedule.cron: schedule for schedule in CATALOG}


def row_id_of(schedule: CatalogSchedule) -> str:
    """What stands for a row id in the run ids of a catalog schedule."""
    return "catalog" + re.sub(r"[^a-z]", "", schedule.name)


def message_of(
    schedule: CatalogSchedule, due_at: int, now_ms: int, channel: str
) -> IncomingMessage:
    """The firing of a catalog schedule that has a text, as its own actor."""
    row_id = row_id_of(schedule)
    return IncomingMessage(
        run_id=run_id_of(row_id, due_at),
        actor=Actor(Surface.SCHEDULE, schedule.name),
        grants=schedule.grants,
        source=Source.CATALOG,
        text=schedule.text,
        channel=channel,
        lead=f"{schedule.name} · every week",
        name=schedule.name,
        row_id=row_id,
        due_at=due_at,
        claimed_at=now_ms,
        trigger=Trigger.TICK,
    )
