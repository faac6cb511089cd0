"""Turns: from admission to the first model call, what a step costs, and the memory it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise
from statistics import median
from typing import Any

from bench.lab import Lab, lab, spread
from bench.table import Row
from tests.support.model_server import Answer, ModelServer, calls, says

WARM_UP, TURNS = 3, 15
ASK = "agent:run research in acme/api: what is there?"
PROSE = "remind me of what I know"
CALLS = 10
"""Calls of the model, each but the last with one of a tool: a turn of 20 steps with its router."""


def measure() -> list[Row]:
    with ModelServer() as model, lab(vars=model.vars) as bot:
        written = [_to_first_call(bot, model, ASK) for _ in range(WARM_UP + TURNS)][WARM_UP:]
        prose = [_to_first_call(bot, model, PROSE) for _ in range(WARM_UP + TURNS)][WARM_UP:]
        turns = [_long_turn(bot, model) for _ in range(WARM_UP)]
        heap = bot.heap_mb()
    steps = [gap for turn in turns[1:] for gap in turn]
    return [
        Row(
            "admission to the first model call, an agent's",
            median(written),
            "ms",
            bar=150,
            note=f"warm, median of {TURNS}, {spread(written)} ms",
        ),
        Row(
            "admission to the first model call, the router's",
            median(prose),
            "ms",
            bar=150,
            note=f"warm, median of {TURNS}, {spread(prose)} ms",
        ),
        Row(
            "a step, beyond the model's own time",
            median(steps),
            "ms",
            bar=40,
            note=f"of a turn of {2 * CALLS} steps, {spread(steps)} ms",
        ),
        Row(f"Python's memory after turns of {2 * CALLS} steps", heap, "MB", bar=64),
    ]


def _to_first_call(bot: Lab, model: ModelServer, text: str) -> float:
    """Milliseconds from the message, whose request admits it, to the model's first request."""
    model.reset()
    model.otherwise = lambda body: says("done")
    headers = bot.session
    sent = time.time()
    said = {"channel": "web:general", "text": text}
    run_id = bot.server.post("/api/chat", said, headers=headers).json()["run_id"]
    bot.ended(run_id)
    return (model.times[0] - sent) * 1000


def _long_turn(bot: Lab, model: ModelServer) -> list[float]:
    """What passes between two requests of the model, for each of the two steps in between."""
    model.reset()
    model.otherwise = _recalling
    run = bot.chat(PROSE)
    assert len(run["steps"]) == 2 * CALLS, run
    agents = model.times[1:]
    return [1000 * (later - earlier) / 2 for earlier, later in pairwise(agents)]


def _recalling(body: Mapping[str, Any]) -> Answer:
    if body["tool_choice"] == "required":
        return calls(("agent", {"role": "personal"}))
    asked = sum(message["role"] == "assistant" for message in body["messages"])
    return calls(("recall", {})) if asked < CALLS - 1 else says("nothing yet")
