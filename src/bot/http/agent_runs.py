"""An agent turn that a command over HTTP stands for, started as a run of its own."""

from __future__ import annotations

from bot.agent.ask import AgentAsk
from bot.authz.actor import Surface
from bot.commands.registry import Outcome, ok, refused
from bot.dispatch.message import IncomingMessage
from bot.http import turns
from bot.http.visit import Visit
from bot.words import Refused, Source, State


async def start_agent(visit: Visit, ask: AgentAsk) -> Outcome:
    """Start the run and say its id: nobody waits on ``POST /admin/command`` for an agent.

    The run's text is the command, so that it is an explicit one and meets the rule, the policy
    and the grants again in its own turn. It answers in no thread: its caller reads the run.
    """
    run_id = visit.house.ids.new()
    message = IncomingMessage(
        run_id=run_id,
        actor=visit.actor,
        grants=await visit.grants(),
        source=Source.INGRESS if visit.actor.surface is Surface.HTTP else Source.MESSAGE,
        text=ask.command,
    )
    admission = await turns.admit(visit.house, message, visit.now_ms)
    if isinstance(admission, Refused):
        return refused(admission)
    await turns.start(visit.house, admission)
    return ok(
        f"Run {run_id} is started: {ask.written}. See run show {run_id}.",
        {"run_id": run_id, "state": State.RUNNING},
    )
