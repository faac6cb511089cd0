"""The Slack surface: threads under a message, text as mrkdwn, buttons, names (contract §8)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.channels import markdown
from bot.channels.base import channel_of, thread_key
from bot.channels.markdown import Span
from bot.channels.posts import Posts
from bot.channels.service import Answer, Declined, Done, Wait
from bot.channels.shape import at, text_at
from bot.channels.slack_api import SlackApi
from bot.channels.slack_buttons import attachment, buttons_for
from bot.channels.slack_names import SlackNames
from bot.channels.slack_replies import is_reply, reply_url
from bot.channels.slack_text import CHANNEL, TS, mrkdwn
from bot.ports import (
    ConfigStore,
    Database,
    Fault,
    HttpClient,
    NotOpened,
    Opened,
    Posted,
    Settings,
)
from bot.words import Delivery

log = logging.getLogger("bot.slack")
MAX_MESSAGE = 7_000
"""Characters of one message. Slack takes 40,000, and an escaped character has up to five."""


@dataclass(frozen=True, slots=True)
class _Message:
    text: str
    attachments: list[dict[str, Any]] | None = None


class SlackChannel:
    """``slack``: a thread's key is ``slack:CHANNEL/TS``, the time stamp of its first message.

    Nothing that is posted is parsed for names, and no link is unfurled: what is shown is the
    text, and nothing is fetched for it.
    """

    surface = "slack"

    def __init__(
        self, db: Database, config: ConfigStore, http: HttpClient, settings: Settings
    ) -> None:
        self._db = db
        self._config = config
        self._api = SlackApi(http, settings)
        self._names = SlackNames(db, self._api)
        self._posts = Posts(db, self.surface)

    def exists(self, channel: str) -> bool:
        """Whether that is how a Slack channel is named, and there is a token to reach it with."""
        return self._api.configured and _channel_id(channel) is not None

    async def can_open_threads(self, channel: str) -> NotOpened | None:
        """Every channel that the bot is in and that is not archived does.

        Where Slack does not say, a channel is taken to be there: a firing will show.
        """
        name = _channel_id(channel)
        if name is None or not self._api.configured:
            return NotOpened(f"{channel} is no Slack channel of this bot's")
        answer = await self._api.info("conversations.info", channel=name)
        if isinstance(answer, Declined) and answer.gone:
            return NotOpened(answer.reason)
        found = at(answer.data, "channel") if isinstance(answer, Done) else None
        if at(found, "is_archived") is True:
            return NotOpened("the channel is archived")
        if at(found, "is_member") is False and not name.startswith("D"):
            return NotOpened("the bot is not in the channel; invite it with /invite", gone=False)
        return None

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        """Post ``lead``: its message is the thread's first. Raises Fault where Slack is silent.

        An opening whose answer was lost is made again, and the first message stays behind: a
        spare lead harms less than a firing that finds no thread.
        """
        name = _channel_id(channel)
        if name is None:
            return NotOpened(f"{channel} is no Slack channel")
        known = await self._posts.opened(key)
        if known is not None:
            return Opened(known)
        (message, *_) = await self._messages(lead, now_ms)
        answer = await self._api.post_message(_post(name, None, message))
        if isinstance(answer, Declined):
            return NotOpened(answer.reason, gone=answer.gone)
        if isinstance(answer, Wait):
            return NotOpened(f"Slack asks to wait {answer.seconds} s", False, answer.seconds)
        ts = text_at(answer.data, "ts") if isinstance(answer, Done) else None
        if ts is None:
            raise Fault("Slack did not say whether it opened a thread")
        thread = thread_key(channel, ts)
        await self._posts.note_opened(key, thread, now_ms)
        return Opened(thread)

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        """Post into a thread, once a key; a slash command's thread is answered where it was given.

        What Slack refuses is ``undelivered`` with its reason; a lost answer is ``unknown``, and
        the post is not made again.
        """
        name, ts = _channel_id(channel_of(thread)), thread.partition("/")[2]
        if name is None or not (TS.fullmatch(ts) or is_reply(thread)):
            return Posted(Delivery.UNDELIVERED, f"{thread} is no Slack thread")
        messages = await self._messages(text, now_ms)
        url = await reply_url(self._db, thread, now_ms) if is_reply(thread) else None

        async def send(message: _Message) -> Answer:
            if is_reply(thread):
                return await self._api.answer(url or "", _reply(message))
            return await self._api.post_message(_post(name, ts, message))

        return await self._posts.once(messages, send, thread=thread, key=key, now_ms=now_ms)

    async def _messages(self, text: str, now_ms: int) -> list[_Message]:
        """A text as one message or several; the last one bears the buttons."""
        spans = await self._names.told(markdown.read(text), now_ms)
        parts: Sequence[Sequence[Span]] = markdown.split(spans, MAX_MESSAGE) or [[Span("…")]]
        texts = [mrkdwn(part) for part in parts]
        return [*map(_Message, texts[:-1]), _Message(texts[-1], await self._buttons(text, now_ms))]

    async def _buttons(self, text: str, now_ms: int) -> list[dict[str, Any]] | None:
        """A courtesy: where a store does not answer, the text stands alone."""
        try:
            return attachment(await buttons_for(self._db, self._config, text, now_ms))
        except Fault as fault:
            log.warning("no buttons: %s", fault)
            return None


def _channel_id(channel: str) -> str | None:
    surface, _, name = channel.partition(":")
    return name if surface == SlackChannel.surface and CHANNEL.fullmatch(name) else None


def _post(channel: str, ts: str | None, message: _Message) -> Mapping[str, Any]:
    return {
        "channel": channel,
        "thread_ts": ts,
        "text": message.text,
        "attachments": message.attachments,
        "mrkdwn": True,
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _reply(message: _Message) -> Mapping[str, Any]:
    return {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": message.text,
        "attachments": message.attachments,
    }
