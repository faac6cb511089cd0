"""Pushing events to their owners: the linked Telegram chat, else a thread (contract §7).

Events are an outbox. One that is due for its push is taken by whoever changes its row first
(the run that made it, or the next tick), is ``unknown`` while it is under way, and keeps how it
ended. So a push is made at most once, and one that failed is shown, never silent. A push never
fails what it tells of.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.authz.actor import Actor, Surface, parse_actor
from bot.channels import web
from bot.channels.base import shown, thread_key
from bot.channels.telegram_send import Blocked, Sent, Wait, send_message
from bot.ports import House, Posted
from bot.words import Delivery

log = logging.getLogger("bot.pushes")
BATCH = 50
"""Pushes of one round."""
GIVE_UP_MS = 24 * 3_600_000
"""How long a push may wait for Telegram before it is given up."""
OWN_THREAD = "jobs"

_WAITING = """
SELECT seq, owner, text, thread, at FROM events WHERE push_at <= ? ORDER BY push_at, seq LIMIT ?
"""
_BY_KEY = "SELECT seq, owner, text, thread, at FROM events WHERE key = ? AND push_at IS NOT NULL"
_TAKE = "UPDATE events SET push = ?, push_at = NULL WHERE seq = ? AND push_at IS NOT NULL"
_ENDED = "UPDATE events SET push = ? WHERE seq = ?"
_LATER = "UPDATE events SET push = NULL, push_at = ? WHERE seq = ?"
_LATER_ALL = "UPDATE events SET push_at = ? WHERE owner = ? AND push_at < ?"
_PAUSE = """
INSERT INTO identity_links (owner, surface, subject, linked_at, paused_reason)
VALUES (?, 'telegram', ?, ?, ?)
ON CONFLICT (owner, surface) DO UPDATE SET paused_reason = excluded.paused_reason
"""
_UNPAUSE = """
UPDATE identity_links SET paused_reason = NULL
WHERE surface = 'telegram' AND subject = ? AND paused_reason IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class _Later:
    """The push waits until ``at`` (epoch milliseconds)."""

    at: int


async def push(house: House, key: str) -> str | None:
    """Push the event of that key now; how it went, or None where it waits or was taken before.

    Raises Fault when the database does not answer; the push then ends as ``unknown``, or is
    made by the next tick where it was not begun.
    """
    found = await house.db.run(_BY_KEY, key)
    return await _push(house, found.rows[0]) if found.rows else None


async def flush(house: House) -> int:
    """Push what is due, oldest first, at most ``BATCH``; how many were pushed. Raises Fault."""
    found = await house.db.run(_WAITING, house.clock.now_ms(), BATCH)
    pushed = 0
    waiting: set[str] = set()
    for row in found.rows:
        if row["owner"] in waiting:
            continue
        if await _push(house, row) is None:
            waiting.add(row["owner"])
        else:
            pushed += 1
    return pushed


async def resume(house: House, chat: str) -> bool:
    """Push to a Telegram chat again after its person wrote to the bot; whether it was paused."""
    return (await house.db.run(_UNPAUSE, chat)).changes > 0


async def _push(house: House, row: Mapping[str, Any]) -> str | None:
    taken = await house.db.run(_TAKE, Delivery.UNKNOWN, row["seq"])
    if taken.changes != 1:
        return None
    ended = await _send(house, row)
    if isinstance(ended, _Later):
        await house.db.run(_LATER, ended.at, row["seq"])
        await house.db.run(_LATER_ALL, ended.at, row["owner"], ended.at)
        return None
    if ended.delivery is not Delivery.DELIVERED:
        log.warning("event %s: %s", row["seq"], ended, extra={"action": "push_failed"})
    await house.db.run(_ENDED, str(ended), row["seq"])
    return str(ended)


async def _send(house: House, row: Mapping[str, Any]) -> Posted | _Later:
    owner = parse_actor(row["owner"])
    if not isinstance(owner, Actor):
        return Posted(Delivery.UNDELIVERED, "its owner is no actor")
    link = await _link(house, owner)
    if link is None:
        return await _to_thread(house, owner, row)
    chat, paused = link
    if paused is not None:
        return Posted(Delivery.UNDELIVERED, f"pushes to Telegram are paused: {paused}")
    outcome = await send_message(house, chat, shown(row["text"]))
    now_ms = house.clock.now_ms()
    if isinstance(outcome, Sent):
        return Posted(Delivery.DELIVERED)
    if isinstance(outcome, Wait):
        if now_ms - row["at"] > GIVE_UP_MS:
            return Posted(Delivery.UNDELIVERED, "Telegram asked to wait for over a day")
        return _Later(now_ms + outcome.seconds * 1000)
    if isinstance(outcome, Blocked):
        await house.db.run(_PAUSE, owner.id, chat, now_ms, outcome.reason)
    return Posted(Delivery.UNDELIVERED, outcome.reason)


async def _link(house: House, owner: Actor) -> tuple[str, str | None] | None:
    """The owner's Telegram chat and why pushes to it are paused; a Telegram person is linked
    to themselves."""
    found = await house.db.run(
        "SELECT subject, paused_reason FROM identity_links WHERE owner = ? AND surface = ?",
        owner.id,
        Surface.TELEGRAM,
    )
    if found.rows:
        return found.rows[0]["subject"], found.rows[0]["paused_reason"]
    return (owner.subject, None) if owner.surface is Surface.TELEGRAM else None


async def _to_thread(house: House, owner: Actor, row: Mapping[str, Any]) -> Posted:
    """Into the thread that the event names, else the owner's own web thread."""
    key, text = f"event-{row['seq']}", shown(row["text"])
    thread: str | None = row["thread"]
    now_ms = house.clock.now_ms()
    posted = Posted(Delivery.UNDELIVERED, "there is no thread to push to; see link telegram")
    surface = None if thread is None else house.channels.get(thread.partition(":")[0])
    if thread is not None and surface is not None:
        posted = await surface.post(thread, text, key=key, now_ms=now_ms)
    if posted.delivery is Delivery.UNDELIVERED and owner.surface is Surface.WEB:
        own = thread_key(web.own_channel(owner), OWN_THREAD)
        lead = f"Your jobs, {owner.subject}"
        await house.db.batch(
            [
                *web.opening(
                    own,
                    author=web.BOT,
                    text=lead,
                    message_id=f"lead:{own}",
                    run_id=None,
                    now_ms=now_ms,
                ),
                *web.posting(
                    own,
                    author=web.BOT,
                    text=text,
                    message_id=key,
                    run_id=None,
                    now_ms=now_ms,
                ),
            ]
        )
        return Posted(Delivery.DELIVERED)
    return posted
