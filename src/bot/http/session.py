"""``/api/session``: signing a browser in with a token of ``INGRESS_TOKENS``, and out."""

from __future__ import annotations

from bot.authz.actor import Actor, Surface
from bot.http.auth import foreign, over_loopback, subject_of
from bot.http.body import StrictBody
from bot.http.cookie import LIFETIME_MS, Session, fingerprint, seal, set_cookie
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.times import iso
from bot.words import Code, Refused

CSRF_CHARACTERS = 32


class SignIn(StrictBody):
    """The body of ``POST /api/session``."""

    token: str


async def sign_in(visit: Visit, body: SignIn) -> Response | Refused:
    """Open a session as ``web:<subject>`` for twelve hours.

    A page of another host may not sign its visitor in here. Without ``SESSION_KEY`` nobody
    signs in.
    """
    settings = visit.house.settings
    if foreign(visit.request):
        return Refused(Code.BAD_CSRF, "The request was made by a page of another host.")
    if not settings.session_key:
        return Refused(Code.UNAUTHORIZED, "Signing in is off: SESSION_KEY is not set.")
    subject = subject_of(settings, body.token)
    if subject is None:
        return Refused(Code.UNAUTHORIZED, "The token is not one of this bot's.")
    session = Session(
        sub=subject,
        exp=visit.now_ms + LIFETIME_MS,
        csrf=visit.house.ids.secret(CSRF_CHARACTERS),
        token=fingerprint(settings.session_key, body.token),
    )
    cookie = set_cookie(
        seal(settings.session_key, session), secure=not over_loopback(visit.request)
    )
    return _told(session, {"set-cookie": cookie})


async def show(visit: Visit, body: None) -> Response | Refused:
    """The live session, so that a page that was loaded again gets its csrf."""
    assert visit.caller.session is not None
    return _told(visit.caller.session)


async def sign_out(visit: Visit, body: None) -> Response | Refused:
    """Clear the cookie."""
    cookie = set_cookie("", secure=not over_loopback(visit.request), max_age_s=0)
    return Response(204, headers={"set-cookie": cookie})


def _told(session: Session, headers: dict[str, str] | None = None) -> Response:
    return json_response(
        {
            "actor": Actor(Surface.WEB, session.sub).id,
            "csrf": session.csrf,
            "expires_at": iso(session.exp),
        },
        headers=headers,
    )


ROUTES = (
    Route("POST", "/api/session", sign_in, SignIn),
    Route("GET", "/api/session", show),
    Route("DELETE", "/api/session", sign_out),
)
