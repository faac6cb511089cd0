"""The web channel: threads and messages in D1.

Text is stored as it is and the page renders it as text, so nothing of it can mention a
channel or become markup; there is nothing to escape here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.authz.actor import Actor
from bot.channels.base import channel_of, headline, thread_key
from bot.ports import Database, NotOpened, Opened, Posted, Statement
from bot.words import Delivery

BOT = "bot"
"""The author of what the bot posts; everybody else is an actor's id."""
END = 10**15 - 1
"""After every ``seq`` and every time."""

_OPEN = """
INSERT INTO threads (key, channel, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
"""
_POST = """
INSERT INTO messages (id, thread, author, text, run_id, at)
SELECT ?, key, ?, ?, ?, ? FROM threads WHERE key = ?
ON CONFLICT (id) DO NOTHING
"""
# A message keeps the time at which it was first posted, so one that comes again changes nothing.
_TOUCH = """
UPDATE threads SET updated_at =
  max(updated_at, coalesce((SELECT at FROM messages WHERE id = ? AND thread = threads.key), 0))
WHERE key = ?
"""
_THREADS = """
SELECT key, channel, title, created_at, updated_at,
       EXISTS (SELECT 1 FROM runs WHERE thread = threads.key AND state = 'running') AS live
FROM threads
WHERE channel = ?1 AND updated_at <= coalesce((SELECT updated_at FROM threads WHERE key = ?2), ?3)
  AND (?2 IS NULL OR (updated_at, key) < (SELECT updated_at, key FROM threads WHERE key = ?2))
ORDER BY updated_at DESC, key DESC LIMIT ?4
"""
# What the bot posts as a run's outcome has the key RUN-out, and is shown with how the run ended.
_MESSAGES = """
SELECT messages.rowid AS seq, messages.id, author, messages.text, run_id, at,
       ended.id AS ended_id, ended.actor, ended.route, ended.state, ended.code,
       iif(ended.state = 'refused', ended.output, NULL) AS refusal
FROM messages LEFT JOIN runs AS ended
  ON author = 'bot' AND messages.id = ended.id || '-out'
 AND ended.id = substr(messages.id, 1, length(messages.id) - 4)
WHERE messages.thread = ?"""
_AFTER = f"{_MESSAGES} AND messages.rowid > ? ORDER BY messages.rowid LIMIT ?"
_BEFORE = f"{_MESSAGES} AND messages.rowid < ? ORDER BY messages.rowid DESC LIMIT ?"
_LIVE = """
SELECT id, actor, source, name, text, admitted_at, started_at FROM runs
WHERE thread = ? AND state = 'running'
"""


def channel_ids(names: Iterable[str]) -> tuple[str, ...]:
    """The web channels of that configuration, as channel ids."""
    return tuple(f"web:{name}" for name in names)


def own_channel(actor: Actor) -> str:
    """A person's own channel, which nobody else reads: no configured channel has such a name."""
    return f"web:@{actor.subject}"


def may_read(actor: Actor, channel: str) -> bool:
    """Whether a signed-in person may read a web channel: all but the own ones of others."""
    return not channel.startswith("web:@") or channel == own_channel(actor)


class WebChannel:
    """The web surface's ``ChannelIO``. ``channels`` are names, as ``WEB_CHANNELS`` gives them."""

    surface = "web"

    def __init__(self, db: Database, channels: Iterable[str]) -> None:
        self._db = db
        self._channels = frozenset(channel_ids(channels))

    def exists(self, channel: str) -> bool:
        """Whether the channel is configured."""
        return channel in self._channels

    async def can_open_threads(self, channel: str) -> NotOpened | None:
        """Every web channel does."""
        return None if self.exists(channel) else self._unknown(channel)

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        """Open a thread titled by ``lead``, which is also its first message.

        The thread's id is made from ``key``, so the same key opens the same thread.
        """
        if not self.exists(channel):
            return self._unknown(channel)
        digest = hashlib.sha256(key.encode()).hexdigest()[:20]
        thread = thread_key(channel, digest)
        await self._db.batch(
            opening(
                thread,
                author=BOT,
                text=lead,
                message_id=f"lead:{digest}",
                run_id=None,
                now_ms=now_ms,
            )
        )
        return Opened(thread)

    @staticmethod
    def _unknown(channel: str) -> NotOpened:
        return NotOpened(f"{channel} is not one of this bot's web channels")

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        """Post as the bot; undelivered where there is no such thread."""
        done = await self._db.batch(
            posting(thread, author=BOT, text=text, message_id=key, run_id=None, now_ms=now_ms)
        )
        if done[-1].changes == 0:
            return Posted(Delivery.UNDELIVERED, f"there is no thread {thread}")
        return Posted(Delivery.DELIVERED)


def posting(
    thread: str, *, author: str, text: str, message_id: str, run_id: str | None, now_ms: int
) -> list[Statement]:
    """The statements that post a message into a thread that exists, once an id.

    The last one changes a row exactly where the thread exists.
    """
    return [
        Statement(_POST, (message_id, author, text, run_id, now_ms, thread)),
        Statement(_TOUCH, (message_id, thread)),
    ]


def opening(
    thread: str, *, author: str, text: str, message_id: str, run_id: str | None, now_ms: int
) -> list[Statement]:
    """The statements that open a thread with its first message, which also titles it."""
    title = headline(text)
    return [
        Statement(_OPEN, (thread, channel_of(thread), title, now_ms, now_ms)),
        *posting(
            thread, author=author, text=text, message_id=message_id, run_id=run_id, now_ms=now_ms
        ),
    ]


async def has_thread(db: Database, thread: str) -> bool:
    """Whether a thread of that key exists."""
    return bool((await db.run("SELECT 1 FROM threads WHERE key = ?", thread)).rows)


async def list_threads(
    db: Database, channels: Sequence[str], *, before: str | None, limit: int
) -> Sequence[Mapping[str, Any]]:
    """Threads of ``channels``, the last changed first, those older than the thread ``before``.

    ``live`` is 1 where a run holds the thread's slot. One query a channel, each along its
    index, in one transaction.
    """
    found = await db.batch(
        [Statement(_THREADS, (channel, before, END, limit)) for channel in channels]
    )
    rows = [row for answer in found for row in answer.rows]
    rows.sort(key=lambda row: (row["updated_at"], row["key"]), reverse=True)
    return rows[:limit]


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as read at one moment: its row, messages (oldest first), and its live run.

    ``more`` says that there are further messages in the direction that was read.
    """

    thread: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    more: bool
    live: Mapping[str, Any] | None


async def read_thread(
    db: Database, key: str, *, after: int | None, before: int, limit: int
) -> Reading | None:
    """A thread with ``limit`` of its messages; None where there is no such thread.

    Those that follow the ``seq`` ``after`` where it is given, else the last ones before the
    ``seq`` ``before``. One transaction, so that a run's end and its output are seen together.
    """
    sql, bound = (_BEFORE, before) if after is None else (_AFTER, after)
    found, messages, live = await db.batch(
        [
            Statement("SELECT * FROM threads WHERE key = ?", (key,)),
            Statement(sql, (key, bound, limit + 1)),
            Statement(_LIVE, (key,)),
        ]
    )
    if not found.rows:
        return None
    shown = messages.rows[:limit]
    return Reading(
        found.rows[0],
        shown[::-1] if after is None else shown,
        len(messages.rows) > limit,
        live.rows[0] if live.rows else None,
    )
