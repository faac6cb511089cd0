"""How the agents' GitHub tools are made: arguments read strictly, authority asked at each call.

A tool is an input model and a function of a ``Desk``. What is the same for all of them is here:
the JSON schema, reading the arguments, the grant that the named repository needs, and the rule
that a tool which writes does so in the turn's own repository alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.agent.advisories import bad_repository
from bot.agent.github import GitHub, one_line
from bot.agent.tools import Args, Tool, ToolCall, ToolResult
from bot.authz.grants import Grant, covers, is_repository
from bot.runs.ledger import Run
from bot.words import Code, Refused

Need = Callable[[str], Grant]
"""The grant that a tool needs on a repository."""


class Input(BaseModel):
    """A tool's arguments: strict, and nothing besides those it names.

    Every tool takes ``repo``, the ones that write in one repository alone too: there a call that
    names another is refused for what it is.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    repo: str = Field("", max_length=140, description="OWNER/REPO; leave out for this turn's own.")


@dataclass(frozen=True, slots=True)
class Desk:
    """What a tool works with: the client, the repository that the call is about, and whose."""

    github: GitHub
    repo: str
    run: Run
    key: str
    now_ms: int


AnInput = TypeVar("AnInput", bound=Input)
Work = Callable[[Desk, AnInput], Awaitable[ToolResult | Refused]]


def tool(
    name: str,
    description: str,
    model: type[AnInput],
    work: Work[AnInput],
    *,
    repo: str,
    need: Need,
    writes: bool = False,
) -> Tool:
    """A tool of a turn about ``repo``.

    Where its arguments name another repository, it needs the grant there; one that ``writes``
    refuses to. It asks the run's own grants again, so that it is safe whoever calls it.
    """

    def needs(args: Args) -> Grant:
        named: Any = args.get("repo") or repo
        return need(named) if isinstance(named, str) else Grant(need(repo).action)

    async def call(asked: ToolCall) -> ToolResult:
        answer = await _answer(asked)
        return _refusal(answer) if isinstance(answer, Refused) else answer

    async def _answer(asked: ToolCall) -> ToolResult | Refused:
        grant = needs(asked.args)
        if not covers(asked.run.grants, grant):
            return Refused(Code.FORBIDDEN, f"This turn does not hold {grant}.")
        values = read_input(model, asked.args)
        if isinstance(values, Refused):
            return values
        target = values.repo or repo
        if not is_repository(target):
            return bad_repository(target)
        if writes and not same_repository(target, repo):
            return Refused(Code.FORBIDDEN, f"In this turn {name} writes in {repo} alone.")
        github = GitHub.of(asked.house.http, asked.house.settings)
        return await work(Desk(github, target, asked.run, asked.key, asked.now_ms), values)

    return Tool(name, description, schema_of(model), call, needs, writes)


def read_input(model: type[AnInput], args: Args) -> AnInput | Refused:
    """The arguments as the model's values, or ``bad_value`` with what is wrong, for the agent."""
    try:
        return model.model_validate(args)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
            for each in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        return Refused(Code.BAD_VALUE, one_line("; ".join(wrong), 400))


@cache
def schema_of(model: type[Input]) -> Mapping[str, Any]:
    """The JSON schema of a model's arguments, without the titles that pydantic adds.

    It is made once an isolate: pydantic takes a millisecond for each.
    """
    schema = model.model_json_schema()
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in shape.items() if key != "title"}
            for name, shape in properties.items()
        },
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def same_repository(one: str, other: str) -> bool:
    """Whether two names are of one repository; GitHub knows no case."""
    return one.lower() == other.lower()


def outside(text: str) -> ToolResult:
    """A good answer whose text comes from outside."""
    return ToolResult(text, untrusted=True)


def _refusal(refused: Refused) -> ToolResult:
    return ToolResult(f"{refused.code}: {refused.detail}", ok=False)
