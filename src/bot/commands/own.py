"""What people keep for themselves: the rules that memories, MCP servers and skills share.

Everything is keyed by its owner's actor id, in the statement itself, so that another's thing is
not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.authz.actor import Actor
from bot.commands.registry import Invocation
from bot.net import bad_url
from bot.ports import House
from bot.words import Code, Refused

MAX_OF_A_KIND = 20
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)


def not_a_person(actor: Actor) -> Refused | None:
    """Whether the actor can keep things; None is yes."""
    if actor.is_person:
        return None
    return Refused(Code.NOT_A_PERSON, f"{actor} is not a person, and only people keep things.")


def bad_name(name: str) -> Refused | None:
    """Whether a person's thing may bear that name; None is yes."""
    if _NAME.fullmatch(name):
        return None
    return Refused(
        Code.BAD_NAME,
        f"{name[:80]!r} is refused. Use 1 to 63 lower-case letters, digits and hyphens, starting "
        "with a letter or a digit.",
    )


def bad_address(house: House, actor: Actor, name: str, url: str) -> Refused | None:
    """Whether the actor may keep that address under that name; None is yes."""
    return (
        not_a_person(actor)
        or bad_name(name)
        or bad_url(url, private_ok=house.settings.allow_private_addresses)
    )


async def add_address(
    house: House,
    call: Invocation,
    *,
    table: str,
    kind: str,
    name: str,
    url: str,
    extra: Mapping[str, int | str] | None = None,
) -> Refused | None:
    """Keep a named address for the caller; None where it is kept.

    ``table`` and the columns of ``extra`` are the caller's own words, never a person's;
    ``kind`` names the thing to people. The limit is asked in the insert itself. A step that
    runs again after a crash finds what it made and is content.
    """
    refusal = bad_address(house, call.actor, name, url)
    if refusal is not None:
        return refusal
    row = {
        "owner": call.actor.id,
        "name": name,
        "url": url,
        "created_at": call.now_ms,
        **(extra or {}),
    }
    added = await house.db.run(
        f"INSERT INTO {table} ({', '.join(row)}) SELECT {', '.join('?' * len(row))}"
        f" WHERE (SELECT count(*) FROM {table} WHERE owner = ?) < ? ON CONFLICT DO NOTHING",
        *row.values(),
        call.actor.id,
        MAX_OF_A_KIND,
    )
    if added.changes == 1:
        return None
    found = await house.db.run(
        f"SELECT * FROM {table} WHERE owner = ? AND name = ?", call.actor.id, name
    )
    if not found.rows:
        return Refused(
            Code.TOO_MANY, f"You have {MAX_OF_A_KIND} {kind}s, as many as there may be. Remove one."
        )
    if {column: found.rows[0][column] for column in row} == row:
        return None
    return Refused(
        Code.CONFLICT, f"You have a {kind} named {name} already. Remove it first to change it."
    )


async def listed(
    house: House, actor: Actor, table: str, columns: str
) -> list[dict[str, Any]] | Refused:
    """Those ``columns`` of the actor's rows of ``table``, by name."""
    refusal = not_a_person(actor)
    if refusal is not None:
        return refusal
    found = await house.db.run(
        f"SELECT {columns} FROM {table} WHERE owner = ? ORDER BY name", actor.id
    )
    return [dict(row) for row in found.rows]


async def remove_named(
    house: House, actor: Actor, *, table: str, kind: str, name: str
) -> Refused | None:
    """Delete the actor's row of that name; None where it is deleted."""
    refusal = not_a_person(actor)
    if refusal is not None:
        return refusal
    gone = await house.db.run(f"DELETE FROM {table} WHERE owner = ? AND name = ?", actor.id, name)
    if gone.changes == 1:
        return None
    return Refused(Code.NOT_FOUND, f"You have no {kind} named {name[:80]!r}.")
