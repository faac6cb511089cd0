"""The model behind the binding ``AI`` (Workers AI), where no endpoint is configured.

Its models answer in two forms: the chat-completions one, and an older one whose text is
``response`` and whose calls carry their arguments as an object. Both are read.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

from bot.agent.exchange import (
    DEFAULT_WAIT_S,
    Asked,
    Later,
    Reply,
    Unusable,
    calls_of,
    counted,
    read_reply,
)
from bot.ports import Fault, Inference, Json

log = logging.getLogger("bot.model")
DEFAULT_MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
MAX_TOKENS = 2_048
"""Its own default of 256 cuts a tool call in the middle."""


@dataclass(frozen=True, slots=True)
class WorkersAi:
    """One model of the platform's."""

    binding: Inference
    model: str

    async def complete(self, asked: Asked, *, timeout_s: float) -> Reply | Later | Unusable:
        """One call. The binding's errors carry no status, so each may be tried again."""
        try:
            answer = await self.binding.run(self.model, inputs_of(asked), timeout_s=timeout_s)
        except Fault as fault:
            log.warning("no answer: %s", fault, extra={"action": "model_silent"})
            return Later(DEFAULT_WAIT_S, "Workers AI did not answer")
        return read_answer(answer, asked) or Unusable("its answer could not be read")


def inputs_of(asked: Asked) -> Json:
    """What the binding takes for a question."""
    inputs: dict[str, Any] = {"messages": list(asked.messages), "max_tokens": MAX_TOKENS}
    if asked.functions:
        inputs["tools"] = list(asked.functions)
        if asked.must_call:
            inputs["tool_choice"] = "required"
    return inputs


def read_answer(answer: Json, asked: Asked) -> Reply | None:
    """The reply that the binding's answer holds; None where it holds none."""
    if not isinstance(answer, dict):
        return None
    body: dict[str, Any] = answer  # type: ignore[reportUnknownVariableType]
    if "choices" in body:
        return read_reply(json.dumps(body), asked.messages)
    said, calls = body.get("response"), calls_of(body.get("tool_calls"))
    if said is None and not calls:
        return None
    text = said if isinstance(said, str) else json.dumps(said or "")
    return counted(text if said else "", calls, body.get("usage"), asked.messages)
