"""Calling a person's tools in a house of one's own."""

from __future__ import annotations

from typing import Any

from bot.agent.personal import Capabilities, capabilities_of_owner
from bot.agent.tools import Tool, ToolCall, ToolResult
from bot.authz.grants import FLOORS
from bot.ports import House
from bot.runs.ledger import Run
from bot.words import Source, State
from tests.support.drive import run as drive


def run_of(actor: str = "web:alice", run_id: str = "run1") -> Run:
    """A live run of that actor, under its floor."""
    nothing: dict[str, Any] = dict.fromkeys(Run.__slots__)
    return Run(
        **{
            **nothing,
            "id": run_id,
            "actor": actor,
            "grants": FLOORS[True],
            "source": Source.JOB,
            "text": "say hello",
            "state": State.RUNNING,
            "coalesced": 0,
            "admitted_at": 0,
            "touched_at": 0,
            "resumed": 0,
        }
    )


class Owner:
    """An actor whose turn uses its tools. Each call has a key of its own unless one is given."""

    def __init__(self, house: House, actor: str = "web:alice") -> None:
        self.house = house
        self.actor = actor
        self.calls = 0

    def capabilities(self) -> Capabilities:
        return drive(capabilities_of_owner(self.house, run_of(self.actor)))

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.capabilities().tools}

    def call(self, tool: Tool | str, *, key: str | None = None, **args: Any) -> ToolResult:
        """Call a tool, by itself or by its name."""
        self.calls += 1
        used = self.tools()[tool] if isinstance(tool, str) else tool
        now_ms = self.house.clock.now_ms()
        call = ToolCall(self.house, run_of(self.actor), args, key or f"call{self.calls}", now_ms)
        return drive(used.call(call))

    def ok(self, tool: Tool | str, **args: Any) -> str:
        result = self.call(tool, **args)
        assert result.ok, result
        return result.text

    def no(self, tool: Tool | str, **args: Any) -> str:
        result = self.call(tool, **args)
        assert not result.ok, result
        return result.text
