"""What an agent turn works with: its prompt, its tools, its ceilings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.agent.limits import Limits
from bot.agent.tools import Tool
from bot.ports import Json
from bot.runs.ending import Ending
from bot.runs.ledger import Run


@dataclass(frozen=True, slots=True)
class Kit:
    """One turn's equipment.

    ``opening`` are the messages that the turn starts with: the system's, and the asker's. ``tools``
    are what is offered, by name; ``known`` names those that there are and that the grants do not
    cover. A ``private`` turn's arguments are a person's own and are not recorded.
    """

    opening: tuple[Json, ...]
    tools: Mapping[str, Tool]
    limits: Limits
    known: frozenset[str] = frozenset()
    private: bool = False


Equip = Callable[[Run], Awaitable[Kit | Ending]]
"""Makes a run's kit, or ends the turn that may not have one."""


class Once:
    """A kit that is made at the first step of a life that needs it, and kept for that life.

    It is made inside a step, so that a store or a server that fails there is tried again; and it
    is never stored, since tools are code.
    """

    def __init__(self, equip: Equip) -> None:
        self._equip = equip
        self._made: Kit | Ending | None = None

    async def __call__(self, run: Run) -> Kit | Ending:
        """The kit of the run."""
        if self._made is None:
            self._made = await self._equip(run)
        return self._made
