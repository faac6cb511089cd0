"""The ``memory`` commands: what the bot remembers for the caller."""

from __future__ import annotations

from bot.agent import memories
from bot.commands.grammar import Syntax, word
from bot.commands.own import not_a_person
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Code, Effect, Refused


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = not_a_person(call.actor)
    if refusal is not None:
        return refused(refusal)
    found = await memories.every(house.db, call.actor.id)
    listed = [{**row, "created_at": iso(row["created_at"])} for row in found]
    text = "\n".join(f"{row['id']} · {row['created_at']} · {row['text']}" for row in listed)
    return ok(text or "I remember nothing for you.", {"memories": listed})


async def _forget(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = not_a_person(call.actor)
    if refusal is not None:
        return refused(refusal)
    if not await memories.forget(house.db, call.actor.id, args["id"]):
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
