"""What a route is, and what its handler is given."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot import org
from bot.authz.actor import CRON, Actor
from bot.authz.grants import Grant, grants_of
from bot.commands.registry import Args, Invocation, Outcome
from bot.http.auth import READING, Caller
from bot.http.body import StrictBody
from bot.http.values import Request, Response, json_response
from bot.ports import House
from bot.times import iso
from bot.words import Code, OutcomeKind, Refused


class Visit:
    """One authenticated request on its way through a handler.

    ``params`` are the path's named segments, decoded; ``now_ms`` the clock, read once.
    """

    def __init__(
        self,
        house: House,
        request: Request,
        caller: Caller,
        params: Mapping[str, str],
        now_ms: int,
    ) -> None:
        self.house = house
        self.request = request
        self.caller = caller
        self.params = params
        self.now_ms = now_ms
        self._grants: tuple[Grant, ...] | None = None

    @property
    def actor(self) -> Actor:
        """Who acts; the doors that make no actor have no handler that asks."""
        assert self.caller.actor is not None
        return self.caller.actor

    async def grants(self) -> tuple[Grant, ...]:
        """What the actor holds: at most one read of the org document a visit."""
        if self._grants is None:
            admins = self.house.settings.admins
            known = self.actor == CRON or self.actor.id in admins
            document = None if known else await self.house.config.read(org.TIER)
            entries = document.entries if document else dict[str, Any]()
            self._grants = grants_of(self.actor, entries, admins)
        return self._grants

    async def invoke(self, name: str, args: Args) -> Outcome:
        """Run a command as the actor: the same door as every surface's."""
        call = Invocation(self.actor, await self.grants(), self.house.ids.new(), self.now_ms)
        return await self.house.commands.invoke(self.house, call, name, args)

    async def command(self, name: str, args: Args, *, status: int = 200) -> Response | Refused:
        """Run a command and answer with its data, or with the problem of its code.

        What a GET answers is ``polled``.
        """
        outcome = await self.invoke(name, args)
        if outcome.kind is not OutcomeKind.OK:
            return Refused(outcome.code or Code.INTERNAL, outcome.text)
        if self.request.method in READING:
            return self.polled(outcome.data)
        return json_response(outcome.data, status)

    def polled(self, data: Any) -> Response:
        """``data`` as an answer that a page asks for again and again.

        Its ETag lets the page be answered 304 while nothing changes. ``X-Bot-Time`` is the
        clock that the answer was made by, so that the page tells ages by the bot's time.
        """
        response = json_response(data)
        etag = f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
        told = {"etag": etag, "x-bot-time": iso(self.now_ms)}
        if etag in self.request.headers.get("if-none-match", ""):
            return Response(304, headers=told)
        return Response(200, response.body, {**response.headers, **told})


Handler = Callable[[Visit, Any], Awaitable[Response | Refused]]
"""Answers a visit; the second argument is the parsed body, None where the route takes none."""


@dataclass(frozen=True, slots=True)
class Route:
    """A method, a path pattern such as ``/admin/runs/{id}``, and what answers it.

    ``body`` is the model of the JSON object that the route takes.
    """

    method: str
    pattern: str
    handler: Handler
    body: type[StrictBody] | None = None
