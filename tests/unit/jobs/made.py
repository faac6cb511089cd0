"""Jobs for tests, made in one line."""

from __future__ import annotations

from typing import Any

from bot.jobs.job import Job
from bot.jobs.spec import Once, Spec, parse_schedule
from bot.words import Refused
from tests.unit.builders import ms

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MADE_AT = ms("2026-03-02T10:07:00+00:00")


def spec(text: str) -> Spec:
    """A recurring schedule that parses, or ``once@ISO``."""
    if text.startswith("once@"):
        return Once(ms(text[5:]))
    made = parse_schedule(text)
    assert not isinstance(made, Refused), made
    return made


def job(schedule: str = "*/30m", **fields: Any) -> Job:
    """A job of alice's, made at 10:07 on a Monday."""
    return Job(
        **{
            "id": "job1",
            "user_id": "web:alice",
            "name": "stretch",
            "prompt": "whoami",
            "spec": spec(schedule),
            "created_at": MADE_AT,
            **fields,
        }
    )
