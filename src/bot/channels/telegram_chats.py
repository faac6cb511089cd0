"""What is known of Telegram's chats: topics, where a group moved, whose a private one is."""

from __future__ import annotations

from bot.ports import Database

_NOTE_FORUM = """
INSERT INTO telegram_chats (id, forum) VALUES (?1, ?2)
ON CONFLICT (id) DO UPDATE SET forum = ?2 WHERE forum IS NOT ?2
"""
_NOTE_MOVE = """
INSERT INTO telegram_chats (id, moved_to) VALUES (?1, ?2)
ON CONFLICT (id) DO UPDATE SET moved_to = ?2
"""
# A Telegram person's own chat has a row too, once pushes to it are paused.
_LINKED = """
SELECT 1 FROM identity_links
WHERE surface = 'telegram' AND subject = ? AND owner NOT LIKE 'telegram:%'
"""


async def note_forum(db: Database, chat: str, forum: bool) -> None:
    """Note whether a group has topics. Raises Fault."""
    await db.run(_NOTE_FORUM, chat, int(forum))


async def known_forum(db: Database, chat: str) -> bool:
    """Whether a group had topics when it was last seen. Raises Fault."""
    found = await db.run("SELECT forum FROM telegram_chats WHERE id = ?", chat)
    return bool(found.rows and found.rows[0]["forum"])


async def note_move(db: Database, old: str, new: str) -> None:
    """Note that a group became a supergroup: what was for the old one goes there. Raises Fault."""
    if old != new:
        await db.run(_NOTE_MOVE, old, new)


async def current(db: Database, chat: str) -> str:
    """The id that a chat has now. A group becomes a supergroup once. Raises Fault."""
    found = await db.run(
        "SELECT moved_to FROM telegram_chats WHERE id = ? AND moved_to IS NOT NULL", chat
    )
    return found.rows[0]["moved_to"] if found.rows else chat


async def ids_of(db: Database, chat: str) -> list[str]:
    """Every id that a chat has had, as it was told of. Raises Fault."""
    found = await db.run("SELECT id FROM telegram_chats WHERE moved_to = ?", chat)
    return [chat, *(row["id"] for row in found.rows)]


async def is_linked(db: Database, chat: str) -> bool:
    """Whether somebody of another surface linked a private chat to themselves. Raises Fault."""
    found = await db.run(_LINKED, chat)
    return bool(found.rows)
