"""Creating, listing and deleting jobs: the one way for commands, the tool and the routes.

Each surface says what is said here, refusals word for word, and what a person is told of a job
comes from its row (contract §7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.authz.actor import Actor
from bot.jobs import store
from bot.jobs.job import Job, fires
from bot.jobs.spec import Once, describe, parse_when
from bot.jobs.store import MAX_JOBS_PER_USER, BrokenJob
from bot.ports import House
from bot.times import iso, iso_or_none
from bot.words import Code, Refused, State

MAX_NAME = 80
MAX_PROMPT = 4_000
SHOWN_FIRES = 3
STARTING_MS = 30_000
"""How long a claim without a run is called ``starting``."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody wrote of a job to be, of whatever type it came in."""

    name: object = None
    prompt: object = None
    schedule: object = None
    run_in_minutes: object = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A job as people see it: its view for programs, its line for people."""

    view: dict[str, Any]
    line: str


def job_id_of(call_id: str) -> str:
    """The id of the job that a call makes: the same one when its step runs again."""
    return hashlib.sha256(f"job {call_id}".encode()).hexdigest()[:20]


async def create(
    house: House,
    owner: Actor,
    draft: Draft,
    *,
    job_id: str,
    now_ms: int,
    thread: str | None = None,
    by_agent: bool = False,
) -> Job | Refused:
    """Store a new job of ``owner``, or say why not.

    ``thread`` is where it was asked for: its results are told there unless the owner has linked
    a chat. ``by_agent``: an agent wrote the prompt. The job counts from the second of its making,
    which is what people are shown. An id that is the owner's already is the same call repeated,
    and is answered as made.
    """
    made_at = now_ms - now_ms % 1000
    spec = parse_when(draft.schedule, draft.run_in_minutes, made_at)
    name, prompt = _name(draft.name), _prompt(draft.prompt)
    for refusal in (not_a_person(owner), name, prompt, spec):
        if isinstance(refusal, Refused):
            return refusal
    assert isinstance(name, str) and isinstance(prompt, str) and not isinstance(spec, Refused)
    job = Job(job_id, owner.id, name, prompt, spec, made_at, thread=thread, by_agent=by_agent)
    if await store.insert(house.db, job):
        return job
    known = await store.get(house.db, owner.id, job_id)
    if isinstance(known, Job):
        return known
    return Refused(
        Code.TOO_MANY,
        f"job limit reached ({MAX_JOBS_PER_USER}). Delete one that is no longer needed first.",
    )


async def list_jobs(house: House, owner: Actor, now_ms: int) -> list[Listed] | Refused:
    """The owner's jobs, oldest first, each with its next fires and how it ran last."""
    refusal = not_a_person(owner)
    if refusal is not None:
        return refusal
    return [_listed(job, last, now_ms) for job, last in await store.listed(house.db, owner.id)]


async def delete(house: House, owner: Actor, job_id: str) -> Refused | None:
    """Delete a job; None where it is deleted. A run under way ends undisturbed.

    ``not_found`` for an id that is nobody's and for another's, alike.
    """
    refusal = not_a_person(owner)
    if refusal is None and not await store.delete(house.db, owner.id, job_id):
        refusal = no_job(job_id)
    return refusal


def not_a_person(owner: Actor) -> Refused | None:
    """Whether the actor can have jobs; None is yes."""
    if owner.is_person:
        return None
    return Refused(Code.NOT_A_PERSON, f"{owner} is not a person, and only people have jobs.")


def no_job(job_id: str) -> Refused:
    """The refusal of a job that is not the asker's, or nobody's."""
    return Refused(Code.NOT_FOUND, f"You have no job {job_id[:60]!r}. See job list.")


def receipt(job: Job, now_ms: int) -> str:
    """What a person is told of a job that was just made, from its row."""
    following = ", ".join(iso(at) for at in fires(job, now_ms, SHOWN_FIRES))
    what = f"Job {job.name} ({job.id}) runs {describe(job.spec)}: {_short(job.prompt)}"
    return f"{what}\nNext: {following}."


def deleted(job_id: str) -> str:
    """What a person is told of a job that was deleted."""
    return f"Job {job_id} is deleted and fires no more. A run under way ends undisturbed."


def listing(jobs: list[Listed]) -> str:
    """The list, for people."""
    return "\n".join(each.line for each in jobs) or "You have no jobs."


def view_of(job: Job, now_ms: int, last: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The job as the routes show it (contract §7), with ISO times."""
    once = isinstance(job.spec, Once)
    return {
        "id": job.id,
        "user_id": job.user_id,
        "name": job.name,
        "prompt": job.prompt,
        "schedule": None if isinstance(job.spec, Once) else job.spec.text,
        "run_at": iso(job.spec.run_at) if isinstance(job.spec, Once) else None,
        "enabled": job.enabled,
        "created_at": iso(job.created_at),
        "last_fired_at": iso_or_none(job.last_fired_at),
        "describe": describe(job.spec),
        "next": [iso(at) for at in fires(job, now_ms, 1 if once else SHOWN_FIRES)],
        "last": _last(last, now_ms),
    }


def _listed(job: Job | BrokenJob, last: Mapping[str, Any] | None, now_ms: int) -> Listed:
    broken = isinstance(job, BrokenJob)
    row = job.job if isinstance(job, BrokenJob) else job
    view = view_of(row, now_ms, last)
    if broken:
        view |= {"describe": f"cannot be read: {job.reason}", "next": [], "run_at": None}
    parts = [row.id, row.name, view["describe"]]
    if view["next"]:
        parts.append(f"next {view['next'][0]}")
    elif not row.enabled:
        parts.append("off")
    if view["last"] is not None:
        code = f": {view['last']['code']}" if view["last"]["code"] else ""
        parts.append(f"last {view['last']['claimed_at']} → {view['last']['state']}{code}")
        push = view["last"]["push"]
        if push is not None and push != "delivered":
            parts.append(f"push {push}")
    return Listed(view, " · ".join(parts))


def _last(row: Mapping[str, Any] | None, now_ms: int) -> dict[str, Any] | None:
    if row is None:
        return None
    state: str | None = row["state"]
    if state is None:
        young = 0 <= now_ms - row["claimed_at"] < STARTING_MS
        state = State.STARTING if young else State.CLAIMED_NOT_STARTED
    return {
        "run_id": row["run_id"],
        "due_at": iso_or_none(row["due_at"]),
        "claimed_at": iso(row["claimed_at"]),
        "trigger": row["trigger"],
        "state": state,
        "code": row["code"],
        "push": row["push"],
    }


def _name(value: object) -> str | Refused:
    if not isinstance(value, str):
        return Refused(Code.BAD_NAME, "A job has a name: 1 to 80 characters on one line.")
    name = value.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        return Refused(
            Code.BAD_NAME,
            f"{value[:80]!r} is not a job's name. Use 1 to {MAX_NAME} characters on one line.",
        )
    return name


def _prompt(value: object) -> str | Refused:
    if not isinstance(value, str):
        return Refused(Code.BAD_TEXT, "A job has a prompt: the text that it runs each time.")
    prompt = value.strip()
    if not prompt:
        return Refused(Code.BAD_TEXT, "The prompt is empty. Say what the job is to do each time.")
    if len(prompt) > MAX_PROMPT:
        return Refused(
            Code.BAD_TEXT, f"The prompt has {len(prompt):,} characters of {MAX_PROMPT:,}."
        )
    if "\0" in prompt:
        return Refused(Code.BAD_TEXT, "The prompt holds a NUL character.")
    return prompt


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
