"""The Telegram surface: forum topics as threads, texts cut into messages (contract §8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.channels import markdown, telegram_chats
from bot.channels.base import channel_of, headline, thread_key
from bot.channels.markdown import Span
from bot.channels.posts import Posts
from bot.channels.service import Answer, Declined, Done, Wait
from bot.channels.shape import int_at
from bot.channels.telegram_api import Moved, TelegramApi, is_forum
from bot.channels.telegram_text import MAX_UNITS, message
from bot.ports import Database, Fault, HttpClient, NotOpened, Opened, Posted, Settings
from bot.words import Delivery

CHAT = re.compile(r"-?[1-9][0-9]{0,15}", re.ASCII)
_TOPIC = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
NO_TOPIC = "0"
"""The thread of a chat as a whole: a private chat, a group without topics, a forum's General."""
MAX_TOPIC_NAME = 128


class TelegramChannel:
    """``telegram``: a thread's key is ``telegram:CHAT/TOPIC``, with topic 0 for the chat itself.

    No link is previewed: nothing is fetched for what is posted.
    """

    surface = "telegram"

    def __init__(self, db: Database, http: HttpClient, settings: Settings) -> None:
        self._db = db
        self._api = TelegramApi(http, settings)
        self._posts = Posts(db, self.surface)

    def exists(self, channel: str) -> bool:
        """Whether that is how a Telegram chat is named, and there is a token to reach it with."""
        return self._api.configured and _chat_of(channel) is not None

    async def can_open_threads(self, channel: str) -> NotOpened | None:
        """Only a forum group does. Telegram is asked; else what was last seen counts."""
        chat = _chat_of(channel)
        if chat is None or not self._api.configured:
            return NotOpened(f"{channel} is no Telegram chat of this bot's")
        if not chat.startswith("-"):
            return NotOpened("a private chat has no topics", gone=False)
        chat = await telegram_chats.current(self._db, chat)
        answer = await self._call(chat, "getChat", {})
        if isinstance(answer, Declined) and answer.gone:
            return NotOpened(answer.reason)
        if isinstance(answer, Done) and answer.data:
            forum = is_forum(answer.data)
            await telegram_chats.note_forum(self._db, chat, forum)
        else:
            forum = await telegram_chats.known_forum(self._db, chat)
        return None if forum else NotOpened("the group has no topics", gone=False)

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        """Open a topic named by ``lead``, which is also its first message.

        Raises Fault where Telegram is silent; an opening whose answer was lost is made again.
        """
        chat = _chat_of(channel)
        if chat is None:
            return NotOpened(f"{channel} is no Telegram chat")
        thread = await self._posts.opened(key)
        if thread is None:
            name = headline(lead, MAX_TOPIC_NAME) or "…"
            chat = await telegram_chats.current(self._db, chat)
            answer = await self._call(chat, "createForumTopic", {"name": name})
            if isinstance(answer, Declined):
                return NotOpened(answer.reason, gone=answer.gone)
            if isinstance(answer, Wait):
                reason = f"Telegram asks to wait {answer.seconds} s"
                return NotOpened(reason, gone=False, wait_s=answer.seconds)
            topic = int_at(answer.data, "message_thread_id") if isinstance(answer, Done) else None
            if topic is None:
                raise Fault("Telegram did not say whether it opened a topic")
            thread = thread_key(channel, str(topic))
            await self._posts.note_opened(key, thread, now_ms)
        await self.post(thread, lead, key=f"{key}-lead", now_ms=now_ms)
        return Opened(thread)

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        """Post into a thread, once a key, in as many messages as it takes.

        What Telegram refuses is ``undelivered`` with its reason; a lost answer is ``unknown``,
        and the post is not made again.
        """
        chat, topic = _chat_of(channel_of(thread)), thread.partition("/")[2]
        if chat is None or not _TOPIC.fullmatch(topic):
            return Posted(Delivery.UNDELIVERED, f"{thread} is no Telegram thread")
        parts = markdown.split(markdown.read(text), MAX_UNITS, markdown.utf16) or [[Span("…")]]

        async def send(part: list[Span]) -> Answer:
            values = {
                **message(part),
                "message_thread_id": None if topic == NO_TOPIC else int(topic),
                "link_preview_options": {"is_disabled": True},
            }
            return await self._call(now_at, "sendMessage", values)

        now_at = await telegram_chats.current(self._db, chat)
        return await self._posts.once(parts, send, thread=thread, key=key, now_ms=now_ms)

    async def _call(self, chat: str, method: str, values: Mapping[str, Any]) -> Answer:
        """Call a method about a chat, following it once where it moved."""
        answer = await self._api.call(method, {"chat_id": int(chat), **values})
        if isinstance(answer, Moved):
            await telegram_chats.note_move(self._db, chat, answer.chat)
            answer = await self._api.call(method, {"chat_id": int(answer.chat), **values})
        return (
            Declined("the group moved on and on", gone=True)
            if isinstance(answer, Moved)
            else answer
        )


def _chat_of(channel: str) -> str | None:
    surface, _, chat = channel.partition(":")
    return chat if surface == TelegramChannel.surface and CHAT.fullmatch(chat) else None
