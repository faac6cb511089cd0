"""The HTTP door: match, policy, door, authority, body, handler; and errors as problems.

No framework: a route table and a match by hand, so that a cold isolate answers the tick fast.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.authz.policy import ROUTES as POLICY
from bot.authz.policy import Need, authorize
from bot.http import (
    chat,
    command,
    config,
    health,
    ingress,
    jobs,
    runs,
    schedules,
    secrets,
    session,
    slack,
    telegram,
)
from bot.http.auth import enter
from bot.http.body import read_body, too_large
from bot.http.problem import problem
from bot.http.values import MAX_BODY, SAFE, Request, Response, decode
from bot.http.visit import Route, Visit
from bot.ports import Fault, House
from bot.words import Code, Refused

ROUTES: tuple[Route, ...] = (
    *health.ROUTES,
    *ingress.ROUTES,
    *schedules.ROUTES,
    *command.ROUTES,
    *config.ROUTES,
    *runs.ROUTES,
    *session.ROUTES,
    *chat.ROUTES,
    *jobs.ROUTES,
    *secrets.ROUTES,
    *slack.ROUTES,
    *telegram.ROUTES,
)

log = logging.getLogger("bot.http")


@dataclass(frozen=True, slots=True)
class Match:
    """A route that a path and a method name, with the path's named segments."""

    route: Route
    params: Mapping[str, str]


async def handle(
    house: House,
    request: Request,
    *,
    routes: Iterable[Route] = ROUTES,
    policy: Mapping[tuple[str, str], Need] = POLICY,
) -> Response:
    """Answer one request; never raises.

    A port's fault is ``503 store_unavailable``, anything else that breaks is logged and is
    ``500 internal``; no trace leaves.
    """
    try:
        answer = await _answer(house, request, routes, policy)
    except Fault as fault:
        _log(request, "http_fault", fault)
        answer = Refused(Code.STORE_UNAVAILABLE, "A store did not answer; try again.")
    except Exception as error:
        _log(request, "http_error", error)
        answer = Refused(Code.INTERNAL, "Something broke; the log has the details.")
    response = problem(answer) if isinstance(answer, Refused) else answer
    body = b"" if request.method == "HEAD" else response.body
    return Response(response.status, body, {**SAFE, **response.headers})


def match(routes: Iterable[Route], method: str, path: str) -> Match | Refused | frozenset[str]:
    """The route of a method and a path.

    Of several patterns the one with the fewest named segments wins. Returns ``not_found``, or
    the methods that the path does take where it does not take this one. HEAD is a GET.
    """
    segments = [decode(segment) for segment in path.split("/")]
    found: list[Match] = []
    for route in routes:
        params = _params(route.pattern.split("/"), segments)
        if params is not None:
            found.append(Match(route, params))
    if not found:
        return Refused(Code.NOT_FOUND, "There is nothing at this address.")
    wanted = "GET" if method == "HEAD" else method
    taking = [each for each in found if each.route.method == wanted]
    if taking:
        return min(taking, key=lambda each: len(each.params))
    methods = {each.route.method for each in found}
    return frozenset(methods | ({"HEAD"} if "GET" in methods else set()))


def _params(pattern: list[str], segments: list[str | None]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    params: dict[str, str] = {}
    for expected, segment in zip(pattern, segments, strict=True):
        if segment is None:
            return None
        if expected.startswith("{"):
            if not segment:
                return None
            params[expected[1:-1]] = segment
        elif expected != segment:
            return None
    return params


async def _answer(
    house: House,
    request: Request,
    routes: Iterable[Route],
    policy: Mapping[tuple[str, str], Need],
) -> Response | Refused:
    matched = match(routes, request.method, request.path)
    if isinstance(matched, frozenset):
        allowed = ", ".join(sorted(matched))
        refusal = Refused(Code.METHOD_NOT_ALLOWED, f"This address takes {allowed}.")
        return problem(refusal, headers={"allow": allowed})
    if isinstance(matched, Refused):
        return matched
    route = matched.route
    need = policy.get((route.method, route.pattern))
    if need is None:
        return Refused(Code.FORBIDDEN, "The policy table does not name this route: nobody may.")
    now_ms = house.clock.now_ms()
    caller = enter(house.settings, request, need.door, now_ms)
    if isinstance(caller, Refused):
        return caller
    visit = Visit(house, request, caller, matched.params, now_ms)
    if need.action is not None:
        refusal = authorize(
            need,
            matched.params,
            await visit.grants(),
            who=visit.actor.id,
            givers=house.settings.admins,
        )
        if refusal is not None:
            return refusal
    if len(request.body) > MAX_BODY:
        return too_large()
    body = read_body(route.body, request.body) if route.body is not None else None
    if isinstance(body, Refused):
        return body
    return await route.handler(visit, body)


def _log(request: Request, action: str, error: Exception) -> None:
    path = request.path[:200]
    log.error("%s %r broke", request.method, path, exc_info=error, extra={"action": action})
