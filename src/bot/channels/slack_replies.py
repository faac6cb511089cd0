"""The threads of slash commands: each answers its caller alone, where Slack said.

Such a thread's key is ``slack:CHANNEL/rID``. It takes five answers within half an hour.
"""

from __future__ import annotations

from bot.channels.base import thread_key
from bot.ports import Database, Statement

LIFETIME_MS = 30 * 60_000
_MARK = "r"

_KEEP = """
INSERT INTO slack_replies (thread, url, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
"""


def reply_thread(channel: str, call_id: str) -> str:
    """The thread of one call of a slash command."""
    return thread_key(channel, f"{_MARK}{call_id}")


def is_reply(thread: str) -> bool:
    """Whether a thread is a slash command's."""
    return thread.partition("/")[2].startswith(_MARK)


async def keep_url(db: Database, thread: str, url: str, now_ms: int) -> None:
    """Keep where to answer, for as long as Slack takes answers there."""
    await db.batch(
        [
            Statement("DELETE FROM slack_replies WHERE expires_at <= ?", (now_ms,)),
            Statement(_KEEP, (thread, url, now_ms + LIFETIME_MS)),
        ]
    )


async def reply_url(db: Database, thread: str, now_ms: int) -> str | None:
    """Where to answer; None when it is too late."""
    found = await db.run(
        "SELECT url FROM slack_replies WHERE thread = ? AND expires_at > ?", thread, now_ms
    )
    return found.rows[0]["url"] if found.rows else None
