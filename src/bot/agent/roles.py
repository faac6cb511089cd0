"""The roles that an agent turn may take: what each is told, and what it may use."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent import research, ship
from bot.agent.github import one_line
from bot.agent.tools import Tool, allowed
from bot.agent.untrusted import RULES
from bot.authz.grants import Grant
from bot.runs.ledger import Run

RESEARCH = "research"
SHIP = "ship"
ROLES = (RESEARCH, SHIP)

_COMMON = """\
You are an agent of Standing Orders. This is run {run} of {actor}. Nobody answers you while you \
work: decide, and do not ask. Your last message, the one without a tool call, is posted as the \
run's result: plain words, short, with a link or a number for everything you opened. Never leave \
it empty, and claim nothing that no tool confirmed. A call that is refused stays refused: do not \
try another way to the same end; say in the result what was refused and why."""


def tools_for(role: str, repo: str, held: Sequence[Grant], ask: str = "") -> tuple[Tool, ...]:
    """The tools that a turn is offered: those of its role that the grants ``held`` cover.

    ``repo`` is the repository that the turn is about, ``ask`` what was asked (for ship: the
    plan's path). An unknown role has none.
    """
    return tuple(each for each in all_tools(role, repo, ask) if allowed(each, {}, held))


def all_tools(role: str, repo: str, ask: str = "") -> tuple[Tool, ...]:
    """Every tool of a role, so that a forged call can be told from a name that is none."""
    if role == RESEARCH:
        return research.research_tools(repo)
    return ship.ship_tools(repo, ask) if role == SHIP else ()


def prompt_for(role: str, repo: str, ask: str, run: Run) -> str:
    """What a turn is told before the request itself; ``ask`` is that (for ship: the plan's path).

    Raises KeyError for a role that is not in ``ROLES``.
    """
    template = {RESEARCH: research.PROMPT, SHIP: ship.PROMPT}[role]
    task = template.format(repo=repo, plan=one_line(ask, 400), branch=ship.branch_of(run))
    common = _COMMON.format(run=run.id, actor=run.actor)
    return f"{common}\n\n{task}\n\n{RULES}"
