"""Search in one repository's code, on its default branch."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.agent.contents import READ
from bot.agent.github import GitHub, Subject, unreadable
from bot.words import Code, Refused

MAX_HITS = 50
MAX_WORDS = 8


@dataclass(frozen=True, slots=True)
class Hits:
    """The paths of the files that hold every word, and how many GitHub counts in all."""

    paths: tuple[str, ...]
    total: int


async def search(github: GitHub, repo: str, text: str, *, now_ms: int) -> Hits | Refused:
    """Files of ``repo`` that hold every word of ``text``, at most ``MAX_HITS``.

    Each word goes quoted, so that none is read as one of GitHub's qualifiers (a ``repo:`` of
    the caller's would widen the search); hits of any other repository are left out besides.
    """
    words = text.replace('"', " ").replace("\\", " ").split()
    if not words or len(words) > MAX_WORDS:
        return Refused(Code.BAD_VALUE, f"Search for 1 to {MAX_WORDS} words.")
    subject = Subject(repo, READ)
    answer = await github.call(
        "GET",
        "/search/code",
        subject,
        now_ms=now_ms,
        query={
            "q": " ".join([*(f'"{word}"' for word in words), f"repo:{repo}"]),
            "per_page": MAX_HITS,
        },
    )
    if isinstance(answer, Refused):
        return answer
    try:
        found = _Found.model_validate(answer.body)
    except ValidationError:
        return unreadable(subject)
    ours = [hit for hit in found.items if hit.repository.full_name.lower() == repo.lower()]
    return Hits(tuple(hit.path for hit in ours[:MAX_HITS]), found.total_count)


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Repository(_Wire):
    full_name: str


class _Hit(_Wire):
    path: str
    repository: _Repository


class _Found(_Wire):
    total_count: int
    items: tuple[_Hit, ...]
