"""Slack's Web API: one call, and what its answer means. It knows no policy."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from bot.channels.service import Answer, Declined, Done, Lost, body_of, json_of, wait_of
from bot.channels.shape import text_at
from bot.ports import Fault, HttpClient, HttpReply, Settings

log = logging.getLogger("bot.slack")
TIMEOUT_S = 15.0
ANSWERS_AT = "https://hooks.slack.com/"
"""Where Slack takes the answers to slash commands and buttons."""

_GONE = {
    "channel_not_found": "Slack shows the bot no such channel",
    "is_archived": "the channel is archived",
    "not_in_channel": "the bot is not in the channel; invite it with /invite",
}
_REASONS = {
    **_GONE,
    "invalid_auth": "Slack refused the bot token",
    "not_authed": "Slack refused the bot token",
    "token_revoked": "the bot token was revoked",
    "token_expired": "the bot token has expired",
    "account_inactive": "the app was removed from the workspace",
    "missing_scope": "the app lacks a scope; install it again from its manifest",
    "restricted_action": "the workspace does not let the bot post there",
}
# Slack may have done it all the same.
_UNCERTAIN = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})


class SlackApi:
    """The Web API under the bot token, over plain HTTP."""

    def __init__(self, http: HttpClient, settings: Settings) -> None:
        self._http = http
        self._url = settings.slack_api_url
        self._token = settings.slack_bot_token

    @property
    def configured(self) -> bool:
        """Whether there is a bot token."""
        return bool(self._token)

    async def post_message(self, values: Mapping[str, Any]) -> Answer:
        """``chat.postMessage``; what is None is left out."""
        return await self._call("POST", "chat.postMessage", body_of(values))

    async def info(self, method: str, **values: str) -> Answer:
        """A method that reads, such as ``users.info``."""
        return await self._call("GET", f"{method}?{urlencode(values)}", None)

    async def answer(self, url: str, values: Mapping[str, Any]) -> Answer:
        """Answer a slash command or a button at the address that came with it."""
        if not self.takes_answers(url):
            return Declined("Slack gave no address to answer at")
        reply = await self._send("POST", url, {}, body_of(values))
        if isinstance(reply, Lost):
            return reply
        if reply.status == 429:
            return wait_of(reply)
        if reply.status >= 500:
            return Lost(f"Slack answered {reply.status}")
        said = text_at(json_of(reply), "error") or reply.text[:80]
        return (
            Done() if reply.status == 200 else Declined(f"Slack takes no answer any more ({said})")
        )

    def takes_answers(self, url: str) -> bool:
        """Whether an address is Slack's own to answer at, or that of the API's stand-in."""
        api = urlsplit(self._url)
        return url.startswith((ANSWERS_AT, f"{api.scheme}://{api.netloc}/"))

    async def _call(self, http_method: str, call: str, body: str | None) -> Answer:
        headers = {"authorization": f"Bearer {self._token}"}
        if not self._token:
            return Declined("this bot has no Slack token")
        reply = await self._send(http_method, f"{self._url}/{call}", headers, body)
        return reply if isinstance(reply, Lost) else read_reply(reply)

    async def _send(
        self, http_method: str, url: str, headers: dict[str, str], body: str | None
    ) -> HttpReply | Lost:
        if body is not None:
            headers["content-type"] = "application/json; charset=utf-8"
        try:
            return await self._http.send(
                http_method, url, headers=headers, body=body, timeout_s=TIMEOUT_S
            )
        except Fault as fault:
            log.warning("Slack did not answer: %s", fault, extra={"action": "slack_silent"})
            return Lost("Slack did not answer")


def read_reply(reply: HttpReply) -> Answer:
    """What the Web API's answer means: ``ok: false`` is a refusal with its reason."""
    if reply.status == 429:
        return wait_of(reply)
    said = json_of(reply)
    if said.get("ok") is True and reply.status == 200:
        return Done(said)
    error = text_at(said, "error")
    if error == "ratelimited":
        return wait_of(reply)
    if error is None:
        uncertain = reply.status == 200 or reply.status >= 500
        why = f"Slack answered {reply.status} and not as it should"
        return Lost(why) if uncertain else Declined(why)
    if error in _UNCERTAIN:
        return Lost(f"Slack broke ({error})")
    error = error[:80]
    why = f"{_REASONS[error]} ({error})" if error in _REASONS else f"Slack refused it ({error})"
    return Declined(why, gone=error in _GONE)
