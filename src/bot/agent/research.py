"""The role ``research``: reads a repository, and opens issues where the turn's grants say so."""

from __future__ import annotations

from pydantic import Field

from bot.agent.opening import Opening, open_issue
from bot.agent.reading import reading_tools
from bot.agent.toolkit import Desk, Input, tool
from bot.agent.tools import Tool, ToolResult
from bot.authz.grants import Grant
from bot.words import Refused

PROMPT = """\
You answer a request about the repository {repo} by reading it with your tools. Check what you \
say against what you read, and name the files, issues and advisories that it rests on.
If you have the tool create_issue and the request asks for issues: first list the open issues, \
leave out what one of them already covers, and open the rest one call each, with a title that \
says what is wrong and where. Open none that the request did not ask for. Without that tool you \
cannot open issues: say so, and give their texts in your answer."""


class CreateIssue(Input):
    """Arguments of create_issue."""

    title: str = Field(min_length=1, max_length=200, description="One line.")
    body: str = Field(max_length=20_000, description="Markdown.")


def needs_research(repo: str) -> Grant:
    """What reading a repository needs (contract §2)."""
    return Grant("agent:run:research", repo)


def research_tools(repo: str) -> tuple[Tool, ...]:
    """Every tool of the role, for a turn about ``repo``, whatever its grants."""
    create = tool(
        "create_issue",
        f"Open an issue in {repo}. One with the same title that this run has opened is found "
        "and not opened again.",
        CreateIssue,
        _create_issue,
        repo=repo,
        need=lambda named: Grant("github:issue-write", named),
        writes=True,
    )
    return (*reading_tools(repo, needs_research), create)


async def _create_issue(desk: Desk, asked: CreateIssue) -> ToolResult | Refused:
    made = await open_issue(
        desk.github,
        desk.repo,
        title=asked.title,
        body=asked.body,
        run=desk.run,
        key=desk.key,
        now_ms=desk.now_ms,
    )
    return made if isinstance(made, Refused) else ToolResult(_receipt(desk.repo, made))


def _receipt(repo: str, made: Opening) -> str:
    did = "This run had opened" if made.found else "Opened"
    return f"{did} {repo}#{made.issue.number} {made.issue.url}".rstrip()
