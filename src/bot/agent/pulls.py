"""A repository's pull requests: listed, read with their changed files, found by head, opened."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bot.agent.github import Answer, GitHub, Subject, one_line, unreadable
from bot.agent.issues import MAX_TITLE, web_url
from bot.ports import Json
from bot.words import Refused

READ = 'the repository permission "Pull requests: read" (a classic token: the scope repo)'
WRITE = 'the repository permission "Pull requests: write" (a classic token: the scope repo)'
PAGE = 50
MAX_FILES = 100


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. ``body`` is raw; the other texts are single clean lines.

    ``head`` is ``OWNER:BRANCH``, ``base`` a branch of the repository itself.
    """

    number: int
    title: str
    body: str
    state: str
    draft: bool
    merged: bool
    author: str
    head: str
    base: str
    url: str


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a pull request changes; ``patch`` is raw, empty where GitHub gives none."""

    path: str
    status: str
    additions: int
    deletions: int
    patch: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page of pull requests, newest first; ``more`` where another follows."""

    pulls: tuple[Pull, ...]
    more: bool


async def page(
    github: GitHub, repo: str, *, state: str, number: int, now_ms: int
) -> Page | Refused:
    """Page ``number`` (from 1) of the pull requests; ``state`` is open, closed or all."""
    return await _page(github, repo, {"state": state, "page": number}, now_ms)


async def of_branch(
    github: GitHub, repo: str, branch: str, *, now_ms: int
) -> Pull | Refused | None:
    """The newest pull request, open or not, that ``branch`` of ``repo`` is the head of."""
    head = f"{repo.partition('/')[0]}:{branch}"
    found = await _page(github, repo, {"state": "all", "head": head}, now_ms)
    if isinstance(found, Refused):
        return found
    # GitHub drops a filter that it cannot read, and lists every pull request then.
    return next((pull for pull in found.pulls if pull.head.lower() == head.lower()), None)


async def read(github: GitHub, repo: str, number: int, *, now_ms: int) -> Pull | Refused:
    """One pull request by its number."""
    subject = Subject(f"pull request {number} of {repo}", READ)
    path = f"/repos/{repo}/pulls/{number}"
    return _read(await github.call("GET", path, subject, now_ms=now_ms), subject)


async def changes(
    github: GitHub, repo: str, number: int, *, now_ms: int
) -> tuple[Change, ...] | Refused:
    """The first ``MAX_FILES`` files that a pull request changes."""
    subject = Subject(f"pull request {number} of {repo}", READ)
    answer = await github.call(
        "GET",
        f"/repos/{repo}/pulls/{number}/files",
        subject,
        now_ms=now_ms,
        query={"per_page": MAX_FILES},
    )
    if isinstance(answer, Refused):
        return answer
    try:
        wires = _CHANGES.validate_python(answer.body)
    except ValidationError:
        return unreadable(subject)
    return tuple(
        Change(
            one_line(each.filename, 400),
            one_line(each.status, 20),
            each.additions,
            each.deletions,
            each.patch,
        )
        for each in wires
    )


async def create(
    github: GitHub, repo: str, *, title: str, body: str, head: str, base: str, now_ms: int
) -> Pull | Refused:
    """Open a pull request; ``bad_value`` where there is one, or nothing to merge."""
    subject = Subject(f"the pull requests of {repo}", WRITE)
    sent: Json = {"title": title, "body": body, "head": head, "base": base}
    path = f"/repos/{repo}/pulls"
    return _read(await github.call("POST", path, subject, now_ms=now_ms, body=sent), subject)


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _User(_Wire):
    login: str = ""


class _Head(_Wire):
    label: str


class _Base(_Wire):
    ref: str


class _Pull(_Wire):
    number: int
    title: str
    state: str
    head: _Head
    base: _Base
    html_url: str = ""
    body: str | None = None
    draft: bool = False
    merged_at: str | None = None
    user: _User | None = None


class _Change(_Wire):
    filename: str
    status: str
    additions: int = 0
    deletions: int = 0
    patch: str = ""


_PULLS = TypeAdapter(list[_Pull])
_CHANGES = TypeAdapter(list[_Change])


async def _page(
    github: GitHub, repo: str, query: dict[str, str | int], now_ms: int
) -> Page | Refused:
    subject = Subject(f"the pull requests of {repo}", READ)
    path = f"/repos/{repo}/pulls"
    asked = {"sort": "created", "direction": "desc", "per_page": PAGE, **query}
    answer = await github.call("GET", path, subject, now_ms=now_ms, query=asked)
    if isinstance(answer, Refused):
        return answer
    try:
        wires = _PULLS.validate_python(answer.body)
    except ValidationError:
        return unreadable(subject)
    return Page(tuple(_pull(each) for each in wires), answer.next_url is not None)


def _read(answer: Answer | Refused, subject: Subject) -> Pull | Refused:
    if isinstance(answer, Refused):
        return answer
    try:
        return _pull(_Pull.model_validate(answer.body))
    except ValidationError:
        return unreadable(subject)


def _pull(wire: _Pull) -> Pull:
    return Pull(
        number=wire.number,
        title=one_line(wire.title, MAX_TITLE),
        body=wire.body or "",
        state=one_line(wire.state, 20),
        draft=wire.draft,
        merged=wire.merged_at is not None,
        author=one_line(wire.user.login, 60) if wire.user and wire.user.login else "ghost",
        head=one_line(wire.head.label, 250),
        base=one_line(wire.base.ref, 250),
        url=web_url(wire.html_url),
    )
