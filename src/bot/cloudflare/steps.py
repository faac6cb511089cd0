"""Durable steps over the SDK's ``step.do``: values cross as one JSON string."""

from __future__ import annotations

import json
from typing import Any

from bot.ports import Json, StepWork

TIMEOUT_MS = 60_000
"""No step takes longer, so that a run without a step for two minutes has stalled."""


class WorkflowSteps:
    """``bot.ports.Steps`` for one Workflow instance."""

    def __init__(self, step: Any) -> None:
        self._step = step

    async def do(self, name: str, work: StepWork, *, retries: int = 0) -> Json:
        """Run a step once; a step that writes outside is called with no retries."""
        config = {
            "retries": {"limit": retries, "delay": 1_000, "backoff": "constant"},
            "timeout": TIMEOUT_MS,
        }

        @self._step.do(name=name, config=config)
        async def step() -> str:
            return json.dumps(await work())

        return json.loads(await step())

    async def sleep(self, name: str, ms: int) -> None:
        """A durable wait. The local engine cuts it short where a run is resumed in it."""
        await self._step.sleep(name, ms)
