"""Sending one message by Telegram's Bot API. It knows the address and the answers, no policy."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any, cast

from bot.ports import Fault, House, HttpReply
from bot.strictjson import loads

log = logging.getLogger("bot.telegram")
MAX_UNITS = 4_096
"""UTF-16 units of one message, as Telegram counts."""
LONGEST_WAIT_S = 3_600
DEFAULT_WAIT_S = 30
TIMEOUT_S = 15.0
_CUT = "\n… cut"


@dataclass(frozen=True, slots=True)
class Sent:
    """Telegram took it."""

    message_id: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Telegram asks to be asked again in that many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """The bot may not write to that chat (403), and why: the person blocked it, or left."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It was not sent, and why."""

    reason: str


Outcome = Sent | Wait | Blocked | Failed


async def send_message(house: House, chat: str, text: str, *, topic: int | None = None) -> Outcome:
    """Send plain text to a chat, cut to what one message may hold; no link is previewed.

    ``topic`` is a forum topic's id. Telegram knows no idempotency key: the caller sees to it
    that a message is sent once. Nothing of the bot's token reaches an answer or the log.
    """
    settings = house.settings
    if not settings.telegram_bot_token:
        return Failed("this bot has no Telegram token")
    body: dict[str, Any] = {
        "chat_id": chat,
        "text": cut_units(text),
        "link_preview_options": {"is_disabled": True},
    }
    if topic is not None:
        body["message_thread_id"] = topic
    url = f"{settings.telegram_api_url}/bot{settings.telegram_bot_token}/sendMessage"
    headers = {"content-type": "application/json"}
    try:
        reply = await house.http.send(
            "POST", url, headers=headers, body=json.dumps(body), timeout_s=TIMEOUT_S
        )
    except Fault:
        # The fault names the address, and the token is a part of it.
        log.warning("Telegram did not answer", extra={"action": "telegram_silent"})
        return Failed("Telegram did not answer")
    return read_reply(reply)


def read_reply(reply: HttpReply) -> Outcome:
    """What Telegram's answer means."""
    try:
        answer = _members(loads(reply.text))
    except ValueError:
        answer = {}
    described = answer.get("description")
    why = described[:200] if isinstance(described, str) else f"status {reply.status}"
    if reply.status == 200 and answer.get("ok") is True:
        message_id = _members(answer.get("result")).get("message_id")
        return Sent(message_id if isinstance(message_id, int) else None)
    if reply.status == 429:
        return Wait(_wait_s(_members(answer.get("parameters")).get("retry_after")))
    if reply.status == 403:
        return Blocked(why)
    return Failed(f"Telegram refused it: {why}")


def _members(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _wait_s(told: Any) -> int:
    whole = isinstance(told, int) and not isinstance(told, bool)
    return min(max(told, 1), LONGEST_WAIT_S) if whole else DEFAULT_WAIT_S


def cut_units(text: str, limit: int = MAX_UNITS) -> str:
    """``text`` cut to that many UTF-16 units, no character halved; a NUL and an empty text are
    what Telegram refuses, so they become a blank and a dot."""
    text = text.replace("\0", " ")
    if not text.strip():
        return "."
    if _units(text) <= limit:
        return text
    room = limit - _units(_CUT)
    # No character is shorter than one unit, so only the cut text is measured.
    text = text[:room]
    while _units(text) > room:
        text = text[: -max(1, (_units(text) - room) // 2)]
    return text + _CUT


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
