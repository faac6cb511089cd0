"""The agent loop: the model is asked, its calls are carried out, until it has the last word.

Each model call and each tool call is a durable step (``model-3``, ``tool-3-1``), so that after a
kill what was done is answered from its step and nothing is asked or called twice. Between the
steps the run may be cancelled, and before each its ceilings are asked.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

from bot.agent import use
from bot.agent.asking import GONE, ask_model
from bot.agent.exchange import Asked, Call, Reply
from bot.agent.kit import Equip, Once
from bot.agent.limits import Limits, Spent
from bot.agent.model import function
from bot.agent.schema import read_arguments
from bot.agent.tools import Tool
from bot.ports import House, Json, Steps
from bot.runs.ending import Ending, ending_of_json, failed
from bot.runs.ledger import Run
from bot.runs.trace import Did
from bot.words import Code, State


async def run_agent(house: House, run_id: str, steps: Steps, equip: Equip) -> Ending | None:
    """Carry an agent turn to its end; None where the run was ended from outside meanwhile.

    ``equip`` decides what the turn may do, and is asked anew in each life of the run.
    """
    receipts: list[str] = []
    ending = await _until_the_last_word(house, run_id, steps, Once(equip), receipts)
    return None if ending is None else _telling(receipts, ending)


async def _until_the_last_word(
    house: House, run_id: str, steps: Steps, kit: Once, receipts: list[str]
) -> Ending | None:
    """The loop itself. ``receipts`` takes up what people must be told of what tools did."""
    said: list[Json] = []
    spent = Spent()
    answered_malformed = False

    async def prepare(run: Run) -> tuple[Asked, Limits] | Ending:
        made = await kit(run)
        if isinstance(made, Ending):
            return made
        functions = [offered(tool) for tool in made.tools.values()]
        return Asked([*made.opening, *said], functions), made.limits

    for turn in count(1):
        reply = await ask_model(house, run_id, steps, f"model-{turn}", spent, prepare)
        if not isinstance(reply, Reply):
            return reply
        spent = Spent(spent.steps + 1, spent.tokens + reply.tokens_in + reply.tokens_out)
        if not reply.calls:
            return _last_word(reply)
        said.append(_assistant(reply, turn))
        malformed = ""
        for number, call in enumerate(reply.calls, 1):
            name = f"{turn}-{number}"
            used = await _use(house, run_id, steps, name, call, spent, kit)
            if not isinstance(used, use.Used):
                return used
            spent = Spent(spent.steps + 1, spent.tokens)
            said.append({"role": "tool", "tool_call_id": f"call-{name}", "content": used.text})
            if used.receipt:
                receipts.append(used.receipt)
            if used.did is Did.MALFORMED:
                malformed = used.text
        if malformed and answered_malformed:
            return failed(
                Code.BAD_TOOL_CALL, f"The agent was told so and called it wrong again. {malformed}"
            )
        answered_malformed = bool(malformed)
    raise AssertionError("the ceilings end every turn")


def offered(tool: Tool) -> Json:
    """A tool as the model sees it."""
    return function(tool.name, tool.description, tool.parameters)


async def _use(
    house: House, run_id: str, steps: Steps, name: str, call: Call, spent: Spent, kit: Once
) -> use.Used | Ending | None:
    """One tool call as a step without retries: whether it wrote is for the tool itself to see."""

    async def work() -> Json:
        return await use.in_step(house, run_id, f"tool-{name}", call, spent, kit)

    kept = await steps.do(f"tool-{name}", work)
    if kept == GONE:
        return None
    return ending_of_json(kept["ending"]) if "ending" in kept else use.Used.of_json(kept)


def _telling(receipts: list[str], ending: Ending) -> Ending:
    """The ending with every receipt in it: those that the model did not repeat come first."""
    untold = [receipt for receipt in receipts if receipt not in ending.text]
    return replace(ending, text="\n".join([*untold, ending.text])) if untold else ending


def _last_word(reply: Reply) -> Ending:
    text = reply.text.strip()
    if not text:
        return failed(Code.NO_OUTPUT, "The agent ended with an empty answer.")
    return Ending(State.OK, text)


def _assistant(reply: Reply, turn: int) -> Json:
    """The model's own message, as it is told again. Calls that are no JSON are told as empty:
    some endpoints refuse a conversation that holds them."""
    calls = [
        {
            "id": f"call-{turn}-{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": _readable(call)},
        }
        for number, call in enumerate(reply.calls, 1)
    ]
    return {"role": "assistant", "content": reply.text or None, "tool_calls": calls}


def _readable(call: Call) -> str:
    read = read_arguments(call.arguments)
    return "{}" if isinstance(read, str) else json.dumps(read)
