"""What a turn has to do next: plain values that cross the durable steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.agent.ask import AgentAsk
from bot.ports import Json
from bot.runs.ending import Ending, ending_of_json


@dataclass(frozen=True, slots=True)
class End:
    """Nothing more: this is how it ended."""

    ending: Ending


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing at all: the run was ended from outside, and was told so there."""


@dataclass(frozen=True, slots=True)
class OpenLater:
    """Nothing yet: the channel asks to open the thread in that many seconds.

    ``otherwise`` is how it ends for a turn that does not wait.
    """

    wait_s: int
    otherwise: Ending


@dataclass(frozen=True, slots=True)
class AskRouter:
    """Have the model say what a prose text asks for.

    ``has_own``: whoever said it is a person, who can have reminders and memories.
    """

    text: str
    has_own: bool


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a command, if the rule and the grants allow it."""

    name: str
    args: Mapping[str, Any]
    route: str


@dataclass(frozen=True, slots=True)
class RunAgent:
    """Run an agent turn. ``receipt`` is the first line of what it answers, empty for none."""

    ask: AgentAsk
    route: str
    receipt: str = ""


Todo = End | Gone | OpenLater | AskRouter | RunCommand | RunAgent


def dump(todo: Todo) -> Json:
    """As a step's result."""
    match todo:
        case End(ending):
            return ["end", ending.to_json()]
        case Gone():
            return ["gone"]
        case OpenLater(wait_s, ending):
            return ["later", wait_s, ending.to_json()]
        case AskRouter(text, has_own):
            return ["router", text, has_own]
        case RunCommand(name, args, route):
            return ["command", name, dict(args), route]
        case RunAgent(ask, route, receipt):
            return ["agent", ask.to_json(), route, receipt]


def load(value: Json) -> Todo:
    """What a step kept."""
    what, *rest = value
    match what:
        case "end":
            return End(ending_of_json(rest[0]))
        case "gone":
            return Gone()
        case "later":
            return OpenLater(rest[0], ending_of_json(rest[1]))
        case "router":
            return AskRouter(*rest)
        case "command":
            return RunCommand(*rest)
        case _:
            ask, route, receipt = rest
            return RunAgent(AgentAsk(*ask), route, receipt)
