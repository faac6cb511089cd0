"""Saying commands to a house of one's own, as one actor or another."""

from collections.abc import Iterable
from typing import Any

from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import FLOORS, Grant, parse_grant
from bot.commands import config, confirm, grant, link, mcp, memory, skill, who
from bot.commands import help as help_family
from bot.commands.grammar import Parsed
from bot.commands.registry import Invocation, Outcome, Registry
from bot.words import Code, OutcomeKind
from tests.support.drive import run
from tests.support.house import TestHouse, make_house

REGISTRY = Registry(
    (
        *memory.COMMANDS,
        *mcp.COMMANDS,
        *skill.COMMANDS,
        *link.COMMANDS,
        *config.COMMANDS,
        *grant.COMMANDS,
        *confirm.COMMANDS,
        *who.COMMANDS,
        *help_family.COMMANDS,
    )
)


def house(**settings: Any) -> TestHouse:
    """A house with the families under test."""
    return make_house(commands=REGISTRY, settings=settings)


def actor(written: str) -> Actor:
    """An actor from its written form."""
    made = parse_actor(written)
    assert isinstance(made, Actor), made
    return made


def grants(*written: str) -> tuple[Grant, ...]:
    """Grants from their written forms."""
    made = [parse_grant(text) for text in written]
    assert all(isinstance(one, Grant) for one in made), made
    return tuple(one for one in made if isinstance(one, Grant))


class Caller:
    """An actor with grants; a person has the floor besides."""

    def __init__(
        self, at: TestHouse, written: str = "web:alice", held: Iterable[str] = ("all",)
    ) -> None:
        self.house = at
        self.actor = actor(written)
        self.grants = (*FLOORS[self.actor.is_person], *grants(*held))

    def say(self, text: str, *, call_id: str | None = None) -> Outcome:
        """Run one command; it must parse."""
        found = self.house.commands.parse(text, strict=True)
        assert isinstance(found, Parsed), found
        call = Invocation(
            self.actor,
            self.grants,
            call_id or self.house.ids.new(),
            self.house.clock.now_ms(),
        )
        return run(self.house.commands.invoke(self.house, call, found.name, found.args))

    def ok(self, text: str) -> Outcome:
        """Run one command, which must end well."""
        outcome = self.say(text)
        assert outcome.kind is OutcomeKind.OK, outcome
        assert outcome.text
        return outcome

    def refused(self, text: str) -> Code:
        """Run one command, which must be refused; its code."""
        outcome = self.say(text)
        assert outcome.kind is OutcomeKind.REFUSED, outcome
        assert outcome.text.endswith(".")
        assert outcome.code is not None
        return outcome.code
