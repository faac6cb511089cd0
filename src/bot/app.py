"""The composition root: from the platform's ``env`` to a house of ports, and the two doors.

The only module of the pure house that knows ``bot.cloudflare``, inside ``house_of``.
"""

from __future__ import annotations

import logging
from typing import Any

from bot.channels.http import HttpChannel
from bot.channels.web import WebChannel
from bot.commands import REGISTRY
from bot.http.app import handle
from bot.http.values import Request, Response
from bot.ports import Fault, House
from bot.schedules.catalog_run import run_catalog

log = logging.getLogger("bot")


def house_of(env: Any, ctx: Any) -> House:
    """Every port of one request or run, over the Worker's bindings."""
    from bot.cloudflare.background import WaitUntil
    from bot.cloudflare.clock import SystemClock
    from bot.cloudflare.d1 import D1
    from bot.cloudflare.http import Fetch
    from bot.cloudflare.ids import SecretIds
    from bot.cloudflare.settings import settings_of
    from bot.cloudflare.workflows import Workflows
    from config_do.client import ConfigClient
    from schedule_do.client import ScheduleClient

    settings = settings_of(env)
    db = D1(env.DB)
    return House(
        settings=settings,
        commands=REGISTRY,
        clock=SystemClock(),
        ids=SecretIds(),
        config=ConfigClient(env.CONFIG),
        history=ScheduleClient(env.SCHEDULES),
        db=db,
        engine=Workflows(env.RUNS),
        channels={"web": WebChannel(db, settings.web_channels), "http": HttpChannel()},
        http=Fetch(),
        background=WaitUntil(ctx),
    )


async def fetch(house: House, request: Request) -> Response:
    """Answer one HTTP request."""
    return await handle(house, request)


async def scheduled(house: House, cron: str, scheduled_ms: int) -> None:
    """Run what a cron event stands for. Faults are logged: the next event goes on."""
    try:
        await run_catalog(house, cron, scheduled_ms)
    except Fault as fault:
        log.error("%s did nothing: %s", cron, fault, extra={"action": "cron_fault"})
