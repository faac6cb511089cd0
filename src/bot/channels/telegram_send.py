"""Sending one message to a person's own chat by Telegram's Bot API; what comes of it is told."""

from __future__ import annotations

from dataclasses import dataclass

from bot.channels.markdown import utf16
from bot.channels.service import Declined, Done, Wait
from bot.channels.shape import int_at
from bot.channels.telegram_api import Moved, TelegramApi
from bot.channels.telegram_text import MAX_UNITS
from bot.ports import House

__all__ = ["Blocked", "Failed", "Outcome", "Sent", "Wait", "cut_units", "send_message"]
_CUT = "\n… cut"


@dataclass(frozen=True, slots=True)
class Sent:
    """Telegram took it."""

    message_id: int | None


@dataclass(frozen=True, slots=True)
class Blocked:
    """The bot may not write to that chat, and why: the person blocked it, or the chat is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It was not sent, or nobody knows whether it was, and why."""

    reason: str


Outcome = Sent | Wait | Blocked | Failed


async def send_message(house: House, chat: str, text: str, *, topic: int | None = None) -> Outcome:
    """Send plain text to a chat, cut to what one message may hold; no link is previewed.

    ``topic`` is a forum topic's id. Telegram knows no idempotency key: the caller sees to it
    that a message is sent once. Nothing of the bot's token reaches an answer or the log.
    """
    answer = await TelegramApi(house.http, house.settings).call(
        "sendMessage",
        {
            "chat_id": chat,
            "text": cut_units(text),
            "message_thread_id": topic,
            "link_preview_options": {"is_disabled": True},
        },
    )
    if isinstance(answer, Done):
        return Sent(int_at(answer.data, "message_id"))
    if isinstance(answer, Wait):
        return answer
    if isinstance(answer, Moved):
        return Failed(f"the chat is {answer.chat} now")
    blocked = isinstance(answer, Declined) and answer.gone
    return Blocked(answer.reason) if blocked else Failed(answer.reason)


def cut_units(text: str, limit: int = MAX_UNITS) -> str:
    """``text`` cut to that many UTF-16 units, no character halved; a NUL and an empty text are
    what Telegram refuses, so they become a blank and a dot."""
    text = text.replace("\0", " ")
    if not text.strip():
        return "."
    if utf16(text) <= limit:
        return text
    room = limit - utf16(_CUT)
    # No character is shorter than one unit, so only the cut text is measured.
    text = text[:room]
    while utf16(text) > room:
        text = text[: -max(1, (utf16(text) - room) // 2)]
    return text + _CUT
