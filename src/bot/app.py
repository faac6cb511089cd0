"""The composition root: from the platform's ``env`` to a house of ports, and the two doors.

The only module of the pure house that knows ``bot.cloudflare``, inside ``house_of``.
"""

from __future__ import annotations

import logging
from typing import Any

from bot.channels.http import HttpChannel
from bot.channels.slack import SlackChannel
from bot.channels.telegram import TelegramChannel
from bot.channels.web import WebChannel
from bot.commands.all import REGISTRY
from bot.http.app import handle
from bot.http.values import Request, Response
from bot.ports import Fault, House
from bot.schedules.catalog_run import run_catalog

log = logging.getLogger("bot")


def house_of(env: Any, ctx: Any) -> House:
    """Every port of one request or run, over the Worker's bindings."""
    from bot.cloudflare.access import access_keys_of
    from bot.cloudflare.ai import inference_of
    from bot.cloudflare.background import WaitUntil
    from bot.cloudflare.clock import SystemClock
    from bot.cloudflare.d1 import D1
    from bot.cloudflare.http import Fetch
    from bot.cloudflare.ids import SecretIds
    from bot.cloudflare.seal import AesSeal
    from bot.cloudflare.settings import settings_of
    from bot.cloudflare.workflows import Workflows
    from config_do.client import ConfigClient
    from schedule_do.client import ScheduleClient

    settings = settings_of(env)
    db, http, config = D1(env.DB), Fetch(), ConfigClient(env.CONFIG)
    return House(
        settings=settings,
        commands=REGISTRY,
        clock=SystemClock(),
        ids=SecretIds(),
        config=config,
        history=ScheduleClient(env.SCHEDULES),
        db=db,
        engine=Workflows(env.RUNS),
        channels={
            "web": WebChannel(db, settings.web_channels),
            "slack": SlackChannel(db, config, http, settings),
            "telegram": TelegramChannel(db, http, settings),
            "http": HttpChannel(),
        },
        http=http,
        background=WaitUntil(ctx),
        seal=AesSeal(settings.seal_key),
        inference=inference_of(env),
        access_keys=access_keys_of(settings, http),
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
