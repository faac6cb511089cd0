"""A repository's default branch, the tips of branches, and making a new one."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.agent.contents import READ, WRITE
from bot.agent.github import GitHub, Subject, unreadable
from bot.agent.paths import quoted
from bot.words import Code, Refused


async def default_branch(github: GitHub, repo: str, *, now_ms: int) -> str | Refused:
    """The name of the branch that people merge into."""
    subject = Subject(repo, READ)
    answer = await github.call("GET", f"/repos/{repo}", subject, now_ms=now_ms)
    if isinstance(answer, Refused):
        return answer
    try:
        return _Repository.model_validate(answer.body).default_branch
    except ValidationError:
        return unreadable(subject)


async def tip(github: GitHub, repo: str, branch: str, *, now_ms: int) -> str | Refused | None:
    """The commit at the end of a branch; None where there is no such branch.

    GitHub says "not found" of a repository that it hides as well: ask ``default_branch`` first
    where that matters.
    """
    subject = Subject(f"the branch {branch} of {repo}", READ)
    path = f"/repos/{repo}/git/ref/heads/{quoted(branch)}"
    answer = await github.call("GET", path, subject, now_ms=now_ms)
    if isinstance(answer, Refused):
        return None if answer.code is Code.GITHUB_NOT_FOUND else answer
    try:
        return _Ref.model_validate(answer.body).object.sha
    except ValidationError:
        return unreadable(subject)


async def create(
    github: GitHub, repo: str, branch: str, *, sha: str, now_ms: int
) -> Refused | None:
    """Make ``branch`` at the commit ``sha``; ``bad_value`` where it exists. None: it is made."""
    subject = Subject(f"the branch {branch} of {repo}", WRITE)
    body = {"ref": f"refs/heads/{branch}", "sha": sha}
    answer = await github.call("POST", f"/repos/{repo}/git/refs", subject, now_ms=now_ms, body=body)
    return answer if isinstance(answer, Refused) else None


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Repository(_Wire):
    default_branch: str


class _Object(_Wire):
    sha: str


class _Ref(_Wire):
    object: _Object
