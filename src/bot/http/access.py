"""Cloudflare Access: whom its assertion names. Pure but for the keys, which a port holds.

Access stands before the Worker, lets signed-in people through, and adds to each request a token
that says who they are. Nothing in it is believed before its signature, issuer, audience and
times are right, since a request can reach a Worker by an address that Access does not guard.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from bot.authz.actor import Actor, Surface, parse_actor
from bot.ports import House, Settings
from bot.strictjson import loads
from bot.words import Code, Refused

HEADER = "cf-access-jwt-assertion"
SKEW_MS = 60_000
"""How far Access's clock may be ahead of ours."""
MAX_CHARACTERS = 8_192


@dataclass(frozen=True, slots=True)
class Assertion:
    """A token taken apart, and believed in nothing yet."""

    kid: str
    signed: bytes
    signature: bytes
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a valid assertion names, and until when (epoch milliseconds)."""

    actor: Actor
    until_ms: int


def issuer_of(settings: Settings) -> str:
    """The team's address, ``https://TEAM.cloudflareaccess.com``; empty where Access is not set up.

    Both variables are needed: without an audience, a token for any application of the team
    would do. Plain http is for the local runtime alone.
    """
    team = settings.access_team_domain
    if not team or not settings.access_aud:
        return ""
    scheme, marked, _ = team.partition("://")
    if not marked:
        return f"https://{team}"
    plain = scheme == "http" and settings.allow_private_addresses
    return team if scheme == "https" or plain else ""


async def person_behind(
    house: House, headers: Mapping[str, str], now_ms: int
) -> Person | Refused | None:
    """Whom the request's assertion names; None where there is none or Access is not set up.

    Returns ``unauthorized`` for an assertion that is not good. Raises Fault when the team's keys
    cannot be read.
    """
    issuer, text = issuer_of(house.settings), headers.get(HEADER)
    if not issuer or house.access_keys is None or text is None:
        return None
    assertion = read_assertion(text)
    if assertion is None:
        return _wrong("cannot be read")
    problem = bad_claims(assertion.claims, issuer, house.settings.access_aud, now_ms)
    if problem is not None:
        return _wrong(problem)
    if not await house.access_keys.signed(
        assertion.kid, assertion.signed, assertion.signature, now_ms
    ):
        return _wrong("is not signed by a key of the team")
    actor = _actor_of(assertion.claims["email"])
    if actor is None:
        return _wrong("names an address that cannot be an actor here")
    return Person(actor, int(assertion.claims["exp"] * 1000))


def _actor_of(email: str) -> Actor | None:
    """Whom an address names, in lower case.

    It is ASCII as it stands: another letter may fold into one (the Kelvin sign into ``k``), and
    would make its bearer somebody else.
    """
    actor = parse_actor(f"{Surface.WEB}:{email.lower()}") if email.isascii() else None
    return actor if isinstance(actor, Actor) else None


def read_assertion(text: str) -> Assertion | None:
    """Take a token apart; None for what is not an RS256 token of three parts."""
    parts = text.split(".")
    if len(parts) != 3 or len(text) > MAX_CHARACTERS:
        return None
    try:
        header, claims, signature = (_decode(part) for part in parts)
        head, body = loads(header.decode()), loads(claims.decode())
    except ValueError:
        return None
    if not isinstance(head, dict) or not isinstance(body, dict):
        return None
    head = cast(dict[str, Any], head)
    kid = head.get("kid")
    if head.get("alg") != "RS256" or "crit" in head or not isinstance(kid, str) or not kid:
        return None
    signed = f"{parts[0]}.{parts[1]}".encode()
    return Assertion(kid, signed, signature, cast(dict[str, Any], body))


def bad_claims(claims: Mapping[str, Any], issuer: str, audience: str, now_ms: int) -> str | None:
    """What is wrong with a token's claims, to follow "The assertion"; None is nothing."""
    intended = claims.get("aud")
    audiences = cast(list[Any], intended) if isinstance(intended, list) else [intended]
    if claims.get("iss") != issuer:
        return "is of another team"
    if audience not in audiences:
        return "is for another application"
    expires_ms, begins_ms = _ms(claims.get("exp")), _ms(claims.get("nbf", claims.get("iat", 1)))
    if expires_ms is None or expires_ms <= now_ms:
        return "has expired"
    if begins_ms is None or begins_ms > now_ms + SKEW_MS:
        return "is not valid yet"
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email:
        return "names no person"
    return None


def standing(settings: Settings) -> str:
    """What the sessions that Access opened stand on: they end when this changes."""
    issuer = issuer_of(settings)
    return f"access {issuer} {settings.access_aud}" if issuer else ""


def _decode(part: str) -> bytes:
    """Base64url without padding, strictly. Raises ValueError."""
    try:
        raw = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
    if "+" in part or "/" in part or "=" in part:
        raise ValueError("not base64url")
    return raw


def _ms(value: Any) -> int | None:
    """A claim's time, in seconds, as milliseconds; None for what is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e11:
        return None
    return int(value * 1000)


def _wrong(problem: str) -> Refused:
    return Refused(Code.UNAUTHORIZED, f"The assertion of Cloudflare Access {problem}.")
