"""The Worker's entrypoint: the platform's events as plain values, and plain answers back."""

from __future__ import annotations

import logging
from typing import Any

from workers import Response, WorkerEntrypoint

from bot import app
from bot.cloudflare.logs import log_to_console
from bot.cloudflare.streams import read_at_most
from bot.http import values
from bot.http.problem import problem
from bot.http.values import MAX_BODY
from bot.words import Code, Refused

log = logging.getLogger("bot.worker")
log_to_console()

#: Bytes over the limit that are still taken in: many clients send a whole body before they look
#: for an answer, and would find the connection closed where the refusal should stand.
DRAINED = 8 * 1024 * 1024


class Default(WorkerEntrypoint):
    """``fetch`` and ``scheduled``."""

    async def fetch(self, request: Any) -> Any:
        """Answer one request; what breaks is logged and answers 500 without a trace."""
        try:
            answer = await self._answer(request)
        except Exception:
            log.exception("a request broke", extra={"action": "http_error"})
            answer = problem(Refused(Code.INTERNAL, "Something broke; the log has the details."))
        return Response(answer.body or None, status=answer.status, headers=dict(answer.headers))

    async def scheduled(self, controller: Any, env: Any = None, ctx: Any = None) -> None:
        """Run what a cron event stands for. The platform passes None for the last two."""
        house = app.house_of(self.env, self.ctx)
        await app.scheduled(house, controller.cron, int(controller.scheduledTime))

    async def _answer(self, request: Any) -> values.Response:
        headers = [(name.lower(), value) for name, value in request.headers.items()]
        plain = values.read_request(
            str(request.js_object.method), request.url, headers, await _body_of(request)
        )
        if isinstance(plain, Refused):
            return problem(plain)
        return await app.fetch(app.house_of(self.env, self.ctx), plain)


async def _body_of(request: Any) -> bytes:
    """A request's body, cut one byte or more past the limit: enough to refuse it by (413)."""
    return await read_at_most(request.js_object.body, MAX_BODY + 1, DRAINED)
