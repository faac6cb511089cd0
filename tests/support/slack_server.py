"""Slack's Web API in memory and on loopback: takes posts, and refuses as the real one does."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bot.ports import HttpReply
from tests.support.loopback import Asked, Given, LoopbackServer, given_json
from tests.support.world import Sent

TOKEN = "xoxb-slack-token"
SECRET = "slack-signing-secret"
BOT = "U0BOT"


class Slack:
    """``posts`` are what ``chat.postMessage`` took, ``answers`` what came to a ``response_url``.

    ``failing`` is the error of every post; ``archived`` and ``left`` are channels with that fault;
    ``wait_s`` makes every call answer 429. A channel that is not among ``channels`` is not found.
    """

    def __init__(self) -> None:
        self.posts: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.channels = {"C042": "general", "C043": "secret", "G044": "group", "D042": ""}
        self.private = {"C043", "G044", "D042"}
        self.people = {"U042": "Ada", "U043": "Grace"}
        self.archived: set[str] = set()
        self.left: set[str] = set()
        self.failing: str | None = None
        self.wait_s: int | None = None

    def texts(self, thread: str | None = None) -> list[str]:
        """The texts that were posted, in one thread (``CHANNEL/TS``) or in all."""
        return [
            post["text"]
            for post in self.posts
            if thread in (None, f"{post['channel']}/{post.get('thread_ts')}")
        ]

    def reply(self, sent: Sent) -> HttpReply:
        """As ``ScriptedHttp.otherwise``."""
        parts = urlsplit(sent.url)
        query = tuple(parse_qsl(parts.query))
        headers = {name.lower(): value for name, value in sent.headers.items()}
        given = self.answer(Asked(sent.method, parts.path, query, headers, sent.body or ""))
        body = given.body if isinstance(given.body, str) else given.body.decode()
        return HttpReply(given.status, given.headers, body)

    def answer(self, asked: Asked) -> Given:
        if self.wait_s is not None:
            headers = {"retry-after": str(self.wait_s)}
            return given_json({"ok": False, "error": "ratelimited"}, 429, **headers)
        if asked.path.startswith("/actions/") or asked.path.startswith("/commands/"):
            self.answers.append(asked.json)
            return Given(200, "ok")
        method = asked.path.rpartition("/")[2]
        self.calls.append(method)
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return _refused("invalid_auth")
        if method == "chat.postMessage":
            return self._post(asked.json)
        values = dict(asked.query)
        if method == "users.info":
            return self._person(values["user"])
        if method == "conversations.info":
            return self._channel(values["channel"])
        return _refused("unknown_method")

    def _post(self, body: dict[str, Any]) -> Given:
        channel = body["channel"]
        if self.failing is not None:
            return _refused(self.failing)
        if channel not in self.channels:
            return _refused("channel_not_found")
        if channel in self.archived:
            return _refused("is_archived")
        if channel in self.left:
            return _refused("not_in_channel")
        if not body["text"].strip():
            return _refused("no_text")
        assert len(body["text"]) <= 40_000, "Slack would cut it"
        self.posts.append(body)
        ts = f"1770000000.{len(self.posts):06d}"
        return given_json({"ok": True, "channel": channel, "ts": ts, "message": {"ts": ts}})

    def _person(self, user: str) -> Given:
        if user not in self.people:
            return _refused("user_not_found")
        profile = {"display_name": self.people[user], "real_name": f"{self.people[user]} L."}
        return given_json({"ok": True, "user": {"id": user, "name": "x", "profile": profile}})

    def _channel(self, channel: str) -> Given:
        if channel not in self.channels:
            return _refused("channel_not_found")
        found = {
            "id": channel,
            "name": self.channels[channel],
            "is_private": channel in self.private,
            "is_archived": channel in self.archived,
            "is_member": channel not in self.left,
        }
        return given_json({"ok": True, "channel": found})


class SlackServer(Slack, LoopbackServer):
    """Set ``SLACK_API_URL`` to ``api``; a ``response_url`` is an address of ``respond``."""

    def __init__(self) -> None:
        Slack.__init__(self)
        LoopbackServer.__init__(self)

    @property
    def api(self) -> str:
        return f"{self.url}/api"

    @property
    def vars(self) -> dict[str, str]:
        """The bot's variables for it."""
        return {
            "SLACK_API_URL": self.api,
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
        }


def signature(body: bytes, at_ms: int, secret: str = SECRET) -> dict[str, str]:
    """The headers by which Slack signs a body."""
    stamp = str(at_ms // 1000)
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256)
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
    }


def _refused(error: str) -> Given:
    return Given(200, json.dumps({"ok": False, "error": error}))
