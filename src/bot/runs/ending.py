"""What a run came to: a value that crosses the durable steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.ports import Json
from bot.words import Code, State


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended. ``text`` is what is posted and kept as the run's output.

    ``route`` and ``effect`` are the ledger's words, None where the turn never got so far.
    """

    state: State
    text: str
    code: str | None = None
    route: str | None = None
    effect: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As a step's result."""
        return {
            "state": self.state,
            "text": self.text,
            "code": self.code,
            "route": self.route,
            "effect": self.effect,
        }


def ending_of_json(value: Json) -> Ending:
    """An ending that a step kept."""
    return Ending(**{**value, "state": State(value["state"])})


def failed(code: Code, text: str) -> Ending:
    """A turn that was begun and did not succeed."""
    return Ending(State.FAILED, text, code)


def refused(code: Code, text: str) -> Ending:
    """A turn that was not begun."""
    return Ending(State.REFUSED, text, code)
