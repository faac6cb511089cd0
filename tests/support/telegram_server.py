"""Telegram's Bot API in memory and on loopback: takes messages, and refuses as the real one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bot.ports import HttpReply
from tests.support.loopback import Asked, Given, LoopbackServer, given_json
from tests.support.world import Sent

USERNAME = "StandingBot"


class Telegram:
    """``messages`` are what ``sendMessage`` took. ``blocked`` holds chats that answer 403;
    ``wait_s`` makes every call answer 429 with that ``retry_after``; ``waits`` counts them.

    ``forums`` have topics, ``gone`` are not found, ``moved`` became supergroups; every other chat
    is there and has no topics.
    """

    def __init__(self, token: str = "77:telegram-token") -> None:
        self.token = token
        self.messages: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.blocked: set[str] = set()
        self.forums: set[str] = set()
        self.gone: set[str] = set()
        self.moved: dict[str, str] = {}
        self.topics: list[dict[str, Any]] = []
        self.webhook: dict[str, Any] = {}
        self.wait_s: int | None = None
        self.waits = 0

    def texts(self, chat: str) -> list[str]:
        """What was sent to one chat."""
        return [each["text"] for each in self.messages if str(each["chat_id"]) == chat]

    def reply(self, sent: Sent) -> HttpReply:
        """As ``ScriptedHttp.otherwise``."""
        asked = Asked(sent.method, urlsplit(sent.url).path, (), sent.headers, sent.body or "")
        given = self.answer(asked)
        body = given.body if isinstance(given.body, str) else given.body.decode()
        return HttpReply(given.status, given.headers, body)

    def answer(self, asked: Asked) -> Given:
        token, _, method = asked.path.removeprefix("/bot").partition("/")
        if token != self.token:
            return _refused(401, "Unauthorized")
        if self.wait_s is not None:
            self.waits += 1
            waiting = {"retry_after": self.wait_s}
            said = f"Too Many Requests: retry after {self.wait_s}"
            return _refused(429, said, parameters=waiting)
        body: dict[str, Any] = asked.json if asked.body else dict(asked.query)
        self.calls.append((method, body))
        if method == "getMe":
            return _done({"id": 77, "is_bot": True, "first_name": "S", "username": USERNAME})
        if method == "setWebhook":
            self.webhook = body
        if method == "getWebhookInfo":
            return _done({"url": self.webhook.get("url", ""), "pending_update_count": 0})
        chat = str(body.get("chat_id"))
        if chat in self.moved:
            parameters = {"migrate_to_chat_id": int(self.moved[chat])}
            said = "Bad Request: group chat was upgraded to a supergroup chat"
            return _refused(400, said, parameters=parameters)
        if chat in self.gone:
            return _refused(400, "Bad Request: chat not found")
        if chat in self.blocked:
            return _refused(403, "Forbidden: bot was blocked by the user")
        if method == "getChat":
            forum = {"is_forum": True} if chat in self.forums else {}
            return _done({"id": int(chat), "type": "supergroup", "title": "ops", **forum})
        if method == "createForumTopic":
            return self._topic(chat, body)
        return self._send(body) if method == "sendMessage" else _done(True)

    def _topic(self, chat: str, body: dict[str, Any]) -> Given:
        if chat not in self.forums:
            return _refused(400, "Bad Request: the chat is not a forum")
        assert 0 < len(body["name"]) <= 128
        self.topics.append(body)
        topic = 100 + len(self.topics)
        return _done({"message_thread_id": topic, "name": body["name"], "icon_color": 7322096})

    def _send(self, body: dict[str, Any]) -> Given:
        units = body["text"].encode("utf-16-le")
        if not 0 < len(units) <= 2 * 4096 or not body["text"].strip():
            return _refused(400, "Bad Request: message is empty or too long")
        for entity in body.get("entities", []):
            start, end = entity["offset"], entity["offset"] + entity["length"]
            assert 0 <= start < end <= len(units) // 2, entity
            units[2 * start : 2 * end].decode("utf-16-le")
        self.messages.append(body)
        return _done({"message_id": len(self.messages)})


class TelegramServer(Telegram, LoopbackServer):
    """Set ``TELEGRAM_API_URL`` to ``url`` and ``TELEGRAM_BOT_TOKEN`` to ``token``."""

    def __init__(self, token: str = "77:telegram-token") -> None:
        Telegram.__init__(self, token)
        LoopbackServer.__init__(self)


def _done(result: Any) -> Given:
    return given_json({"ok": True, "result": result})


def _refused(status: int, description: str, **more: Any) -> Given:
    return given_json(
        {"ok": False, "error_code": status, "description": description, **more}, status
    )
