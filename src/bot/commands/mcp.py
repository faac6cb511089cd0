"""The ``mcp`` commands: the caller's own MCP servers."""

from __future__ import annotations

from bot.commands import own
from bot.commands.grammar import Syntax, word
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Effect, Refused

_TABLE, _KIND = "mcp_servers", "MCP server"


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    name, url = args["name"], args["url"]
    refusal = await own.add_address(house, call, table=_TABLE, kind=_KIND, name=name, url=url)
    if refusal is not None:
        return refused(refusal)
    return ok(
        f"Your turns and jobs may use the MCP server {name} at {url}.",
        {"name": name, "url": url, "created_at": iso(call.now_ms)},
    )


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    rows = await own.listed(house, call.actor, _TABLE)
    if isinstance(rows, Refused):
        return refused(rows)
    text = "\n".join(f"{row['name']} · {row['url']}" for row in rows)
    servers = [{**row, "created_at": iso(row["created_at"])} for row in rows]
    return ok(text or "You have no MCP servers. Add one: mcp add NAME URL.", {"servers": servers})


async def _remove(house: House, call: Invocation, args: Args) -> Outcome:
    name = args["name"]
    refusal = await own.remove_named(house, call.actor, table=_TABLE, kind=_KIND, name=name)
    if refusal is not None:
        return refused(refusal)
    return ok(f"Your MCP server {name} is removed.", {"name": name, "removed": True})


COMMANDS = (
    Command(
        "mcp add",
        "Let your turns and jobs use an MCP server.",
        Effect.WRITE,
        Syntax(args=(word("name"), word("url"))),
        _add,
    ),
    Command("mcp list", "Your MCP servers.", Effect.READ, Syntax(), _list),
    Command(
        "mcp remove",
        "Remove one of your MCP servers.",
        Effect.WRITE,
        Syntax(args=(word("name"),)),
        _remove,
    ),
)
