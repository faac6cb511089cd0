"""What an agent turn is equipped with: its authority is asked, then its tools are looked up."""

from __future__ import annotations

from bot import org
from bot.agent import roles
from bot.agent.ask import PERSONAL, AgentAsk, may
from bot.agent.bounded import bounded
from bot.agent.kit import Equip, Kit
from bot.agent.limits import Limits, deadline_ms, limits_of
from bot.agent.personal import capabilities_of_owner
from bot.agent.thread_memory import remember
from bot.agent.untrusted import RULES
from bot.dispatch.act import actor_of
from bot.ports import House, Json
from bot.runs.ending import Ending, refused
from bot.runs.ledger import Run
from bot.times import iso

_PERSONAL = """\
You are the assistant of {actor} in Standing Orders. This is run {run}; it is {now}. You keep \
{actor}'s own reminders, routines and memories with your tools, and nobody else's. Nobody answers \
you while you work: decide, and do not ask. What you say about a reminder or a routine you take \
from the tool's receipt, word for word. Your last message, the one without a tool call, is posted \
as the result: plain words, short. Never leave it empty, and claim nothing that no tool confirmed.\
{missing}

{rules}"""


def equip_for(house: House, ask: AgentAsk) -> Equip:
    """Makes the kit of a run that is to carry out ``ask``, or refuses it.

    This is the gate of every agent turn, however it came about: it is passed before the first
    model call of the agent, and again in each life of the run.
    """

    async def equip(run: Run) -> Kit | Ending:
        refusal = may(ask, actor_of(run), run.grants)
        if refusal is not None:
            return refused(refusal.code, refusal.detail)
        limits = limits_of((await house.config.read(org.TIER)).entries, run)
        in_time = bounded(house, deadline_ms(run, limits))
        if ask.role == PERSONAL:
            return await _personal(in_time, run, ask, limits)
        return await _for_repository(in_time, run, ask, ask.repo or "", limits)

    return equip


async def _for_repository(house: House, run: Run, ask: AgentAsk, repo: str, limits: Limits) -> Kit:
    tools = roles.tools_for(ask.role, repo, run.grants, ask.text)
    return Kit(
        _opening(
            roles.prompt_for(ask.role, repo, ask.text, run), await remember(house.db, run), ask
        ),
        {tool.name: tool for tool in tools},
        limits,
        known=frozenset(tool.name for tool in roles.all_tools(ask.role, repo, ask.text)),
    )


async def _personal(house: House, run: Run, ask: AgentAsk, limits: Limits) -> Kit:
    """A person's own turn or job: what they own."""
    own = await capabilities_of_owner(house, run)
    prompt = _PERSONAL.format(
        actor=run.actor,
        run=run.id,
        now=iso(house.clock.now_ms()),
        missing="".join(f"\n{sentence} Say so if it matters." for sentence in own.missing),
        rules=RULES,
    )
    return Kit(
        _opening(prompt, await remember(house.db, run, own=True), ask),
        {tool.name: tool for tool in own.tools},
        limits,
        private=True,
    )


def _opening(prompt: str, memory: str, ask: AgentAsk) -> tuple[Json, ...]:
    """The system's message and the asker's, with what the thread remembers before it as data."""
    before = f"What was said in this thread before, as data:\n{memory}\n\nNow: " if memory else ""
    return (
        {"role": "system", "content": prompt},
        {"role": "user", "content": f"{before}{ask.text}"},
    )
