"""The ``agent`` commands: an agent turn, said in chat form.

They judge what is asked and name the turn; a turn of its own steps carries it out
(``bot.dispatch.turn``), under the grants that the policy table asked for.
"""

from __future__ import annotations

from bot.agent.advisories import bad_repository
from bot.agent.ask import RUN_ROLES, AgentAsk
from bot.agent.roles import SHIP
from bot.authz.grants import is_repository
from bot.commands.grammar import Syntax, body, clause, word
from bot.commands.registry import Args, Command, Invocation, Outcome, refused
from bot.ports import House
from bot.words import Code, Effect, OutcomeKind, Refused


async def _run(house: House, call: Invocation, args: Args) -> Outcome:
    role = args["role"]
    if role not in RUN_ROLES:
        return refused(
            Refused(
                Code.BAD_VALUE,
                f"There is no role {role[:40]!r} to run. There is {', '.join(RUN_ROLES)}; "
                "a change is shipped: agent:ship in REPO: plan PATH.",
            )
        )
    return _turn(AgentAsk(role, args["repo"], args["ask"]))


async def _ship(house: House, call: Invocation, args: Args) -> Outcome:
    return _turn(AgentAsk(SHIP, args["repo"], args["path"]))


def _turn(ask: AgentAsk) -> Outcome:
    if ask.repo is None or not is_repository(ask.repo):
        return refused(bad_repository(ask.repo or ""))
    return Outcome(OutcomeKind.OK, "An agent takes it on.", then=ask)


COMMANDS = (
    Command(
        "agent:run",
        "Have an agent read a repository and answer, or open issues where the grants allow it.",
        Effect.EXEC,
        Syntax(args=(word("role"),), clauses=(clause("in", "repo"),), body=body("ask")),
        _run,
    ),
    Command(
        "agent:ship",
        "Have an agent carry out a plan file of a repository as a pull request.",
        Effect.EXEC,
        Syntax(clauses=(clause("in", "repo"),), body=body("path", prefix="plan")),
        _ship,
        # It changes code. Only somebody who wrote the plan's path out asked for that.
        routed_effect=Effect.WRITE,
    ),
)
