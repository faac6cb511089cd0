"""What a person's own turns and jobs may use, resolved when they run (contract §7).

Memory, ``use_telegram``, the ``schedule`` tool, and the tools of the owner's skills and MCP
servers. The owner is the run's actor, who comes from whoever authenticated them: nothing that a
text or an argument says chooses whose things these are.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from bot.agent import mcp, memories, openapi_call, telegram_tool
from bot.agent.mcp import Session
from bot.agent.mcp_wire import Trouble
from bot.agent.openapi import OPERATIONS
from bot.agent.seal import open_secret
from bot.agent.tools import Args, Tool
from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import Grant
from bot.jobs import tool as schedule
from bot.ports import House, Statement
from bot.runs.ledger import Run
from bot.words import Refused

NEED = Grant("job:write")
"""What each of these tools needs, as the commands that register them do: every person has it."""
MAX_TOOLS = 64
"""Tools of skills and servers that one turn is offered."""
MAX_CHARACTERS = 60_000
"""What their descriptions and schemas may take of the model's context."""
LISTING_MS = 10_000
"""How long the servers of one owner are asked for their tools, all together."""

log = logging.getLogger("bot.personal")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The tools of a turn, and a sentence for each skill or server whose tools are missing.

    The sentences hold nothing that a server said: they may stand in a prompt.
    """

    tools: tuple[Tool, ...] = ()
    missing: tuple[str, ...] = ()


async def tools_for_owner(house: House, run: Run) -> Sequence[Tool]:
    """The tools that the run's actor owns; none unless it is a person."""
    return (await capabilities_of_owner(house, run)).tools


async def capabilities_of_owner(house: House, run: Run) -> Capabilities:
    """As ``tools_for_owner``, with what is missing, for the turn to say.

    A server that is down costs its own tools and at most its share of ``LISTING_MS``.
    """
    actor = parse_actor(run.actor)
    if not isinstance(actor, Actor) or not actor.is_person:
        return Capabilities()
    own = [_needing(tool) for tool in (*memories.TOOLS, telegram_tool.TOOL)]
    outside = _Outside({tool.name for tool in (*own, *schedule.TOOLS)})
    skills, servers = await house.db.batch(
        [
            Statement("SELECT * FROM skills WHERE owner = ? ORDER BY name", (actor.id,)),
            Statement("SELECT * FROM mcp_servers WHERE owner = ? ORDER BY name", (actor.id,)),
        ]
    )
    for row in skills.rows:
        _add_skill(outside, row)
    until_ms = house.clock.now_ms() + LISTING_MS
    for row in servers.rows:
        await _add_server(house, outside, row, until_ms)
    return Capabilities((*own, *schedule.TOOLS, *outside.tools), tuple(outside.missing))


class _Outside:
    """Tools from outside, within the bounds of one turn."""

    def __init__(self, taken: set[str]) -> None:
        self.names = set(taken)
        self.tools: list[Tool] = []
        self.missing: list[str] = []
        self._characters = 0

    def add(self, what: str, tools: Sequence[Tool]) -> None:
        """Take what fits; what does not is missing, and said so."""
        left_out = 0
        for tool in tools:
            size = len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters))
            fits = len(self.tools) < MAX_TOOLS and self._characters + size <= MAX_CHARACTERS
            if not fits:
                left_out += 1
                continue
            self._characters += size
            self.names.add(tool.name)
            self.tools.append(_needing(tool))
        if left_out:
            self.lack(what, f"{left_out} do not fit beside the others")

    def lack(self, what: str, why: str) -> None:
        """Note what is missing and why."""
        self.missing.append(f"Tools of {what} are missing in this turn: {why}.")
        log.warning("%s: %s", what, why, extra={"action": "capability_missing"})


def _add_skill(outside: _Outside, row: Mapping[str, Any]) -> None:
    what = f"the skill {row['name']}"
    try:
        operations = OPERATIONS.validate_json(row["operations"])
    except ValidationError:
        operations = ()
    if not operations:
        outside.lack(what, "what was kept of it cannot be read; remove it and add it again")
        return
    tools = openapi_call.tools_of(
        row["name"], operations, writes=bool(row["writes"]), taken=outside.names
    )
    outside.add(what, tools)


async def _add_server(
    house: House, outside: _Outside, row: Mapping[str, Any], until_ms: int
) -> None:
    what = f"the MCP server {row['name']}"
    if house.clock.now_ms() >= until_ms:
        outside.lack(what, "the servers before it took too long")
        return
    secret = await open_secret(house, row)
    if isinstance(secret, Refused):
        outside.lack(what, secret.detail.rstrip("."))
        return
    session = Session(
        house.http, row["url"], secret, private_ok=house.settings.allow_private_addresses
    )
    listed = await session.list_tools()
    if isinstance(listed, Trouble):
        outside.lack(what, listed.why)
        return
    outside.add(what, mcp.tools_of(row["name"], session, listed, outside.names))


def _needing(tool: Tool) -> Tool:
    return replace(tool, needs=_need)


def _need(args: Args) -> Grant:
    return NEED
