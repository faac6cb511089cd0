"""Opening an issue once for one call of a run, whatever is lost or repeated on the way."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent import issues
from bot.agent.github import GitHub, one_line
from bot.agent.issues import Issue
from bot.agent.marker import carries, keys_in, signed
from bot.runs.ledger import Run
from bot.words import Code, Refused

MAX_A_RUN = 50
"""Issues that one run may open."""
MAX_LOOKED = 10
"""Pages of the newest issues that are searched for the run's own."""
_SKEW_MS = 60 * 60_000


@dataclass(frozen=True, slots=True)
class Opening:
    """The issue, and whether this call opened it or found it open."""

    issue: Issue
    found: bool


async def open_issue(
    github: GitHub, repo: str, *, title: str, body: str, run: Run, key: str, now_ms: int
) -> Opening | Refused:
    """Open an issue unless this run has: it looks, writes, and looks again if no answer came.

    What the run opened is known by the marker in its body. The same ``key`` is the same call,
    run again after a kill; the same title is the model's own repetition; both are found, open
    or closed. Where GitHub cannot be asked, nothing is written. Refuses ``too_many`` after
    ``MAX_A_RUN``, and passes on the codes of ``GitHub.call``.
    """
    line = one_line(title, issues.MAX_TITLE)
    if not line:
        return Refused(Code.BAD_VALUE, "An issue needs a title.")
    own = await issues_of(github, repo, run, now_ms=now_ms)
    if isinstance(own, Refused):
        return own
    known = _known(own, run, key, line)
    if known is not None:
        return Opening(known, found=True)
    if len(own) >= MAX_A_RUN:
        return Refused(Code.TOO_MANY, f"This run has opened {len(own)} issues; that is the most.")
    made = await issues.create(github, repo, title=line, body=signed(body, run, key), now_ms=now_ms)
    if isinstance(made, Issue):
        return Opening(made, found=False)
    if made.code is not Code.GITHUB_UNAVAILABLE:
        return made
    own = await issues_of(github, repo, run, now_ms=now_ms)
    known = None if isinstance(own, Refused) else _known(own, run, key, line)
    if known is not None:
        return Opening(known, found=False)
    return Refused(
        Code.GITHUB_UNAVAILABLE,
        "GitHub did not answer, and it is not known whether the issue was opened. Call again "
        "with the same title: it is not opened twice.",
    )


async def issues_of(github: GitHub, repo: str, run: Run, *, now_ms: int) -> list[Issue] | Refused:
    """The issues in ``repo`` that carry ``run``'s marker, open and closed, newest first.

    They are looked for from the newest back to an hour before the run was admitted: the first
    page always, so that clocks that disagree hide nothing, and ``MAX_LOOKED`` at most.
    """
    own: list[Issue] = []
    for number in range(1, MAX_LOOKED + 1):
        page = await issues.page(github, repo, state="all", number=number, now_ms=now_ms)
        if isinstance(page, Refused):
            return page
        own += [i for i in page.issues if not i.is_pull and keys_in(i.body, run.id)]
        oldest = page.issues[-1].created_at if page.issues else None
        if not page.more or (oldest is not None and oldest < run.admitted_at - _SKEW_MS):
            break
    return own


def _known(own: list[Issue], run: Run, key: str, title: str) -> Issue | None:
    same_call = (each for each in own if carries(each.body, run.id, key))
    same_title = (each for each in own if each.title.casefold() == title.casefold())
    return next(same_call, None) or next(same_title, None)
