"""The ``help`` command: every command, how it is written, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.authz.policy import COMMANDS as POLICY
from bot.commands.grammar import Arg, Kind, Syntax
from bot.commands.nearest import family_of
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.words import Code, Effect, Refused

_EFFECTS = {Effect.READ: "It reads.", Effect.EXEC: "It runs something.", Effect.WRITE: "It writes."}


async def _help(house: House, call: Invocation, args: Args) -> Outcome:
    asked = args["command"]
    commands = list(house.commands)
    if asked is None:
        return ok(_families(commands), {"commands": [_view(command) for command in commands]})
    wanted = " ".join(asked.lower().split())
    found = [c for c in commands if c.name == wanted]
    found = found or [c for c in commands if family_of(c.name) == wanted]
    if not found:
        detail = f"There is no command {asked[:60]!r}. See help."
        return refused(Refused(Code.BAD_COMMAND, detail))
    text = "\n\n".join(_told(command) for command in found)
    return ok(text, {"commands": [_view(command) for command in found]})


def _families(commands: Iterable[Command]) -> str:
    """Every usage, a family a paragraph, in the registry's order; the odd ones at the end."""
    families: dict[str, list[Command]] = {}
    for command in commands:
        families.setdefault(family_of(command.name), []).append(command)
    odd = [one for members in families.values() if len(members) == 1 for one in members]
    groups = [members for members in families.values() if len(members) > 1]
    groups += [odd] if odd else []
    return "\n\n".join("\n".join(command.usage for command in group) for group in groups)


def _told(command: Command) -> str:
    needs = _needs(command)
    allowed = f"It needs the grant {needs}." if needs else "It needs no grant."
    return f"{command.usage}\n{command.summary}\n{_EFFECTS[command.effect]} {allowed}"


def _needs(command: Command) -> str | None:
    """The action that the policy table asks for, with the arguments it is filled from named."""
    need = POLICY.get(command.name)
    if need is None or need.action is None:
        return None
    action = need.action.format(**{arg.name: arg.shown for arg in command.syntax.all_args})
    return f"{action} on {need.on.upper()}" if need.on else action


def _view(command: Command) -> dict[str, Any]:
    return {
        "name": command.name,
        "usage": command.usage,
        "summary": command.summary,
        "effect": command.effect,
        "needs": _needs(command),
    }


COMMANDS = (
    Command(
        "help",
        "Every command, or one in full.",
        Effect.READ,
        Syntax(args=(Arg("command", "COMMAND", Kind.COMMAND, optional=True),)),
        _help,
    ),
)
