"""``/admin/command``: any registry command, as it is typed."""

from __future__ import annotations

from typing import Any

from bot.commands.grammar import Malformed, Parsed
from bot.commands.registry import Outcome, refused
from bot.http import problem
from bot.http.agent_runs import start_agent
from bot.http.body import StrictBody
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.words import Code, Refused


class Typed(StrictBody):
    """The body of ``POST /admin/command``."""

    text: str


async def command(visit: Visit, body: Typed) -> Response | Refused:
    """Run the command that ``text`` spells; nothing is prose here.

    Always 200 with the outcome, since it says itself how it ended; except that ``forbidden``
    is a 403 whose problem holds the outcome's members too.
    """
    parsed = visit.house.commands.parse(body.text, strict=True)
    if isinstance(parsed, Parsed):
        outcome = await visit.invoke(parsed.name, parsed.args)
        if outcome.then is not None:
            outcome = await start_agent(visit, outcome.then)
    elif isinstance(parsed, Malformed):
        outcome = refused(parsed.refusal)
    else:
        outcome = refused(Refused(Code.BAD_COMMAND, "That is not a command. See help."))
    if outcome.code is Code.FORBIDDEN:
        return problem.problem(Refused(Code.FORBIDDEN, outcome.text), told(outcome))
    return json_response(told(outcome))


def told(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON; what it has not is left out."""
    members = {
        "outcome": outcome.kind,
        "code": outcome.code,
        "text": outcome.text,
        "data": outcome.data,
    }
    return {name: value for name, value in members.items() if value is not None}


ROUTES = (Route("POST", "/admin/command", command, Typed),)
