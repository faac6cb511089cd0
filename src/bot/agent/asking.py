"""One model call in durable steps: recorded, tried again where the model asks for it, bounded.

A wait is a durable sleep between two steps and never time inside one, so that a step keeps well
inside its own timeout and a bot that dies meanwhile still goes on after it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from bot.agent.exchange import Asked, Later, Reply, Unusable, reply_of_json
from bot.agent.limits import Limits, Spent, deadline_ms, late, passed
from bot.agent.model import model_of
from bot.ports import Fault, House, Json, Steps
from bot.runs import ledger, trace
from bot.runs.ending import Ending, ending_of_json, failed
from bot.runs.ledger import Run
from bot.runs.trace import Did, Entry
from bot.words import Code

log = logging.getLogger("bot.agent")
CALL_TIMEOUT_S = 45
"""How long a model may think; a step ends after 60 s."""
TRIES = 3
MAX_WAIT_S = 60
"""The longest wait between two tries. A run that is quiet for 120 s counts as stalled."""
STEP_RETRIES = 1
"""A model call changes nothing, so its step may run again where a store failed under it."""
GONE: Json = {"gone": True}
"""The result of a step that found its run ended from outside: cancelled, or timed out."""

Prepare = Callable[[Run], Awaitable[tuple[Asked, Limits] | Ending]]
"""Makes the question inside the step, or ends the turn instead."""


async def ask_model(
    house: House, run_id: str, steps: Steps, name: str, spent: Spent, prepare: Prepare
) -> Reply | Ending | None:
    """The model's reply, how the turn ends without one, or None where the run was ended meanwhile.

    Every try is a step of its own, ``NAME``, ``NAME-try-2``, ..., and the ceilings are asked before
    each.
    """
    for attempt in range(1, TRIES + 1):
        step = name if attempt == 1 else f"{name}-try-{attempt}"
        again = attempt < TRIES

        async def work(step: str = step, again: bool = again) -> Json:
            return await _try(house, run_id, step, spent, prepare, again=again)

        kept = await steps.do(step, work, retries=STEP_RETRIES)
        if "wait_s" in kept:
            await steps.sleep(f"{step}-wait", kept["wait_s"] * 1000)
            continue
        if kept == GONE:
            return None
        return reply_of_json(kept["reply"]) if "reply" in kept else ending_of_json(kept["ending"])
    raise AssertionError("the last try answers or ends the turn")


async def keep(house: House, run_id: str, entry: Entry) -> None:
    """Record a call. What was done is done, so a record that fails is logged and no more."""
    try:
        await trace.record(house.db, run_id, entry)
    except Fault as fault:
        log.error(
            "run %s: %s not recorded: %s", run_id, entry.name, fault, extra={"action": "untraced"}
        )


async def _try(
    house: House, run_id: str, step: str, spent: Spent, prepare: Prepare, *, again: bool
) -> Json:
    begun_at = house.clock.now_ms()
    run = await ledger.begin(house.db, run_id, begun_at)
    if run is None:
        return GONE
    prepared = await prepare(run)
    if isinstance(prepared, Ending):
        return _end(prepared)
    asked, limits = prepared
    model = model_of(house)
    if model is None:
        return _end(failed(Code.NO_MODEL, "No model is configured. See help for the commands."))
    over = passed(run, limits, spent, begun_at)
    if over is not None:
        return _end(over)
    left_s = (deadline_ms(run, limits) - begun_at) / 1000
    answer = await model.complete(asked, timeout_s=min(CALL_TIMEOUT_S, left_s))
    now_ms = house.clock.now_ms()
    await keep(house, run_id, _entry(step, answer, begun_at, now_ms))
    if isinstance(answer, Reply):
        return {"reply": answer.to_json()}
    if isinstance(answer, Unusable):
        return _end(failed(Code.MODEL_UNAVAILABLE, f"The model cannot be used: {answer.why}."))
    if now_ms + answer.wait_s * 1000 >= deadline_ms(run, limits):
        return _end(late(limits.deadline_s))
    if again and answer.wait_s <= MAX_WAIT_S:
        return {"wait_s": answer.wait_s}
    return _end(_given_up(answer))


def _given_up(answer: Later) -> Ending:
    hint = f", and asks for {answer.wait_s:,} seconds" if answer.wait_s > MAX_WAIT_S else ""
    return failed(
        Code.MODEL_UNAVAILABLE, f"The model did not answer: {answer.why}{hint}. Try again later."
    )


def _entry(step: str, answer: Reply | Later | Unusable, begun_at: int, now_ms: int) -> Entry:
    if isinstance(answer, Reply):
        return Entry(
            step,
            Did.OK,
            begun_at,
            now_ms - begun_at,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
        )
    return Entry(step, Did.FAILED, begun_at, now_ms - begun_at, note=answer.why)


def _end(ending: Ending) -> Json:
    return {"ending": ending.to_json()}
