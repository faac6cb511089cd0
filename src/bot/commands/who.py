"""The ``whoami`` command."""

from __future__ import annotations

from bot.commands.grammar import Syntax
from bot.commands.registry import Args, Command, Invocation, Outcome, ok
from bot.ports import House
from bot.words import Effect


async def _whoami(house: House, call: Invocation, args: Args) -> Outcome:
    grants = [str(grant) for grant in call.grants]
    return ok("\n".join([call.actor.id, *grants]), {"actor": call.actor.id, "grants": grants})


COMMANDS = (
    Command("whoami", "Who you are here, and what you hold.", Effect.READ, Syntax(), _whoami),
)
