"""The ``mcp`` commands: the caller's own MCP servers."""

from __future__ import annotations

from bot.agent.seal import LIFETIME_MS, SECRET_PATH, offer_code
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
    text = f"Your turns and jobs may use the MCP server {name} at {url}."
    data = {"name": name, "url": url, "created_at": iso(call.now_ms)}
    if not house.settings.seal_key:
        return ok(f"{text} This bot keeps no secrets, so it is called without one.", data)
    code = await offer_code(house, call.actor.id, name, call.now_ms)
    secret = {"code": code, "expires_at": iso(call.now_ms + LIFETIME_MS), "send_to": SECRET_PATH}
    return ok(
        f"{text} If it wants a bearer token, do not say it in a chat: within ten minutes, send "
        f'it to this bot as POST {SECRET_PATH} {{"code": "{code}", "secret": "TOKEN"}}.',
        {**data, "secret": secret},
        secret=True,
    )


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    columns = "name, url, secret IS NOT NULL AS secret, created_at"
    rows = await own.listed(house, call.actor, _TABLE, columns)
    if isinstance(rows, Refused):
        return refused(rows)
    servers = [
        {**row, "secret": bool(row["secret"]), "created_at": iso(row["created_at"])} for row in rows
    ]
    text = "\n".join(
        f"{each['name']} · {each['url']}" + (" · with a secret" if each["secret"] else "")
        for each in servers
    )
    return ok(text or "You have no MCP servers. Add one: mcp add NAME URL.", {"servers": servers})


async def _remove(house: House, call: Invocation, args: Args) -> Outcome:
    name = args["name"]
    refusal = await own.remove_named(house, call.actor, table=_TABLE, kind=_KIND, name=name)
    if refusal is not None:
        return refused(refusal)
    return ok(
        f"Your MCP server {name} is removed, its secret too.", {"name": name, "removed": True}
    )


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
