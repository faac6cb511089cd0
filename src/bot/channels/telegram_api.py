"""Telegram's Bot API: one call, and what its answer means. It knows no policy."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from bot.channels.service import Answer, Declined, Done, Lost, body_of, json_of, wait_of
from bot.channels.shape import at, int_at, text_at
from bot.ports import Fault, HttpClient, HttpReply, Settings

log = logging.getLogger("bot.telegram")
TIMEOUT_S = 15.0

_NO_CHAT = "chat not found"


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was done: the group became a supergroup, whose id this is."""

    chat: str


class TelegramApi:
    """The Bot API under the bot token, which is a part of every address and of no message."""

    def __init__(self, http: HttpClient, settings: Settings) -> None:
        self._http = http
        self._url = settings.telegram_api_url
        self._token = settings.telegram_bot_token

    @property
    def configured(self) -> bool:
        """Whether there is a bot token."""
        return bool(self._token)

    @property
    def bot_id(self) -> str:
        """The bot's own id, which its token begins with."""
        return self._token.partition(":")[0]

    async def call(self, method: str, values: Mapping[str, Any]) -> Answer | Moved:
        """Call a method; what is None is left out."""
        if not self._token:
            return Declined("this bot has no Telegram token")
        try:
            reply = await self._http.send(
                "POST",
                f"{self._url}/bot{self._token}/{method}",
                headers={"content-type": "application/json"},
                body=body_of(values),
                timeout_s=TIMEOUT_S,
            )
        except Fault:
            # The token is a part of the address, so not even a fault of the client is told.
            log.warning("Telegram did not answer %s", method, extra={"action": "telegram_silent"})
            return Lost("Telegram did not answer")
        return read_reply(reply)


def read_reply(reply: HttpReply) -> Answer | Moved:
    """What the Bot API's answer means."""
    said = json_of(reply)
    if reply.status == 200 and said.get("ok") is True:
        result = said.get("result")
        return Done(cast(dict[str, Any], result) if isinstance(result, dict) else {})
    if reply.status == 429:
        return wait_of(reply, int_at(said, "parameters", "retry_after"))
    moved = int_at(said, "parameters", "migrate_to_chat_id")
    if moved is not None:
        return Moved(str(moved))
    described = text_at(said, "description")
    if described is None or reply.status >= 500:
        why = f"Telegram answered {reply.status} and not as it should"
        uncertain = reply.status == 200 or reply.status >= 500
        return Lost(why) if uncertain else Declined(why)
    described = described[:200]
    if reply.status in (401, 404):
        return Declined(f"Telegram refused the bot token ({described})")
    if reply.status == 403:
        # The person blocked the bot, or it was put out of the group.
        return Declined(described, gone=True)
    return Declined(f"Telegram refused it: {described}", gone=_NO_CHAT in described)


def is_forum(chat: Any) -> bool:
    """Whether a chat, as Telegram describes it, has topics."""
    return at(chat, "is_forum") is True
