"""Posting once a key into services that know no such keys (table ``chat_posts``).

A text may take several messages. Each is written down before it is handed over and again when
the service took it, so that a step which runs again goes on where it is certain and says
``unknown`` where it is not: nothing is posted twice.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from bot.channels.service import Answer, Declined, Done, Lost, Wait
from bot.ports import Database, Posted, Statement
from bot.words import Delivery

log = logging.getLogger("bot.channels")
KEPT_MS = 90 * 24 * 3_600_000

Part = TypeVar("Part")

_BEGIN = """
INSERT INTO chat_posts (surface, key, thread, parts, begun, sent, at)
VALUES (?1, ?2, ?3, ?4, 1, 0, ?5)
ON CONFLICT (surface, key) DO UPDATE SET begun = sent + 1 WHERE begun = sent AND sent < parts
RETURNING sent
"""
_FOUND = "SELECT thread, parts, sent FROM chat_posts WHERE surface = ? AND key = ?"
_SENT = """
UPDATE chat_posts SET sent = ?3, begun = min(parts, ?3 + 1) WHERE surface = ?1 AND key = ?2
"""
_RELEASE = "UPDATE chat_posts SET begun = sent WHERE surface = ? AND key = ?"
_OPENED = """
INSERT INTO chat_posts (surface, key, thread, parts, begun, sent, at) VALUES (?, ?, ?, 1, 1, 1, ?)
ON CONFLICT (surface, key) DO NOTHING
"""
_FORGET = "DELETE FROM chat_posts WHERE at < ?"
_TAKES_PART = """
SELECT EXISTS (SELECT 1 FROM runs WHERE thread = ?1)
    OR EXISTS (SELECT 1 FROM chat_posts WHERE thread = ?1) AS here
"""


class Posts:
    """What one surface has posted."""

    def __init__(self, db: Database, surface: str) -> None:
        self._db = db
        self._surface = surface

    async def once(
        self,
        parts: Sequence[Part],
        send: Callable[[Part], Awaitable[Answer]],
        *,
        thread: str,
        key: str,
        now_ms: int,
    ) -> Posted:
        """Send each part that the key has not sent yet, in their order, and say how it ended.

        ``unknown`` where an answer was lost, now or the last time. After ``undelivered`` the
        same key goes on with the part that was not sent. Raises Fault.
        """
        begun, _ = await self._db.batch(
            [
                Statement(_BEGIN, (self._surface, key, thread, len(parts), now_ms)),
                Statement(_FORGET, (now_ms - KEPT_MS,)),
            ]
        )
        if not begun.rows:
            return await self._as_found(key)
        for number, part in enumerate(parts[begun.rows[0]["sent"] :], begun.rows[0]["sent"] + 1):
            answer = await send(part)
            if isinstance(answer, Lost):
                log.warning("%s post %s: %s", self._surface, key, answer.reason)
                return Posted(Delivery.UNKNOWN)
            if not isinstance(answer, Done):
                await self._db.run(_RELEASE, self._surface, key)
                return _unsent(answer, number, len(parts))
            await self._db.run(_SENT, self._surface, key, number)
        return Posted(Delivery.DELIVERED)

    async def _as_found(self, key: str) -> Posted:
        found = (await self._db.run(_FOUND, self._surface, key)).rows
        if found and found[0]["sent"] == found[0]["parts"]:
            return Posted(Delivery.DELIVERED)
        return Posted(Delivery.UNKNOWN)

    async def opened(self, key: str) -> str | None:
        """The thread that was opened under a key. Raises Fault."""
        found = (await self._db.run(_FOUND, self._surface, key)).rows
        return found[0]["thread"] if found else None

    async def note_opened(self, key: str, thread: str, now_ms: int) -> None:
        """Remember the thread that was opened under a key. Raises Fault."""
        await self._db.run(_OPENED, self._surface, key, thread, now_ms)

    async def takes_part(self, thread: str) -> bool:
        """Whether the bot has posted in a thread, or was asked to. Raises Fault."""
        return bool((await self._db.run(_TAKES_PART, thread)).rows[0]["here"])


def _unsent(answer: Wait | Declined, number: int, parts: int) -> Posted:
    wait_s = answer.seconds if isinstance(answer, Wait) else None
    reason = f"asked to wait {wait_s} s" if isinstance(answer, Wait) else answer.reason
    if number > 1:
        reason = f"part {number} of {parts}: {reason}"
    return Posted(Delivery.UNDELIVERED, reason, wait_s)
