"""One tool call: whether the turn has that tool, the call can be read and the grants cover it."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass

from bot.agent.asking import GONE, keep
from bot.agent.bounded import bounded
from bot.agent.exchange import Call
from bot.agent.kit import Kit, Once
from bot.agent.limits import Spent, deadline_ms, passed
from bot.agent.schema import misfit, read_arguments
from bot.agent.tools import ToolCall, allowed
from bot.agent.untrusted import shown
from bot.ports import Fault, House, Json
from bot.runs import ledger
from bot.runs.ending import Ending
from bot.runs.ledger import Run
from bot.runs.trace import Did, Entry
from bot.words import Code

log = logging.getLogger("bot.agent")


@dataclass(frozen=True, slots=True)
class Used:
    """What a call came to: what the model is told, and how it ended.

    ``receipt``: what the person is told of it, word for word; empty for nothing.
    """

    did: Did
    text: str
    receipt: str = ""

    def to_json(self) -> Json:
        """As a step's result."""
        return {"did": self.did, "text": self.text, "receipt": self.receipt}

    @classmethod
    def of_json(cls, value: Json) -> Used:
        """A use that a step kept."""
        return cls(Did(value["did"]), value["text"], value.get("receipt", ""))


async def in_step(
    house: House, run_id: str, step: str, call: Call, spent: Spent, kit_of: Once
) -> Json:
    """Carry out and record a call as the work of ``step``, if the run lives and may go on.

    A request that is in flight at the deadline is cut off there (contract §7), and what it would
    have written is not known then: the tools' keys keep it from being written twice.
    """
    begun_at = house.clock.now_ms()
    run = await ledger.begin(house.db, run_id, begun_at)
    if run is None:
        return GONE
    kit = await kit_of(run)
    if isinstance(kit, Ending):
        return {"ending": kit.to_json()}
    over = passed(run, kit.limits, spent, begun_at)
    if over is not None:
        return {"ending": over.to_json()}
    used = await _carry_out(house, run, kit, call, key=f"{run_id}-{step}", now_ms=begun_at)
    entry = Entry(
        step,
        used.did,
        begun_at,
        house.clock.now_ms() - begun_at,
        tool=call.name or "(none)",
        args=None if kit.private else call.arguments,
        note=None if used.did is Did.OK or kit.private else used.text,
    )
    await keep(house, run_id, entry)
    return used.to_json()


async def _carry_out(
    house: House, run: Run, kit: Kit, call: Call, *, key: str, now_ms: int
) -> Used:
    tool = kit.tools.get(call.name)
    if tool is None:
        return Used(Did.REFUSED, _no_tool(kit, call.name))
    args = read_arguments(call.arguments)
    if isinstance(args, str):
        return Used(Did.MALFORMED, f"{Code.BAD_TOOL_CALL}: {args}")
    wrong = misfit(tool.parameters, args)
    if wrong:
        return Used(
            Did.MALFORMED, f"{Code.BAD_TOOL_CALL}: {wrong} It takes {json.dumps(tool.parameters)}"
        )
    if not allowed(tool, args, run.grants):
        return Used(Did.REFUSED, f"{Code.FORBIDDEN}: this turn does not hold {tool.needs(args)}.")
    try:
        until_ms = deadline_ms(run, kit.limits)
        result = await tool.call(ToolCall(bounded(house, until_ms), run, args, key, now_ms))
    except Fault as fault:
        log.warning("%s: %s", call.name, fault, extra={"action": "tool_fault"})
        return Used(Did.FAILED, f"{Code.STORE_UNAVAILABLE}: {tool.name} got no answer.")
    except Exception:
        log.exception("%s broke", call.name, extra={"action": "tool_broke"})
        return Used(Did.FAILED, f"{Code.INTERNAL}: {tool.name} broke.")
    text = shown(result, tool.name)
    if result.ok:
        return Used(Did.OK, text, result.text if result.receipt else "")
    refused = result.text.startswith(f"{Code.FORBIDDEN}:")
    return Used(Did.REFUSED if refused else Did.FAILED, text)


def _no_tool(kit: Kit, name: str) -> str:
    if name in kit.known:
        return f"{Code.FORBIDDEN}: this turn's grants do not cover {name}."
    offered = ", ".join(kit.tools) or "none"
    return f"{Code.NOT_FOUND}: there is no tool {name[:60]!r} here. There are: {offered}."
