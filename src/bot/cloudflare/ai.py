"""``bot.ports.Inference`` over the binding ``AI`` (Workers AI)."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.ports import Fault, Json


class WorkersAiBinding:
    """The platform's models. Every error of theirs is a Fault that carries its own words."""

    def __init__(self, binding: Any):
        self._ai = binding

    async def run(self, model: str, inputs: Json, *, timeout_s: float) -> Json:
        """One call of a model. Raises Fault, also when the answer takes ``timeout_s`` seconds."""
        try:
            return await asyncio.wait_for(self._ai.run(model, inputs), timeout_s)
        except Exception as error:
            raise Fault(f"workers ai, {model}: {error}") from error


def inference_of(env: Any) -> WorkersAiBinding | None:
    """The binding, where wrangler.jsonc has it."""
    binding = getattr(env, "AI", None)
    return None if binding is None else WorkersAiBinding(binding)
