"""A job: one person's reminder or routine, as a value. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.jobs.spec import Once, Recurring, Spec


@dataclass(frozen=True, slots=True)
class Job:
    """One stored job. Times are epoch milliseconds.

    ``last_fired_at`` is its last claim and the base that the next due instant is counted from.
    ``thread`` is where it was made, if in a thread. ``version`` grows with every claim, and a
    claim holds for one version alone. ``by_agent``: an agent wrote the prompt, at its owner's
    word, and it is never read as a command.
    """

    id: str
    user_id: str
    name: str
    prompt: str
    spec: Spec
    created_at: int
    last_fired_at: int | None = None
    enabled: bool = True
    thread: str | None = None
    version: int = 1
    by_agent: bool = False

    @property
    def base(self) -> int:
        """What a recurring job's next due instant comes strictly after."""
        return self.created_at if self.last_fired_at is None else self.last_fired_at

    @property
    def next_at(self) -> int | None:
        """The next due instant as the index keeps it; None where the job is off.

        Counted from the base alone, whatever the time is now: under a sane clock it is the
        first instant at which ``decide`` does not skip the job.
        """
        if not self.enabled:
            return None
        if isinstance(self.spec, Once):
            return self.spec.run_at
        return self.spec.after(self.base, self.created_at)


def fires(job: Job, now_ms: int, count: int) -> list[int]:
    """The next ``count`` due instants after ``now_ms``; fewer where there are not so many."""
    if not job.enabled:
        return []
    if isinstance(job.spec, Once):
        return [job.spec.run_at][:count]
    return _following(job.spec, job.created_at, max(job.base, now_ms), count)


def _following(spec: Recurring, created_at: int, base: int, count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        base = spec.after(base, created_at)
        found.append(base)
    return found
