"""The tools that read a repository: its files, code, advisories, issues and pull requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from bot.agent import code_search, contents, issues, pulls
from bot.agent.advisories import Advisory, advisories
from bot.agent.contents import File, Folder
from bot.agent.github import one_line
from bot.agent.issues import Issue
from bot.agent.paths import MAX_PATH, read_path
from bot.agent.pulls import Change, Pull
from bot.agent.toolkit import Desk, Input, Need, outside, tool
from bot.agent.tools import Tool, ToolResult
from bot.agent.untrusted import clean
from bot.words import Code, Refused

WINDOW = 48_000
"""Characters of a file that are shown at once; what an agent may write back whole."""
MAX_ENTRIES = 400
MAX_ADVISORIES = 150
MAX_PATCH = 3_000

Ref = Callable[[Desk], Awaitable[str | Refused | None]]
"""The branch that a call reads at; None is the default one."""


async def on_default(desk: Desk) -> None:
    """The default branch, for any call."""


def reading_tools(repo: str, need: Need, ref: Ref = on_default) -> tuple[Tool, ...]:
    """What reads, for a turn about ``repo``; each needs ``need`` on what it reads."""

    async def read_file(desk: Desk, asked: ReadFile) -> ToolResult | Refused:
        found = await _at(desk, asked.path, ref)
        if isinstance(found, Folder):
            return Refused(Code.BAD_VALUE, f"{one_line(asked.path, 120)} is a folder: list it.")
        return found if isinstance(found, Refused) else _file(desk.repo, found, asked.from_line)

    async def list_folder(desk: Desk, asked: ListFolder) -> ToolResult | Refused:
        found = await _at(desk, asked.path, ref)
        if isinstance(found, File):
            return Refused(Code.BAD_VALUE, f"{one_line(asked.path, 120)} is a file: read it.")
        return found if isinstance(found, Refused) else _folder(desk.repo, found)

    return (
        tool(
            "read_file",
            "Read a text file. A long one comes in parts: go on with from_line.",
            ReadFile,
            read_file,
            repo=repo,
            need=need,
        ),
        tool(
            "list_folder",
            "List a folder's files and folders.",
            ListFolder,
            list_folder,
            repo=repo,
            need=need,
        ),
        tool(
            "search_code",
            "Find the files on the default branch that hold all of a few words.",
            SearchCode,
            _search_code,
            repo=repo,
            need=need,
        ),
        tool(
            "list_advisories",
            "List the open security advisories about a repository's dependencies, worst first.",
            ListAdvisories,
            _list_advisories,
            repo=repo,
            need=need,
        ),
        tool(
            "list_issues",
            "List issues, newest first: number, state, title, author and labels.",
            ListIssues,
            _list_issues,
            repo=repo,
            need=need,
        ),
        tool(
            "read_issue",
            "Read an issue and its first comments.",
            ReadNumbered,
            _read_issue,
            repo=repo,
            need=need,
        ),
        tool(
            "list_pulls",
            "List pull requests, newest first: number, state, title, author and branches.",
            ListIssues,
            _list_pulls,
            repo=repo,
            need=need,
        ),
        tool(
            "read_pull",
            "Read a pull request and what it changes.",
            ReadNumbered,
            _read_pull,
            repo=repo,
            need=need,
        ),
    )


class ReadFile(Input):
    """Arguments of read_file."""

    path: str = Field(max_length=MAX_PATH, description="From the root, such as src/app.py.")
    from_line: int = Field(1, ge=1, le=10_000_000, description="The first line to show.")


class ListFolder(Input):
    """Arguments of list_folder."""

    path: str = Field("", max_length=MAX_PATH, description="Leave out for the root.")


class SearchCode(Input):
    """Arguments of search_code."""

    text: str = Field(min_length=1, max_length=200, description="One to eight words.")


class ListAdvisories(Input):
    """Arguments of list_advisories."""


class ListIssues(Input):
    """Arguments of list_issues and list_pulls."""

    state: Literal["open", "closed", "all"] = "open"
    page: int = Field(1, ge=1, le=200, description="Which page of the list.")


class ReadNumbered(Input):
    """Arguments of read_issue and read_pull."""

    number: int = Field(ge=1, le=2_000_000_000)


async def _at(desk: Desk, text: str, ref: Ref) -> File | Folder | Refused:
    path = read_path(text)
    if isinstance(path, Refused):
        return path
    branch = await ref(desk)
    if isinstance(branch, Refused):
        return branch
    return await contents.read(desk.github, desk.repo, path, ref=branch, now_ms=desk.now_ms)


def _file(repo: str, file: File, from_line: int) -> ToolResult | Refused:
    named = f"{one_line(file.path, 120)} in {repo}"
    if file.text is None:
        return Refused(
            Code.BAD_VALUE, f"{named} is no text that can be shown: {file.size:,} bytes."
        )
    lines = file.text.split("\n")
    first = min(from_line, len(lines))
    part, last = _window(lines, first)
    visible = clean(part)
    notes = [f"{named}, lines {first:,} to {last:,} of {len(lines):,}"]
    if last < len(lines):
        notes.append(f"go on with from_line {last + 1}")
    if len(visible) < len(part.replace("\r\n", "\n")):
        notes.append("characters that do not show were left out")
    return outside(f"{'; '.join(notes)}:\n{visible}")


def _window(lines: list[str], first: int) -> tuple[str, int]:
    """Whole lines from ``first`` (from 1) as far as the window goes, and the last one's number."""
    left, last = WINDOW - len(lines[first - 1]), first
    while last < len(lines) and len(lines[last]) + 1 <= left:
        left -= len(lines[last]) + 1
        last += 1
    return "\n".join(lines[first - 1 : last])[:WINDOW], last


def _folder(repo: str, folder: Folder) -> ToolResult:
    lines = [f"{one_line(folder.path, 120) or 'The root'} in {repo} holds:"]
    for entry in folder.entries[:MAX_ENTRIES]:
        size = f", {entry.size:,} bytes" if entry.kind == "file" else ""
        lines.append(f"- {one_line(entry.path, MAX_PATH)} ({one_line(entry.kind, 20)}{size})")
    return outside("\n".join([*lines, *_more(len(folder.entries) - MAX_ENTRIES)]))


async def _search_code(desk: Desk, asked: SearchCode) -> ToolResult | Refused:
    found = await code_search.search(desk.github, desk.repo, asked.text, now_ms=desk.now_ms)
    if isinstance(found, Refused):
        return found
    if not found.paths:
        return ToolResult(f"No file of {desk.repo} holds all of these words.")
    lines = [f"Files of {desk.repo} that hold all of these words:"]
    lines += [f"- {one_line(path, MAX_PATH)}" for path in found.paths]
    return outside("\n".join([*lines, *_more(found.total - len(found.paths))]))


async def _list_advisories(desk: Desk, asked: ListAdvisories) -> ToolResult | Refused:
    found = await advisories(desk.github, desk.repo, now_ms=desk.now_ms)
    if isinstance(found, Refused):
        return found
    worst = sorted(found.items, key=lambda each: (each.severity.rank, each.package.lower()))
    if not worst:
        return ToolResult(f"{desk.repo} has no open advisories.")
    more = ", and there are more" if found.cut else ""
    lines = [f"{desk.repo}: {len(worst):,} open advisories{more}, worst first:"]
    lines += [_advisory(each) for each in worst[:MAX_ADVISORIES]]
    return outside("\n".join([*lines, *_more(len(worst) - MAX_ADVISORIES)]))


async def _list_issues(desk: Desk, asked: ListIssues) -> ToolResult | Refused:
    page = await issues.page(
        desk.github, desk.repo, state=asked.state, number=asked.page, now_ms=desk.now_ms
    )
    if isinstance(page, Refused):
        return page
    lines = [_issue(each) for each in page.issues if not each.is_pull]
    return _listing(f"issues of {desk.repo}", asked, lines, page.more)


async def _read_issue(desk: Desk, asked: ReadNumbered) -> ToolResult | Refused:
    issue = await issues.read(desk.github, desk.repo, asked.number, now_ms=desk.now_ms)
    if isinstance(issue, Refused):
        return issue
    said = await issues.comments(desk.github, desk.repo, asked.number, now_ms=desk.now_ms)
    if isinstance(said, Refused):
        return said
    parts = [_issue(issue), issue.body or "(no text)"]
    parts += [f"Comment by {each.author}:\n{each.body}" for each in said]
    return outside("\n\n".join(parts))


async def _list_pulls(desk: Desk, asked: ListIssues) -> ToolResult | Refused:
    page = await pulls.page(
        desk.github, desk.repo, state=asked.state, number=asked.page, now_ms=desk.now_ms
    )
    if isinstance(page, Refused):
        return page
    lines = [_pull(each) for each in page.pulls]
    return _listing(f"pull requests of {desk.repo}", asked, lines, page.more)


async def _read_pull(desk: Desk, asked: ReadNumbered) -> ToolResult | Refused:
    pull = await pulls.read(desk.github, desk.repo, asked.number, now_ms=desk.now_ms)
    if isinstance(pull, Refused):
        return pull
    changed = await pulls.changes(desk.github, desk.repo, asked.number, now_ms=desk.now_ms)
    if isinstance(changed, Refused):
        return changed
    parts = [_pull(pull), pull.body or "(no text)", *(_change(each) for each in changed)]
    return outside("\n\n".join(parts))


def _listing(what: str, asked: ListIssues, lines: list[str], more: bool) -> ToolResult:
    kind = "" if asked.state == "all" else f"{asked.state} "
    after = [f"There are more: ask for page {asked.page + 1}."] if more else []
    if not lines:
        return ToolResult("\n".join([f"No {kind}{what} on page {asked.page}.", *after]))
    head = f"The {kind}{what}, page {asked.page}, newest first:"
    return outside("\n".join([head, *lines, *after]))


def _advisory(each: Advisory) -> str:
    fix = f"fixed in {each.fixed_in}" if each.fixed_in else "no fix yet"
    ids = " ".join(filter(None, (each.cve, each.ghsa)))
    return (
        f"- {each.severity} {each.package} {each.vulnerable_range} ({each.ecosystem}, "
        f"{each.manifest}), {fix}, {ids}: {each.summary}"
    )


def _issue(each: Issue) -> str:
    labels = f" [{', '.join(each.labels)}]" if each.labels else ""
    return f"- #{each.number} ({each.state}) {each.title}{labels}, by {each.author}"


def _pull(each: Pull) -> str:
    state = "merged" if each.merged else "draft" if each.draft else each.state
    ends = f"{each.head} into {each.base}"
    return f"- #{each.number} ({state}) {each.title}, by {each.author}, {ends}"


def _change(each: Change) -> str:
    patch = each.patch[:MAX_PATCH]
    cut = "\n(cut)" if len(each.patch) > MAX_PATCH else ""
    return f"{each.status} {each.path} (+{each.additions} -{each.deletions})\n{patch}{cut}".rstrip()


def _more(count: int) -> list[str]:
    return [f"(and {count:,} more)"] if count > 0 else []
