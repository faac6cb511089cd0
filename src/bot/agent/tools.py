"""What an agent may use: a tool's shape, its call and its answer. Values; no tool is here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.authz.grants import Grant, covers
from bot.ports import House
from bot.runs.ledger import Run

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool by a run's agent.

    ``key`` is unique to this call of this run and the same when the step runs again: a tool
    that writes outside uses it as its marker and looks for it before it writes.
    """

    house: House
    run: Run
    args: Args
    key: str
    now_ms: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers the model. ``untrusted``: the text comes from outside and is data.

    ``receipt``: the text is what a person is told of what was done, word for word, whatever the
    model makes of it.
    """

    text: str
    ok: bool = True
    untrusted: bool = False
    receipt: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: how the model sees it, what it needs, whether it changes the outside.

    ``needs`` gives the grant that a call with those arguments needs, or None; it is asked when
    tools are offered (with no arguments: any resource will do) and again at each call.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[ToolCall], Awaitable[ToolResult]] = field(repr=False)
    needs: Callable[[Args], Grant | None] = field(default=lambda args: None, repr=False)
    writes: bool = False


def allowed(tool: Tool, args: Args, held: Sequence[Grant]) -> bool:
    """Whether the grants ``held`` cover a call of ``tool`` with these arguments."""
    grant = tool.needs(args)
    return grant is None or covers(held, grant)
