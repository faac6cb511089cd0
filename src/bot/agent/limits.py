"""The ceilings of an agent turn, from the org document (``config set agent.max_steps 40``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.runs.ending import Ending, failed
from bot.runs.ledger import Run
from bot.words import Code, Source

JOB_DEADLINE_S = 50
"""How long a job's turn may take (contract §7)."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One setting: its default and its bounds."""

    default: int
    low: int
    high: int


CEILINGS = {
    "agent.max_steps": Ceiling(60, 1, 200),
    "agent.max_tokens": Ceiling(500_000, 1_000, 5_000_000),
    # The watchdog ends any run after thirty minutes.
    "agent.deadline_s": Ceiling(900, 5, 1_500),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many steps (calls of a model or a tool), tokens and seconds a turn may take."""

    max_steps: int
    max_tokens: int
    deadline_s: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What a turn took so far."""

    steps: int = 0
    tokens: int = 0


def limits_of(entries: Mapping[str, Any], run: Run) -> Limits:
    """A run's ceilings: those that the org document sets, and a job's own deadline.

    A value out of bounds counts as the default.
    """
    limits = Limits(*(_read(entries.get(key), ceiling) for key, ceiling in CEILINGS.items()))
    if run.source != Source.JOB:
        return limits
    return replace(limits, deadline_s=min(limits.deadline_s, JOB_DEADLINE_S))


def bad_ceiling(key: str, value: Any) -> str | None:
    """What is wrong with a value for one of these keys; None for a good one or another key."""
    ceiling = CEILINGS.get(key)
    if ceiling is None or _fits(value, ceiling):
        return None
    return f"{key} is a whole number from {ceiling.low:,} to {ceiling.high:,}."


def deadline_ms(run: Run, limits: Limits) -> int:
    """When the turn is over, in epoch milliseconds: counted from its first step."""
    return _begun_at(run) + limits.deadline_s * 1000


def job_deadline_ms(run: Run) -> int:
    """When a job's turn is over at the latest, in epoch milliseconds."""
    return _begun_at(run) + JOB_DEADLINE_S * 1000


def passed(run: Run, limits: Limits, spent: Spent, now_ms: int) -> Ending | None:
    """How the turn ends by its ceilings, asked before each step; None where it may go on."""
    if now_ms >= deadline_ms(run, limits):
        return late(limits.deadline_s)
    if spent.steps >= limits.max_steps:
        return failed(
            Code.TOO_MANY_STEPS,
            f"The agent took its {limits.max_steps:,} steps and had not finished "
            "(config agent.max_steps).",
        )
    if spent.tokens >= limits.max_tokens:
        return failed(
            Code.TOO_MANY_TOKENS,
            f"The agent used {spent.tokens:,} tokens and had not finished; it may use "
            f"{limits.max_tokens:,} (config agent.max_tokens).",
        )
    return None


def late(deadline_s: int) -> Ending:
    """The end of a turn that passed its deadline."""
    return failed(Code.TIMED_OUT, f"The turn had not finished after {deadline_s:,} seconds.")


def _begun_at(run: Run) -> int:
    return run.started_at or run.admitted_at


def _read(value: Any, ceiling: Ceiling) -> int:
    return value if _fits(value, ceiling) else ceiling.default


def _fits(value: Any, ceiling: Ceiling) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and ceiling.low <= value <= ceiling.high
