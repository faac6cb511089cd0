"""Saying something that nobody asked for: into a channel, in a thread of its own."""

from __future__ import annotations

import logging

from bot import org
from bot.ports import ChannelIO, Fault, House, NotOpened, Posted
from bot.words import Delivery

log = logging.getLogger("bot.channels")
SETTING = "channel"
"""The org setting that names where the bot says what concerns no schedule's own channel."""


def find(house: House, channel: str) -> ChannelIO | None:
    """The surface that owns ``channel``, if that channel can be named there."""
    surface = house.channels.get(channel.partition(":")[0])
    return surface if surface is not None and surface.exists(channel) else None


async def default_channel(house: House) -> str:
    """The organisation's channel: its setting, else the first web channel."""
    document = await house.config.read(org.TIER)
    named = document.entries.get(SETTING)
    if isinstance(named, str) and find(house, named) is not None:
        return named
    return f"web:{house.settings.web_channels[0]}"


async def announce(
    house: House, text: str, *, key: str, now_ms: int, channel: str | None = None
) -> Posted:
    """Open a thread that says ``text``; the same ``key`` says it once. Answers how that went.

    A channel that cannot take it is logged, never raised: the announcement accompanies
    something that was done already.
    """
    try:
        where = channel if channel and find(house, channel) else await default_channel(house)
        surface = find(house, where)
        if surface is None:
            log.error("nowhere to say: %s", text, extra={"action": "announce_failed"})
            return Posted(Delivery.UNDELIVERED, f"{where} is not there")
        opened = await surface.open_thread(where, text, key=key, now_ms=now_ms)
        if isinstance(opened, NotOpened):
            log.error(
                "%s took no announcement (%s): %s",
                where,
                opened.reason,
                text,
                extra={"action": "announce_failed"},
            )
            return Posted(Delivery.UNDELIVERED, opened.reason)
    except Fault as fault:
        log.error("not announced (%s): %s", fault, text, extra={"action": "announce_failed"})
        return Posted(Delivery.UNKNOWN)
    return Posted(Delivery.DELIVERED)
