"""The ``memory`` commands: what the bot remembers for the caller."""

from __future__ import annotations

from bot.commands.grammar import Syntax, word
from bot.commands.own import not_a_person
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Code, Effect, Refused

LISTED = 100


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = not_a_person(call.actor)
    if refusal is not None:
        return refused(refusal)
    found = await house.db.run(
        "SELECT id, text, created_at FROM memories WHERE owner = ?"
        " ORDER BY created_at DESC, id LIMIT ?",
        call.actor.id,
        LISTED,
    )
    memories = [{**row, "created_at": iso(row["created_at"])} for row in found.rows]
    text = "\n".join(f"{row['id']} · {row['created_at']} · {row['text']}" for row in memories)
    return ok(text or "I remember nothing for you.", {"memories": memories})


async def _forget(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = not_a_person(call.actor)
    if refusal is not None:
        return refused(refusal)
    gone = await house.db.run(
        "DELETE FROM memories WHERE id = ? AND owner = ?", args["id"], call.actor.id
    )
    if gone.changes != 1:
        detail = f"You have no memory {args['id'][:80]!r}. See memory list."
        return refused(Refused(Code.NOT_FOUND, detail))
    return ok(f"The memory {args['id']} is forgotten.", {"id": args["id"], "removed": True})


COMMANDS = (
    Command("memory list", "What I remember for you.", Effect.READ, Syntax(), _list),
    Command(
        "memory forget",
        "Forget one of your memories.",
        Effect.WRITE,
        Syntax(args=(word("id"),)),
        _forget,
    ),
)
