"""What comes in over HTTP and what goes out, as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.words import Code, Refused

MAX_BODY = 256 * 1024
"""Bytes that a request's body may have (contract §6)."""

SAFE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Headers of every answer: it is neither kept nor taken for another type."""

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    ``path`` is still percent-encoded, ``query`` is decoded, header names are lower-case.
    ``scheme`` is that of the address the request came to.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    scheme: str = "https"

    @property
    def host(self) -> str:
        """The host the request came to, with its port where it named one."""
        return self.headers.get("host", "").lower()


@dataclass(frozen=True, slots=True)
class Response:
    """One answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """``data`` as a JSON answer."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    content = {**SAFE, "content-type": "application/json; charset=utf-8"}
    return Response(status, text.encode("utf-8", "replace"), {**content, **(headers or {})})


def read_request(
    method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes
) -> Request | Refused:
    """A platform's request as ours.

    Returns ``Refused(bad_request)`` for a query key that comes twice and for one that cannot
    be decoded, since two readers of such a query could see two different things.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return Refused(Code.BAD_REQUEST, "The address cannot be read.")
    query = read_query(parts.query)
    if isinstance(query, Refused):
        return query
    lower = {"host": parts.netloc} | {name.lower(): value for name, value in headers}
    return Request(method.upper(), parts.path or "/", query, lower, body, parts.scheme or "https")


def read_query(text: str) -> dict[str, str] | Refused:
    """A query string, decoded; see ``read_request`` for what is refused."""
    query: dict[str, str] = {}
    for pair in text.split("&"):
        if not pair:
            continue
        raw_key, _, raw_value = pair.partition("=")
        key, value = decode(raw_key.replace("+", " ")), decode(raw_value.replace("+", " "))
        if key is None or value is None:
            return Refused(Code.BAD_REQUEST, "The query is not percent-encoded UTF-8.")
        if key in query:
            return Refused(Code.BAD_REQUEST, f"The query names {key[:60]!r} more than once.")
        query[key] = value
    return query


def decode(text: str) -> str | None:
    """Undo percent-encoding; None for a broken escape, bad UTF-8 or a control character."""
    if _BROKEN_ESCAPE.search(text):
        return None
    try:
        plain = unquote(text, errors="strict")
        plain.encode()
    except UnicodeError:
        return None
    return None if _CONTROL.search(plain) else plain


def int_query(request: Request, name: str, *, default: int, low: int, high: int) -> int | Refused:
    """A whole number of the query within ``low`` and ``high``; ``bad_value`` otherwise."""
    text = request.query.get(name)
    if text is None:
        return default
    if re.fullmatch(r"[0-9]{1,15}", text) and low <= int(text) <= high:
        return int(text)
    return Refused(
        Code.BAD_VALUE, f"{name} is {text[:40]!r}; it takes a whole number, {low} to {high}."
    )
