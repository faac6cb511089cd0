"""Telegram's Bot API on loopback: takes messages, and refuses as the real one does."""

from __future__ import annotations

from typing import Any

from tests.support.loopback import Asked, Given, LoopbackServer, given_json


class TelegramServer(LoopbackServer):
    """Set ``TELEGRAM_API_URL`` to ``url`` and ``TELEGRAM_BOT_TOKEN`` to ``token``.

    ``messages`` are what ``sendMessage`` took. ``blocked`` holds chats that answer 403;
    ``wait_s`` makes every call answer 429 with that ``retry_after``.
    """

    def __init__(self, token: str = "77:telegram-token") -> None:
        self.token = token
        self.messages: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.blocked: set[str] = set()
        self.wait_s: int | None = None
        super().__init__()

    def texts(self, chat: str) -> list[str]:
        """What was sent to one chat."""
        return [each["text"] for each in self.messages if str(each["chat_id"]) == chat]

    def answer(self, asked: Asked) -> Given:
        token, _, method = asked.path.removeprefix("/bot").partition("/")
        if token != self.token:
            return _refused(401, "Unauthorized")
        if self.wait_s is not None:
            waiting = {"retry_after": self.wait_s}
            said = f"Too Many Requests: retry after {self.wait_s}"
            return _refused(429, said, parameters=waiting)
        body: dict[str, Any] = asked.json if asked.body else dict(asked.query)
        self.calls.append((method, body))
        if method != "sendMessage":
            return given_json({"ok": True, "result": True})
        if str(body["chat_id"]) in self.blocked:
            return _refused(403, "Forbidden: bot was blocked by the user")
        if not 0 < len(body["text"].encode("utf-16-le")) <= 2 * 4096:
            return _refused(400, "Bad Request: message is empty or too long")
        self.messages.append(body)
        return given_json({"ok": True, "result": {"message_id": len(self.messages)}})


def _refused(status: int, description: str, **more: Any) -> Given:
    return given_json(
        {"ok": False, "error_code": status, "description": description, **more}, status
    )
