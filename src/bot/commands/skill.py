"""The ``skill`` commands: the caller's own OpenAPI skills."""

from __future__ import annotations

from typing import Any

from bot.commands import own
from bot.commands.grammar import Syntax, flag, word
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Effect, Refused

_TABLE, _KIND = "skills", "skill"


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    name, url, writes = args["name"], args["url"], bool(args["writes"])
    refusal = await own.add_address(
        house,
        call,
        table=_TABLE,
        kind=_KIND,
        name=name,
        url=url,
        extra={"writes": int(writes)},
    )
    if refusal is not None:
        return refused(refusal)
    may = "call all of it, what writes too" if writes else "read with it"
    return ok(
        f"Your turns and jobs may use the skill {name} at {url} and {may}.",
        {"name": name, "url": url, "writes": writes, "created_at": iso(call.now_ms)},
    )


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    rows = await own.listed(house, call.actor, _TABLE)
    if isinstance(rows, Refused):
        return refused(rows)
    text = "\n".join(_line(row) for row in rows)
    skills = [
        {**row, "writes": bool(row["writes"]), "created_at": iso(row["created_at"])} for row in rows
    ]
    return ok(
        text or "You have no skills. Add one: skill add NAME URL [writes].", {"skills": skills}
    )


def _line(row: dict[str, Any]) -> str:
    return f"{row['name']} · {row['url']} · {'reads and writes' if row['writes'] else 'reads'}"


async def _remove(house: House, call: Invocation, args: Args) -> Outcome:
    name = args["name"]
    refusal = await own.remove_named(house, call.actor, table=_TABLE, kind=_KIND, name=name)
    if refusal is not None:
        return refused(refusal)
    return ok(f"Your skill {name} is removed.", {"name": name, "removed": True})


COMMANDS = (
    Command(
        "skill add",
        "Let your turns and jobs use an API by its OpenAPI document; with writes, all of it.",
        Effect.WRITE,
        Syntax(args=(word("name"), word("url")), clauses=(flag("writes"),)),
        _add,
    ),
    Command("skill list", "Your skills.", Effect.READ, Syntax(), _list),
    Command(
        "skill remove",
        "Remove one of your skills.",
        Effect.WRITE,
        Syntax(args=(word("name"),)),
        _remove,
    ),
)
