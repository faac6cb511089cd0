"""RunFlow: the Workflow that carries one admitted run. Thin over ``bot.dispatch.turn``."""

from __future__ import annotations

from typing import Any

from workers import WorkflowEntrypoint  # type: ignore[import-not-found]

from bot.app import house_of
from bot.cloudflare.steps import WorkflowSteps
from bot.dispatch.turn import run_turn


class RunFlow(WorkflowEntrypoint):
    """One Workflow instance per run; the instance's id is the run's id."""

    async def run(self, event: Any, step: Any) -> None:
        """Carry the run named by the event's payload to its end."""
        house = house_of(self.env, self.ctx)
        await run_turn(house, event["payload"]["run_id"], WorkflowSteps(step))
