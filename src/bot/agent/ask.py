"""What an agent turn is asked: its role, its repository, and the words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.agent.roles import RESEARCH, SHIP
from bot.authz.actor import Actor
from bot.authz.grants import Grant, is_repository
from bot.authz.policy import COMMANDS, Need, authorize
from bot.ports import Json
from bot.words import Code, Refused

PERSONAL = "personal"
RUN_ROLES = (RESEARCH,)
"""The roles that ``agent:run ROLE`` may name. The others have doors of their own."""

_PERSONAL_NEEDS = Need("job:write")
_IN = re.compile(r"\s*in\s+(\S+?):(?=\s)", re.IGNORECASE)
_NAMED = re.compile(r"(?<![\w./@:-])[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AgentAsk:
    """An agent turn to be run. For ``ship``, ``text`` is the plan's path.

    ``repo`` is None for a personal turn, and for no other.
    """

    role: str
    repo: str | None
    text: str

    @property
    def written(self) -> str:
        """How it is said in chat form, without its text."""
        name = "agent:ship" if self.role == SHIP else f"agent:run {self.role}"
        return f"{name} in {self.repo}" if self.repo else name

    @property
    def command(self) -> str:
        """The whole of it in chat form, for the roles that have a command."""
        said = f"plan {self.text}" if self.role == SHIP else self.text
        return f"{self.written}: {said}"

    def to_json(self) -> Json:
        """As a step's result."""
        return [self.role, self.repo, self.text]


def may(ask: AgentAsk, actor: Actor, held: Iterable[Grant]) -> Refused | None:
    """Whether the actor may have this turn run, asked before the agent's first model call.

    The same table as for the commands; a personal turn is a person's own. None is yes.
    """
    if ask.role == PERSONAL:
        if not actor.is_person:
            return Refused(Code.NOT_A_PERSON, f"{actor} is not a person with things of its own.")
        return authorize(_PERSONAL_NEEDS, {}, held, who=actor.id)
    name = "agent:ship" if ask.role == SHIP else "agent:run"
    args = {"role": ask.role, "repo": ask.repo}
    return authorize(COMMANDS.get(name), args, held, who=actor.id)


def repo_of(text: str, picked: object = None) -> str | None:
    """The repository that a text is about, or None.

    ``in OWNER/REPO: ...`` says so; else the one ``picked``, if the text names it; else the only
    one that the text names.
    """
    said = _IN.match(text)
    if said is not None and is_repository(said[1]):
        return said[1]
    if isinstance(picked, str) and is_repository(picked) and picked.lower() in text.lower():
        return picked
    names = (name.rstrip(".") for name in _NAMED.findall(text))
    named = {name.lower(): name for name in names if is_repository(name)}
    return next(iter(named.values())) if len(named) == 1 else None
