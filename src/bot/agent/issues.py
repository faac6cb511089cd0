"""A repository's issues: listed newest first, read with their comments, opened."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bot.agent.github import Answer, GitHub, Subject, one_line, unreadable
from bot.times import parse_iso
from bot.words import Refused

READ = 'the repository permission "Issues: read" (a classic token: the scope repo)'
WRITE = 'the repository permission "Issues: write" (a classic token: the scope repo)'
PAGE = 50
"""Issues in one page: small enough for their bodies to fit into one answer."""
MAX_COMMENTS = 30
MAX_TITLE = 256
_URL = re.compile(r"https?://[!-;=?-~]{1,500}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or a pull request seen as one (``is_pull``).

    ``body`` is raw and is cleaned where it is shown; the other texts are single clean lines.
    ``created_at`` is epoch milliseconds, None where GitHub's time could not be read.
    """

    number: int
    title: str
    body: str
    state: str
    author: str
    labels: tuple[str, ...]
    created_at: int | None
    is_pull: bool
    url: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page of issues, newest first; ``more`` where another follows."""

    issues: tuple[Issue, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue; ``body`` is raw."""

    author: str
    body: str


async def page(
    github: GitHub, repo: str, *, state: str, number: int, now_ms: int
) -> Page | Refused:
    """Page ``number`` (from 1) of the issues and pull requests; ``state`` open, closed or all."""
    subject = Subject(f"the issues of {repo}", READ)
    answer = await github.call(
        "GET",
        f"/repos/{repo}/issues",
        subject,
        now_ms=now_ms,
        query={
            "state": state,
            "sort": "created",
            "direction": "desc",
            "per_page": PAGE,
            "page": number,
        },
    )
    if isinstance(answer, Refused):
        return answer
    try:
        wires = _ISSUES.validate_python(answer.body)
    except ValidationError:
        return unreadable(subject)
    return Page(tuple(_issue(each) for each in wires), answer.next_url is not None)


async def read(github: GitHub, repo: str, number: int, *, now_ms: int) -> Issue | Refused:
    """One issue or pull request by its number."""
    subject = Subject(f"issue {number} of {repo}", READ)
    path = f"/repos/{repo}/issues/{number}"
    return _read(await github.call("GET", path, subject, now_ms=now_ms), subject)


async def comments(
    github: GitHub, repo: str, number: int, *, now_ms: int
) -> tuple[Comment, ...] | Refused:
    """The first ``MAX_COMMENTS`` comments, oldest first."""
    subject = Subject(f"issue {number} of {repo}", READ)
    answer = await github.call(
        "GET",
        f"/repos/{repo}/issues/{number}/comments",
        subject,
        now_ms=now_ms,
        query={"per_page": MAX_COMMENTS},
    )
    if isinstance(answer, Refused):
        return answer
    try:
        wires = _COMMENTS.validate_python(answer.body)
    except ValidationError:
        return unreadable(subject)
    return tuple(Comment(_login(each.user), each.body or "") for each in wires)


async def create(
    github: GitHub, repo: str, *, title: str, body: str, now_ms: int
) -> Issue | Refused:
    """Open an issue. It does not look first: the caller has (``bot.agent.opening``)."""
    subject = Subject(f"the issues of {repo}", WRITE)
    answer = await github.call(
        "POST",
        f"/repos/{repo}/issues",
        subject,
        now_ms=now_ms,
        body={"title": title, "body": body},
    )
    return _read(answer, subject)


def web_url(text: str) -> str:
    """A web address from outside, empty unless it is one plain http word."""
    return text if _URL.fullmatch(text) else ""


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _User(_Wire):
    login: str = ""


class _Label(_Wire):
    name: str | None = None


class _Issue(_Wire):
    number: int
    title: str
    state: str
    body: str | None = None
    user: _User | None = None
    labels: list[_Label | str] = []
    created_at: str = ""
    html_url: str = ""
    pull_request: dict[str, object] | None = None


class _Comment(_Wire):
    body: str | None = None
    user: _User | None = None


_ISSUES = TypeAdapter(list[_Issue])
_COMMENTS = TypeAdapter(list[_Comment])


def _read(answer: Answer | Refused, subject: Subject) -> Issue | Refused:
    if isinstance(answer, Refused):
        return answer
    try:
        return _issue(_Issue.model_validate(answer.body))
    except ValidationError:
        return unreadable(subject)


def _issue(wire: _Issue) -> Issue:
    names = (each if isinstance(each, str) else each.name or "" for each in wire.labels)
    return Issue(
        number=wire.number,
        title=one_line(wire.title, MAX_TITLE),
        body=wire.body or "",
        state=one_line(wire.state, 20),
        author=_login(wire.user),
        labels=tuple(one_line(name, 60) for name in names),
        created_at=parse_iso(wire.created_at),
        is_pull=wire.pull_request is not None,
        url=web_url(wire.html_url),
    )


def _login(user: _User | None) -> str:
    return one_line(user.login, 60) if user and user.login else "ghost"
