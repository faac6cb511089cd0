"""``/api/session``: signing a browser in, by a token or by Cloudflare Access, and out."""

from __future__ import annotations

from typing import Any

from bot import org
from bot.authz.actor import Actor, Surface
from bot.authz.grants import grants_of
from bot.http import access
from bot.http.auth import Caller, Via, foreign, identify, over_loopback, subject_of
from bot.http.body import StrictBody
from bot.http.cookie import LIFETIME_MS, Means, Session, fingerprint, seal, set_cookie
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.times import iso
from bot.words import Code, Refused

CSRF_CHARACTERS = 32


class SignIn(StrictBody):
    """The body of ``POST /api/session``. Without a token, the assertion of Access counts."""

    token: str | None = None


async def ways(visit: Visit, body: None) -> Response | Refused:
    """What a page asks first: the live session if there is one, and whether Access is there.

    Always 200, so that being signed out is no error.
    """
    settings = visit.house.settings
    caller = identify(settings, visit.request.headers, {Via.SESSION}, visit.now_ms)
    session = caller.session if isinstance(caller, Caller) else None
    by_access = bool(access.issuer_of(settings)) and access.HEADER in visit.request.headers
    told = None if session is None else await _told(visit, session)
    return json_response({"session": told, "access": by_access})


async def sign_in(visit: Visit, body: SignIn) -> Response | Refused:
    """Open a session as ``web:<subject>`` for seven days, and no longer than Access does.

    A page of another host may not sign its visitor in here. Without ``SESSION_KEY`` nobody
    signs in.
    """
    settings = visit.house.settings
    if foreign(visit.request):
        return Refused(Code.BAD_CSRF, "The request was made by a page of another host.")
    if not settings.session_key:
        return Refused(Code.UNAUTHORIZED, "Signing in is off: SESSION_KEY is not set.")
    session = await _by_access(visit) if body.token is None else _by_token(visit, body.token)
    if isinstance(session, Refused):
        return session
    cookie = set_cookie(
        seal(settings.session_key, session), secure=not over_loopback(visit.request)
    )
    return json_response(await _told(visit, session), headers={"set-cookie": cookie})


async def show(visit: Visit, body: None) -> Response | Refused:
    """The live session, so that a page that was loaded again gets its csrf."""
    assert visit.caller.session is not None
    return json_response(await _told(visit, visit.caller.session))


async def sign_out(visit: Visit, body: None) -> Response | Refused:
    """Clear the cookie."""
    cookie = set_cookie("", secure=not over_loopback(visit.request), max_age_s=0)
    return Response(204, headers={"set-cookie": cookie})


def _by_token(visit: Visit, token: str) -> Session | Refused:
    subject = subject_of(visit.house.settings, token)
    if subject is None:
        return Refused(Code.UNAUTHORIZED, "The token is not one of this bot's.")
    return _session(visit, subject, Means.TOKEN, token, visit.now_ms + LIFETIME_MS)


async def _by_access(visit: Visit) -> Session | Refused:
    person = await access.person_behind(visit.house, visit.request.headers, visit.now_ms)
    if isinstance(person, Refused):
        return person
    if person is None:
        return Refused(Code.BAD_REQUEST, "The body is refused: token is missing.")
    until_ms = min(visit.now_ms + LIFETIME_MS, person.until_ms)
    ground = access.standing(visit.house.settings)
    return _session(visit, person.actor.subject, Means.ACCESS, ground, until_ms)


def _session(visit: Visit, subject: str, means: Means, ground: str, until_ms: int) -> Session:
    house = visit.house
    return Session(
        sub=subject,
        exp=until_ms,
        csrf=house.ids.secret(CSRF_CHARACTERS),
        token=fingerprint(house.settings.session_key, ground),
        means=means,
    )


async def _told(visit: Visit, session: Session) -> dict[str, Any]:
    actor = Actor(Surface.WEB, session.sub)
    entries = (await visit.house.config.read(org.TIER)).entries
    held = grants_of(actor, entries, visit.house.settings.admins)
    return {
        "actor": actor.id,
        "csrf": session.csrf,
        "expires_at": iso(session.exp),
        "grants": [str(grant) for grant in held],
    }


ROUTES = (
    Route("GET", "/api/sign-in", ways),
    Route("POST", "/api/session", sign_in, SignIn),
    Route("GET", "/api/session", show),
    Route("DELETE", "/api/session", sign_out),
)
