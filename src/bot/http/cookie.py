"""The browser session as a signed cookie. Pure: the key, the clock and the secrets come in."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

NAME = "session"
LIFETIME_MS = 7 * 24 * 3_600_000


class Means(StrEnum):
    """By what a browser was signed in."""

    TOKEN = "token"
    ACCESS = "access"


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser.

    ``sub`` is the subject of ``web:<sub>``; ``exp`` epoch milliseconds; ``csrf`` what its
    writes must repeat; ``means`` one of ``Means``; ``token`` the fingerprint of what signed it in
    (the token, or how Access is set up), so that its removal or change ends the session.
    """

    sub: str
    exp: int
    csrf: str
    token: str
    means: str = Means.TOKEN


def fingerprint(key: str, token: str) -> str:
    """A token's mark inside a session: useless without the key."""
    return _encode(_mac(key, "token", token)[:12])


def seal(key: str, session: Session) -> str:
    """The cookie's value: the payload, a dot, and its HMAC-SHA256 under ``key``."""
    payload = _encode(json.dumps(asdict(session), separators=(",", ":")).encode())
    return f"{payload}.{_encode(_mac(key, 'session', payload))}"


def unseal(key: str, value: str, now_ms: int) -> Session | None:
    """The session in a cookie's value; None for a forged, broken or expired one.

    An empty ``key`` opens nothing.
    """
    payload, _, mac = value.partition(".")
    if not key or not value.isascii():
        return None
    if not hmac.compare_digest(_encode(_mac(key, "session", payload)).encode(), mac.encode()):
        return None
    try:
        data: Any = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        session = Session(**data)
    except (ValueError, TypeError, binascii.Error):
        return None
    return session if now_ms < session.exp else None


def find(headers: Mapping[str, str]) -> str | None:
    """The session cookie that a request carries.

    Two cookies of the name are one too many (a neighbouring host may have planted one), and
    read as an empty, hence invalid, value.
    """
    values = [
        value.strip()
        for name, _, value in (part.partition("=") for part in headers.get("cookie", "").split(";"))
        if name.strip() == NAME
    ]
    if not values:
        return None
    return values[0] if len(values) == 1 else ""


def set_cookie(value: str, *, secure: bool, max_age_s: int = LIFETIME_MS // 1000) -> str:
    """The ``Set-Cookie`` header; ``max_age_s`` 0 clears it."""
    attributes = f"{NAME}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age_s}"
    return f"{attributes}; Secure" if secure else attributes


def _mac(key: str, purpose: str, text: str) -> bytes:
    return hmac.digest(key.encode(), f"{purpose}:{text}".encode(), "sha256")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
