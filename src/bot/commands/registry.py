"""The registry: what a command is, and the one door by which every surface runs one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.agent.ask import AgentAsk
from bot.authz.actor import Actor
from bot.authz.grants import Grant
from bot.authz.policy import COMMANDS, authorize
from bot.commands.grammar import Malformed, Parsed, Prose, Syntax, parse
from bot.ports import House
from bot.words import Code, Effect, OutcomeKind, Refused, Route

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Invocation:
    """Who runs a command, with which authority, and when.

    ``id`` names this one call: what the command makes derives its ids from it, so that a step
    that runs again after a crash makes the same thing and not a second one. ``thread`` is where
    it was said, if anywhere. ``now_ms`` is epoch milliseconds.
    """

    actor: Actor
    grants: tuple[Grant, ...]
    id: str
    now_ms: int
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: a kind, a code unless it is ok, words for people, data for programs.

    ``then`` is the agent turn that the command stands for. A command cannot hold one, since each
    of its calls is a durable step: a turn goes on with it, another caller starts a run of it.
    ``secret``: the text holds a code that is good to whoever reads it, so the ledger, which
    others read, does not keep it.
    """

    kind: OutcomeKind
    text: str
    code: Code | None = None
    data: Any = None
    then: AgentAsk | None = None
    secret: bool = False


def ok(text: str, data: Any = None, *, secret: bool = False) -> Outcome:
    """A command that did what it says."""
    return Outcome(OutcomeKind.OK, text, None, data, secret=secret)


def refused(refusal: Refused, data: Any = None) -> Outcome:
    """A command that was refused and changed nothing."""
    return Outcome(OutcomeKind.REFUSED, refusal.detail, refusal.code, data)


def failed(refusal: Refused) -> Outcome:
    """A command that was allowed and did not succeed."""
    return Outcome(OutcomeKind.FAILED, refusal.detail, refusal.code)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of contract §5: its name, grammar, effect and what runs it.

    ``routed_effect``: what it counts as where a router picked it and nobody wrote it out, if that
    is more than its effect.
    """

    name: str
    summary: str
    effect: Effect
    syntax: Syntax
    run: Callable[[House, Invocation, Args], Awaitable[Outcome]] = field(repr=False)
    routed_effect: Effect | None = None

    def effect_by(self, route: Route) -> Effect:
        """What it does to the world, by how it was found."""
        if route is Route.EXPLICIT or self.routed_effect is None:
            return self.effect
        return self.routed_effect

    @property
    def usage(self) -> str:
        """How it is written."""
        return self.syntax.usage(self.name)


class Registry:
    """Every command by name."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = {command.name: command for command in commands}

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def get(self, name: str) -> Command | None:
        """The command of that name."""
        return self._commands.get(name)

    def parse(self, text: str, *, strict: bool = False) -> Parsed | Malformed | Prose:
        """Read a text as one of these commands; see ``grammar.parse``."""
        return parse(text, self, strict=strict)

    async def invoke(self, house: House, call: Invocation, name: str, args: Args) -> Outcome:
        """Run a command under the caller's grants.

        The policy table is asked first; a command that it does not name is refused
        ``forbidden``, whoever asks.
        """
        command = self._commands[name]
        refusal = authorize(
            COMMANDS.get(name),
            args,
            call.grants,
            who=call.actor.id,
            givers=house.settings.admins,
        )
        if refusal is not None:
            return refused(refusal)
        return await command.run(house, call, args)
