"""One turn from admission to its end, in durable steps (contract §3, §4).

``open`` finds or opens the thread and reads the text, ``route`` has the model sort prose, ``act``
runs a command, ``model-N`` and ``tool-N-M`` are an agent's calls, ``deliver`` posts the outcome,
``finish`` writes the ledger and the history and frees the slot. A step that ended is not run again
after a crash; each is safe to run again if it was cut off.
"""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

from bot.agent.loop import run_agent
from bot.channels.base import cut, render_outcome, shown
from bot.dispatch.act import act, with_receipt
from bot.dispatch.equip import equip_for
from bot.dispatch.opening import open_turn
from bot.dispatch.route import route
from bot.dispatch.todo import AskRouter, End, OpenLater, RunAgent, RunCommand, Todo, dump, load
from bot.jobs.run import job_ended
from bot.ports import House, Json, Posted, Steps
from bot.runs import ledger
from bot.runs.ending import Ending, failed
from bot.schedules.firing import firing_of_run
from bot.words import TEXTS, Code, Delivery, Effect, Source, State

log = logging.getLogger("bot.turn")
RECORDED = frozenset({Source.SCHEDULE, Source.CATALOG})
"""Turns that are firings: the history keeps them."""
STEP_RETRIES = 3
TRIES = 10
"""How often a channel may ask to wait before its thread is opened or its post taken."""
MAX_WAIT_S = 60
"""The longest wait between two tries. A run that is quiet for 120 s counts as stalled."""


async def run_turn(house: House, run_id: str, steps: Steps) -> None:
    """Carry one admitted run to its end. A run that was ended meanwhile is left as it is."""
    thread: str | None = None
    try:
        thread, todo = await _opened(house, run_id, steps)
        ending = await _carry_out(house, run_id, todo, steps)
    except Exception as error:
        log.error("run %s broke: %s\n%s", run_id, error, traceback.format_exc())
        ending = failed(Code.INTERNAL, TEXTS[Code.INTERNAL].title)
    if ending is None:
        return
    try:
        delivery = await _delivered(house, run_id, thread, ending, steps)
    except Exception as error:
        log.error("run %s: its post broke: %s", run_id, error)
        delivery = str(Posted(Delivery.UNKNOWN))
    if delivery is not None:
        await steps.do(
            "finish", lambda: _finish(house, run_id, ending, delivery), retries=STEP_RETRIES
        )


async def _opened(house: House, run_id: str, steps: Steps) -> tuple[str | None, Todo]:
    """The turn's thread and what there is to do, after the waits that the channel asks for."""

    async def opening() -> Json:
        where, todo = await open_turn(house, run_id)
        return [where, dump(todo)]

    attempt = 1
    while True:
        step = _step("open", attempt)
        thread, kept = await steps.do(step, opening, retries=STEP_RETRIES)
        todo = load(kept)
        if not isinstance(todo, OpenLater):
            return thread, todo
        if attempt == TRIES or todo.wait_s > MAX_WAIT_S:
            return thread, End(todo.otherwise)
        await steps.sleep(f"{step}-wait", todo.wait_s * 1000)
        attempt += 1


async def _delivered(
    house: House, run_id: str, thread: str | None, ending: Ending, steps: Steps
) -> str | None:
    """How the outcome was delivered, after the waits that the channel asks for."""
    attempt = 1
    while True:
        step = _step("deliver", attempt)
        delivery, wait_s = await steps.do(step, lambda: _deliver(house, run_id, thread, ending))
        if wait_s is None or wait_s > MAX_WAIT_S or attempt == TRIES:
            return delivery
        await steps.sleep(f"{step}-wait", wait_s * 1000)
        attempt += 1


def _step(name: str, attempt: int) -> str:
    return name if attempt == 1 else f"{name}-try-{attempt}"


async def _carry_out(house: House, run_id: str, todo: Todo, steps: Steps) -> Ending | None:
    """Do what there is to do, from one step to the next; None where the run was ended outside."""
    if isinstance(todo, AskRouter):
        todo = await route(house, run_id, todo, steps)
    if isinstance(todo, RunCommand):
        command = todo

        async def work() -> Json:
            return dump(await act(house, run_id, command))

        todo = load(await steps.do("act", work))
    if isinstance(todo, RunAgent):
        return await _agent(house, run_id, todo, steps)
    return todo.ending if isinstance(todo, End) else None


async def _agent(house: House, run_id: str, todo: RunAgent, steps: Steps) -> Ending | None:
    ending = await run_agent(house, run_id, steps, equip_for(house, todo.ask))
    if ending is None:
        return None
    ran = ending.state is not State.REFUSED
    text = with_receipt(todo.receipt, ending.text) if ran else ending.text
    return replace(ending, text=text, route=todo.route, effect=Effect.EXEC)


async def _deliver(house: House, run_id: str, thread: str | None, ending: Ending) -> Json:
    """Post the outcome, once; how that went is a word of its own and never changes the state.

    The word, and in how many seconds the channel asks to be asked again if it does. The word is
    None where the run was ended from outside, and its thread told so, before this step.
    """
    now_ms = house.clock.now_ms()
    run = await ledger.begin(house.db, run_id, now_ms) or await ledger.get(house.db, run_id)
    if run is None or not (run.live or run.owes_handback):
        return [None, None]
    surface = None if thread is None else house.channels.get(thread.partition(":")[0])
    if thread is None and ending.code != Code.NO_CHANNEL:
        posted = Posted(Delivery.DELIVERED)
    elif thread is None or surface is None:
        posted = Posted(Delivery.UNDELIVERED, "no_channel")
    else:
        text = render_outcome(ending.state, ending.code, ending.text)
        text = cut(shown(text), run_id)
        posted = await surface.post(thread, text, key=f"{run_id}-out", now_ms=now_ms)
    return [str(posted), posted.wait_s]


async def _finish(house: House, run_id: str, ending: Ending, delivery: str) -> Json:
    ended = await ledger.finish(
        house.db,
        run_id,
        state=ending.state,
        code=ending.code,
        output=ending.output,
        now_ms=house.clock.now_ms(),
        route=ending.route,
        effect=ending.effect,
        delivery=delivery,
    )
    run = await ledger.get(house.db, run_id)
    if run is None:
        return {}
    if not ended and run.delivery is None:
        await ledger.set_delivery(house.db, run_id, delivery, ending.output)
        run = await ledger.get(house.db, run_id) or run
    if Source(run.source) in RECORDED:
        await house.history.record([firing_of_run(run)])
    if Source(run.source) is Source.JOB:
        await job_ended(house, run)
    return {"state": run.state, "code": run.code}
