"""The ``skill`` commands: the caller's own OpenAPI skills."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bot.agent.openapi import Skill, stored
from bot.agent.openapi_call import fetch_skill
from bot.commands import own
from bot.commands.grammar import Syntax, flag, word
from bot.commands.registry import Args, Command, Invocation, Outcome, failed, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Code, Effect, Refused

_TABLE, _KIND = "skills", "skill"


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    name, url, writes = args["name"], args["url"], bool(args["writes"])
    refusal = own.bad_address(house, call.actor, name, url)
    if refusal is not None:
        return refused(refusal)
    skill = await fetch_skill(house, url, writes=writes)
    if isinstance(skill, Refused):
        return failed(skill) if skill.code is Code.NO_ANSWER else refused(skill)
    kept = {"title": skill.title, "hash": skill.hash, "operations": stored(skill.operations)}
    refusal = await own.add_address(
        house,
        call,
        table=_TABLE,
        kind=_KIND,
        name=name,
        url=url,
        extra={"writes": int(writes), **kept},
    )
    if refusal is not None:
        return refused(refusal)
    return ok(
        _added(name, skill, writes=writes),
        {
            "name": name,
            "url": url,
            "writes": writes,
            "title": skill.title,
            "hash": skill.hash,
            "operations": [f"{each.method} {each.path}" for each in skill.operations],
            "left_out": list(skill.left_out),
            "created_at": iso(call.now_ms),
        },
    )


def _added(name: str, skill: Skill, *, writes: bool) -> str:
    """What was added: how much of it, and every host that it will be called at."""
    number = len(skill.operations)
    what = f"{number} operation{'' if number == 1 else 's'}"
    may = "call" if writes else "read with"
    hosts = ", ".join(sorted({urlsplit(each.base).netloc for each in skill.operations}))
    text = f"Your turns and jobs may {may} {what} of the skill {name}, at {hosts}."
    if not skill.left_out:
        return text
    first = "\n".join(f"- {each}" for each in skill.left_out[:5])
    more = len(skill.left_out) - 5
    rest = f"\n- and {more} more" if more > 0 else ""
    return f"{text} Left out:\n{first}{rest}"


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    columns = (
        "name, url, writes, title, hash, json_array_length(operations) AS operations, created_at"
    )
    rows = await own.listed(house, call.actor, _TABLE, columns)
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
    may = "reads and writes" if row["writes"] else "reads"
    return f"{row['name']} · {row['url']} · {row['operations']} operations · {may}"


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
