"""GitHub's REST API over the house's HTTP port: one place for calls and errors.

``GitHub.call`` and ``GitHub.pages`` carry the headers, the paging and every way GitHub says no;
a need (``bot.agent.advisories``) is a path, a wire model and the value it becomes, in a file of
its own. Nothing here sleeps or tries again: the caller decides that from the answer.

Everything GitHub answers is text from outside (contract §4): it is data, it adds no authority,
and it leaves here as single lines without control characters.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeGuard
from urllib.parse import urlencode, urlsplit

from bot import strictjson
from bot.ports import Fault, HttpClient, HttpReply, Json, Settings
from bot.times import iso
from bot.words import Code, Refused

API_VERSION = "2026-03-10"
PER_PAGE = 100
MAX_PAGES = 10
DEFAULT_WAIT_S = 60
"""What GitHub asks for where a limit is hit and no header says how long."""
MAX_WAIT_S = 86_400
_NEXT = re.compile(r'<([^<>\s]+)>[^<>]*?; ?rel="?next(?=[" ,;]|$)', re.IGNORECASE)
_TURNED_OFF = re.compile(r"disabled (for|in|on) this repo", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RateLimited(Refused):
    """``github_rate_limited``, with the seconds after which a next request may be made."""

    retry_after_s: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, for the sentences that say why it failed.

    ``name`` is what people call it (``acme/api``), ``permission`` what the token needs for it.
    """

    name: str
    permission: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer: its JSON (None where it has no body) and the URL of its next page."""

    body: Json
    next_url: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list read page by page; ``cut`` where more pages were left unread."""

    items: tuple[Json, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class GitHub:
    """The client, over the settings' ``github_api_url`` and ``github_token``."""

    http: HttpClient
    api_url: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, http: HttpClient, settings: Settings) -> GitHub:
        """The client that the settings describe."""
        return cls(http, settings.github_api_url, settings.github_token)

    async def call(
        self,
        method: str,
        path: str,
        subject: Subject,
        *,
        now_ms: int,
        query: Mapping[str, str | int] | None = None,
        body: Json = None,
    ) -> Answer | Refused:
        """One request to ``path``, which starts with a slash and is quoted already.

        Returns the answer, or one of the ``github_*`` codes; ``bad_value`` where GitHub
        refuses what was sent. ``now_ms`` dates the end of a rate limit.
        """
        return await self._send(method, self._url(path, query), subject, now_ms, body)

    async def pages(
        self,
        path: str,
        subject: Subject,
        *,
        now_ms: int,
        query: Mapping[str, str | int] | None = None,
    ) -> Listing | Refused:
        """Every item of a list, over at most ``MAX_PAGES`` pages.

        A page that fails is the answer: part of a list is never passed off as the whole.
        """
        url, items = self._url(path, query), list[Json]()
        for _ in range(MAX_PAGES):
            answer = await self._send("GET", url, subject, now_ms)
            if isinstance(answer, Refused):
                return answer
            if not _is_list(answer.body):
                return unreadable(subject)
            items += answer.body
            if answer.next_url is None:
                return Listing(tuple(items), cut=False)
            url = answer.next_url
        return Listing(tuple(items), cut=True)

    def _url(self, path: str, query: Mapping[str, str | int] | None) -> str:
        return self.api_url.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")

    async def _send(
        self, method: str, url: str, subject: Subject, now_ms: int, body: Json = None
    ) -> Answer | Refused:
        if not self.token:
            return Refused(
                Code.GITHUB_NO_TOKEN, "No GitHub token is configured. Set the secret GITHUB_TOKEN."
            )
        if not url.startswith(f"{_origin(self.api_url)}/"):
            return Refused(
                Code.GITHUB_UNAVAILABLE,
                f"GitHub's list of {subject.name} goes on at another address than GITHUB_API_URL, "
                "where the token is not sent.",
            )
        headers = {
            "accept": "application/vnd.github+json",
            "authorization": f"Bearer {self.token}",
            "user-agent": "standing-orders",
            "x-github-api-version": API_VERSION,
        }
        if body is not None:
            headers["content-type"] = "application/json"
        try:
            reply = await self.http.send(
                method, url, headers=headers, body=None if body is None else json.dumps(body)
            )
        except Fault:
            return Refused(
                Code.GITHUB_UNAVAILABLE, "GitHub did not answer in time. Try again later."
            )
        if not 200 <= reply.status < 300:
            return refusal(reply, subject, now_ms)
        try:
            value: Json = strictjson.loads(reply.text) if reply.text else None
        except ValueError:
            return unreadable(subject)
        link = _NEXT.search(reply.headers.get("link", ""))
        return Answer(value, link[1] if link else None)


def refusal(reply: HttpReply, subject: Subject, now_ms: int) -> Refused:
    """What an answer outside 200 to 299 means, in the contract's codes."""
    status, said = reply.status, _message(reply)
    if status in (403, 429):
        wait_s = _wait_s(reply, said, now_ms)
        if wait_s is not None:
            return RateLimited(
                Code.GITHUB_RATE_LIMITED,
                "GitHub's rate limit for this token is used up. "
                f"Try again at {iso(now_ms + 1000 * wait_s + 999)}, in {_span(wait_s)}.",
                wait_s,
            )
    quoted = f' GitHub says: "{said}"' if said else ""
    if status == 401:
        return Refused(
            Code.GITHUB_TOKEN_REFUSED,
            "GitHub refused the token: it is wrong, expired or revoked. "
            "Put a working one into GITHUB_TOKEN.",
        )
    if status in (403, 410) and _TURNED_OFF.search(said):
        return Refused(
            Code.GITHUB_NOT_FOUND,
            f"{subject.name} has this turned off.{quoted} Whoever administers the repository can "
            f"turn it on in its settings; the token then needs {subject.permission}.",
        )
    if status == 403:
        return Refused(
            Code.GITHUB_TOKEN_REFUSED,
            f"The token may not do this on {subject.name}.{quoted} It needs {subject.permission}.",
        )
    if status == 404:
        return Refused(
            Code.GITHUB_NOT_FOUND,
            f"GitHub does not show {subject.name} to this token. Check the name; if it is right, "
            f"the token needs access to it with {subject.permission}.",
        )
    if 300 <= status < 400:
        return Refused(Code.GITHUB_NOT_FOUND, f"{subject.name} has moved. Use the name it has now.")
    if status in (409, 410, 422):
        return Refused(Code.BAD_VALUE, f"GitHub refused this on {subject.name}.{quoted}")
    return Refused(
        Code.GITHUB_UNAVAILABLE, f"GitHub answered with status {status}. Try again later."
    )


def one_line(text: str, limit: int) -> str:
    """Text from outside as one harmless line of at most ``limit`` characters.

    White space and line breaks become single spaces; control, format (bidi, zero width),
    private and lone surrogate characters go; a cut shows as an ellipsis.
    """
    spaced = " ".join(text.split())
    kept = "".join(each for each in spaced if not unicodedata.category(each).startswith("C"))
    clean = " ".join(kept.split())
    return clean if len(clean) <= limit else f"{clean[: limit - 1].rstrip()}…"


def _message(reply: HttpReply) -> str:
    try:
        value: Json = strictjson.loads(reply.text)
    except ValueError:
        return ""
    said: Json = value.get("message") if isinstance(value, dict) else None  # type: ignore[reportUnknownMemberType]
    return one_line(said, 200) if isinstance(said, str) else ""


def _wait_s(reply: HttpReply, said: str, now_ms: int) -> int | None:
    """Seconds until a limit ends; None where the answer speaks of no limit."""
    after = _number(reply.headers.get("retry-after"))
    used_up = reply.headers.get("x-ratelimit-remaining") == "0"
    if after is None and not used_up and reply.status != 429 and "rate limit" not in said.lower():
        return None
    reset = _number(reply.headers.get("x-ratelimit-reset")) if used_up else None
    if after is None and reset is not None:
        after = -(-(reset * 1000 - now_ms) // 1000)
    return min(max(DEFAULT_WAIT_S if after is None else after, 1), MAX_WAIT_S)


def _number(header: str | None) -> int | None:
    return int(header) if header and re.fullmatch(r"[0-9]{1,12}", header) else None


def _span(seconds: int) -> str:
    number, unit = (seconds, "second") if seconds < 120 else (-(-seconds // 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def unreadable(subject: Subject) -> Refused:
    """An answer that is not what GitHub documents: a proxy's page, a change of its API."""
    return Refused(
        Code.GITHUB_UNAVAILABLE, f"GitHub's answer about {subject.name} could not be read."
    )
