"""What a run came to: a value that crosses the durable steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.ports import Json
from bot.words import Code, State

NOT_KEPT = "The answer holds a code: it was told in the thread and is not kept here."


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended. ``text`` is what is posted and kept as the run's output.

    ``route`` and ``effect`` are the ledger's words, None where the turn never got so far.
    ``secret``: the text is told in its thread and kept nowhere else.
    """

    state: State
    text: str
    code: str | None = None
    route: str | None = None
    effect: str | None = None
    secret: bool = False

    @property
    def output(self) -> str:
        """What the ledger keeps of the text."""
        return NOT_KEPT if self.secret else self.text

    def to_json(self) -> dict[str, Any]:
        """As a step's result."""
        return {
            "state": self.state,
            "text": self.text,
            "code": self.code,
            "route": self.route,
            "effect": self.effect,
            "secret": self.secret,
        }


def ending_of_json(value: Json) -> Ending:
    """An ending that a step kept."""
    values: dict[str, Any] = dict(value)
    values["state"] = State(values["state"])
    return Ending(**values)


def failed(code: Code, text: str) -> Ending:
    """A turn that was begun and did not succeed."""
    return Ending(State.FAILED, text, code)


def refused(code: Code, text: str) -> Ending:
    """A turn that was not begun."""
    return Ending(State.REFUSED, text, code)
