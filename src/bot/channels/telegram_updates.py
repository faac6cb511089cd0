"""What Telegram sends: updates, read into plain values. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bot.channels.shape import at, int_at, list_at, text_at

_COMMAND = re.compile(r"\A/([A-Za-z0-9_]{1,64})(?:@([A-Za-z0-9_]{1,64}))?(?=\s|\Z)", re.ASCII)
_MENTION = re.compile(r"(?<![\w/])@([A-Za-z0-9_]{1,64})", re.ASCII)
_NOT_WRITTEN = (
    "sender_chat",
    "via_bot",
    "forward_origin",
    "forward_date",
    "forward_from",
    "is_automatic_forward",
)
"""What a message carries whose words are not its sender's own."""


@dataclass(frozen=True, slots=True)
class Said:
    """A person said something.

    ``topic`` is the forum topic's id, 0 for none. ``named`` are the bots that the text mentions,
    in lower case without the sign; ``to_us``: it answers the bot, or is in a private chat.
    ``command`` is the first word where it is written as ``/command``.
    """

    update_id: int
    user: int
    chat: int
    topic: int
    private: bool
    forum: bool
    text: str
    named: tuple[str, ...]
    to_us: bool
    command: str | None


@dataclass(frozen=True, slots=True)
class MovedTo:
    """A group became a supergroup."""

    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing that concerns the bot, and why."""

    why: str


def read_update(update: Any, bot_id: str) -> Said | MovedTo | Ignored:
    """What an update says. Edits, other bots, channels and forwarded words are ignored.

    Whoever forwards a message shows it; its words are another's, and command nothing.
    """
    update_id, message = int_at(update, "update_id"), at(update, "message")
    if update_id is None or message is None:
        return Ignored("an update without a new message")
    chat, user = int_at(message, "chat", "id"), int_at(message, "from", "id")
    if chat is None:
        return Ignored("a message without a chat")
    moved_to = int_at(message, "migrate_to_chat_id")
    moved_from = int_at(message, "migrate_from_chat_id")
    if moved_to is not None or moved_from is not None:
        return MovedTo(moved_from or chat, moved_to or chat)
    if user is None or user <= 0 or at(message, "from", "is_bot") is True:
        return Ignored("a message of a bot, or of nobody")
    if any(at(message, name) for name in _NOT_WRITTEN):
        return Ignored("a message whose words are another's")
    text = text_at(message, "text")
    if text is None:
        return Ignored("a message without text")
    topic = int_at(message, "message_thread_id") if at(message, "is_topic_message") is True else 0
    private = text_at(message, "chat", "type") == "private" or chat == user
    meant = {str(int_at(each, "user", "id")) for each in list_at(message, "entities")}
    answers = str(int_at(message, "reply_to_message", "from", "id"))
    command = _COMMAND.match(text)
    named = [name.lower() for name in _MENTION.findall(text)]
    if command is not None and command[2]:
        named.append(command[2].lower())
    return Said(
        update_id=update_id,
        user=user,
        chat=chat,
        topic=topic or 0,
        private=private,
        forum=at(message, "chat", "is_forum") is True,
        text=text,
        named=tuple(named),
        to_us=private or bot_id in meant or bot_id == answers,
        command=command[1].lower() if command else None,
    )


def words_of(said: Said, username: str | None) -> str:
    """What was said, without the bot's mention and without the slash of a command."""
    text = _COMMAND.sub(lambda found: found[1], said.text)
    if username:
        mention = rf"(?<!\w)@{re.escape(username)}\b"
        text = re.sub(rf"\A\s*{mention}[\s,:]*", "", text, flags=re.IGNORECASE)
        text = re.sub(mention, "", text, flags=re.IGNORECASE)
    return text.strip()
