"""Who came in, and whether by the door the route asks for. Pure.

Every configured token is compared, in constant time, on bytes, without an early exit; a
secret that is unset or empty denies (contract §6).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from bot.authz.actor import CRON, Actor, Surface, parse_actor
from bot.authz.policy import Door
from bot.http.access import standing
from bot.http.cookie import Means, Session, find, fingerprint, unseal
from bot.http.values import Request
from bot.ports import Settings
from bot.words import Code, Refused

READING = frozenset({"GET", "HEAD"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Via(StrEnum):
    """What credential a caller showed."""

    NOTHING = "nothing"
    BEARER = "bearer"
    SESSION = "session"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who came in: the credential that counted, and whom it makes."""

    via: Via
    actor: Actor | None = None
    session: Session | None = None


_OPENS: Mapping[Door, frozenset[Via]] = {
    Door.ACTOR: frozenset({Via.BEARER, Via.SESSION}),
    Door.SESSION: frozenset({Via.SESSION}),
    Door.BEARER: frozenset({Via.BEARER}),
    Door.INTERNAL: frozenset({Via.INTERNAL}),
}
_ASKS: Mapping[Door, str] = {
    Door.ACTOR: "a bearer token (Authorization: Bearer TOKEN) or a browser session",
    Door.SESSION: "a browser session; sign in with POST /api/session",
    Door.BEARER: "a bearer token (Authorization: Bearer TOKEN)",
    Door.INTERNAL: "the X-Internal-Key",
}


def enter(settings: Settings, request: Request, door: Door, now_ms: int) -> Caller | Refused:
    """Let a request in by ``door``, or say why not.

    ``open`` and ``signed`` look at no credential here: the first needs none, the second is
    checked by its surface over the raw body. The others look at the kinds of credential that
    open them, and at no other. Returns ``unauthorized`` for none of these and for a wrong one,
    and ``bad_csrf`` for a session's unguarded write.
    """
    if door in (Door.OPEN, Door.SIGNED):
        return Caller(Via.NOTHING)
    caller = identify(settings, request.headers, _OPENS[door], now_ms)
    if isinstance(caller, Refused):
        return caller
    if caller.via is Via.NOTHING:
        return Refused(Code.UNAUTHORIZED, f"This needs {_ASKS[door]}.")
    if caller.session is not None and request.method not in READING:
        return _unguarded(request, caller.session) or caller
    return caller


def identify(
    settings: Settings, headers: Mapping[str, str], kinds: Set[Via], now_ms: int
) -> Caller | Refused:
    """Whom the request's credential makes, of the ``kinds`` that count.

    One counts: the bearer, else the internal key, else the session. A wrong one is refused even
    where the next one would do. One of another kind is not looked at.
    """
    authorization = headers.get("authorization")
    if Via.BEARER in kinds and authorization is not None:
        return _bearer(settings, authorization)
    internal = headers.get("x-internal-key")
    if Via.INTERNAL in kinds and internal is not None:
        if same(internal, settings.internal_key):
            return Caller(Via.INTERNAL)
        return Refused(Code.UNAUTHORIZED, "The X-Internal-Key is wrong.")
    cookie = find(headers) if Via.SESSION in kinds else None
    if cookie is None:
        return Caller(Via.NOTHING)
    session = live_session(settings, cookie, now_ms)
    if session is None:
        return Refused(Code.UNAUTHORIZED, "The browser session has ended; sign in again.")
    return Caller(Via.SESSION, Actor(Surface.WEB, session.sub), session)


def same(given: str, secret: str) -> bool:
    """Whether a credential is the secret, in constant time; an empty secret never is."""
    matches = hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())
    return matches and bool(secret)


def subject_of(settings: Settings, token: str) -> str | None:
    """The subject of ``INGRESS_TOKENS`` whose token this is; None for nobody or for several.

    ``cron`` is no subject here: ``CRON_TOKEN`` alone makes ``http:cron``.
    """
    return _only(
        subject
        for subject, secret in settings.ingress_tokens.items()
        if _may_be_subject(subject) and same(token, secret)
    )


def live_session(settings: Settings, value: str, now_ms: int) -> Session | None:
    """The session in a cookie, if what signed it in is still configured as it was."""
    session = unseal(settings.session_key, value, now_ms)
    if session is None or not _may_be_subject(session.sub):
        return None
    if session.means == Means.ACCESS:
        ground = standing(settings)
    else:
        ground = settings.ingress_tokens.get(session.sub, "")
    mark = fingerprint(settings.session_key, ground)
    return session if ground and same(session.token, mark) else None


def foreign(request: Request) -> bool:
    """Whether a browser says that the request was made by a page of another host."""
    origin = request.headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc.lower() != request.host
    except ValueError:
        return True


def over_loopback(request: Request) -> bool:
    """Whether the request came over plain HTTP to a loopback host, where Secure cannot be."""
    try:
        host = urlsplit(f"//{request.host}").hostname
    except ValueError:
        return False
    return request.scheme == "http" and host in _LOOPBACK


def _bearer(settings: Settings, authorization: str) -> Caller | Refused:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        return Refused(Code.UNAUTHORIZED, "Write the header as Authorization: Bearer TOKEN.")
    subject, cron = subject_of(settings, token), same(token, settings.cron_token)
    if subject is not None and not cron:
        return Caller(Via.BEARER, Actor(Surface.HTTP, subject))
    if cron and subject is None:
        return Caller(Via.BEARER, CRON)
    return Refused(Code.UNAUTHORIZED, "The bearer token is not one of this bot's.")


def _unguarded(request: Request, session: Session) -> Refused | None:
    """Whether a write by a session lacks both proofs that our own page made it: the browser's
    word on where it comes from, or the session's token.

    A token that is sent is this session's: a page sends that of the session which it was opened
    with, and who signed in since may be somebody else.
    """
    if foreign(request):
        return Refused(Code.BAD_CSRF, "The request was made by a page of another host.")
    token = request.headers.get("x-csrf-token")
    if same(token, session.csrf) if token is not None else request.headers.get("origin"):
        return None
    return Refused(
        Code.BAD_CSRF, "Send the session's csrf (GET /api/session) as the header X-CSRF-Token."
    )


def _may_be_subject(subject: str) -> bool:
    actor = parse_actor(f"{Surface.HTTP}:{subject}")
    return isinstance(actor, Actor) and actor != CRON


def _only(found: Iterable[str]) -> str | None:
    subjects = list(found)
    return subjects[0] if len(subjects) == 1 else None
