"""``/api/mcp-secret``: a person's secret for one of their MCP servers, outside any chat.

The code from ``mcp add`` is the credential: it names the owner and the server, works once and
for ten minutes.
"""

from __future__ import annotations

from bot.agent.seal import SECRET_PATH, take_secret
from bot.http.body import StrictBody
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.words import Refused


class Secret(StrictBody):
    """The body of ``POST /api/mcp-secret``."""

    code: str
    secret: str


async def hand_in(visit: Visit, body: Secret) -> Response | Refused:
    """Seal the secret for the server that the code was made for."""
    taken = await take_secret(visit.house, body.code, body.secret, visit.now_ms)
    if isinstance(taken, Refused):
        return taken
    return json_response({"name": taken.name, "sealed": True})


ROUTES = (Route("POST", SECRET_PATH, hand_in, Secret),)
