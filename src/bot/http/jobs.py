"""The jobs' routes: ``/api/jobs`` with a session, ``/jobs`` and ``/api/job-run`` with the
internal key, and the caller's events.

Whatever names another person's job is 404, by whichever door (contract §7).
"""

from __future__ import annotations

from typing import Any, ClassVar

from bot import events
from bot.agent.limits import JOB_DEADLINE_S
from bot.authz.actor import Actor, parse_actor
from bot.channels.web import END
from bot.http import turns
from bot.http.body import StrictBody
from bot.http.values import Response, int_query, json_response
from bot.http.visit import Route, Visit
from bot.jobs import hand, service
from bot.jobs.service import Draft
from bot.ports import House
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.runs.watchdog import end
from bot.words import Code, Refused

GRACE_MS = 5_000
"""How much longer than a job's deadline the route waits, so that the turn ends itself."""


class NewJob(StrictBody):
    """The body of ``POST /api/jobs``. Values of any type: what is wrong with one is said in the
    words of the service."""

    non_finite: ClassVar[bool] = True

    name: Any = None
    prompt: Any = None
    schedule: Any = None
    run_in_minutes: Any = None

    def draft(self) -> Draft:
        """What it asks for."""
        return Draft(self.name, self.prompt, self.schedule, self.run_in_minutes)


class NewJobOf(NewJob):
    """The body of ``POST /jobs``."""

    userId: Any = None  # noqa: N815 - the contract's own name


class NamedJob(StrictBody):
    """The body of ``DELETE /jobs`` and ``POST /api/job-run``."""

    userId: Any = None  # noqa: N815 - the contract's own name
    id: Any = None


async def list_own(visit: Visit, body: None) -> Response | Refused:
    """The caller's jobs."""
    return await _list(visit, visit.actor)


async def add_own(visit: Visit, body: NewJob) -> Response | Refused:
    """A new job of the caller's; 201."""
    return await _add(visit, visit.actor, body.draft())


async def delete_own(visit: Visit, body: None) -> Response | Refused:
    """Delete one of the caller's jobs."""
    return await _delete(visit, visit.actor, visit.request.query.get("id"))


async def list_of(visit: Visit, body: None) -> Response | Refused:
    """The jobs of ``userId``."""
    owner = _owner(visit.request.query.get("userId"))
    return owner if isinstance(owner, Refused) else await _list(visit, owner)


async def add_of(visit: Visit, body: NewJobOf) -> Response | Refused:
    """A new job of ``userId``'s; 201."""
    owner = _owner(body.userId)
    return owner if isinstance(owner, Refused) else await _add(visit, owner, body.draft())


async def delete_of(visit: Visit, body: NamedJob) -> Response | Refused:
    """Delete a job of ``userId``'s."""
    owner = _owner(body.userId)
    return owner if isinstance(owner, Refused) else await _delete(visit, owner, body.id)


async def run_of(visit: Visit, body: NamedJob) -> Response | Refused:
    """Run a job of ``userId``'s once by hand, and wait for its end or its deadline.

    Its slot stays as it is. A run that the engine does not bring to an end in time is ended
    from here, ``timed_out``.
    """
    house = visit.house
    owner = _owner(body.userId)
    if isinstance(owner, Refused):
        return owner
    job_id = _id(body.id)
    if isinstance(job_id, Refused):
        return job_id
    run_id = await hand.begin(house, owner, job_id, call_id=house.ids.new(), now_ms=visit.now_ms)
    if isinstance(run_id, Refused):
        return run_id
    run = await turns.wait(house, run_id, JOB_DEADLINE_S * 1000 + GRACE_MS)
    run = run or await _cut_off(house, run_id)
    if run is None:
        return Refused(Code.INTERNAL, "The run was admitted and is not in the ledger.")
    return json_response(
        {
            "run_id": run.id,
            "job_id": run.row_id,
            "state": run.state,
            "code": run.code,
            "output": run.output,
        }
    )


async def own_events(visit: Visit, body: None) -> Response | Refused:
    """The caller's events with a ``seq`` over ``after``, oldest first."""
    after = int_query(visit.request, "after", default=0, low=0, high=END)
    if isinstance(after, Refused):
        return after
    found = await events.after(visit.house.db, visit.actor.id, after)
    return visit.polled({"events": found})


async def _list(visit: Visit, owner: Actor) -> Response | Refused:
    jobs = await service.list_jobs(visit.house, owner, visit.now_ms)
    if isinstance(jobs, Refused):
        return jobs
    return visit.polled({"jobs": [each.view for each in jobs]})


async def _add(visit: Visit, owner: Actor, draft: Draft) -> Response | Refused:
    house, now_ms = visit.house, visit.now_ms
    job = await service.create(house, owner, draft, job_id=house.ids.new(), now_ms=now_ms)
    if isinstance(job, Refused):
        return job
    view = service.view_of(job, now_ms)
    return json_response({**view, "text": service.receipt(job, now_ms)}, 201)


async def _delete(visit: Visit, owner: Actor, value: object) -> Response | Refused:
    job_id = _id(value)
    if isinstance(job_id, Refused):
        return job_id
    refusal = await service.delete(visit.house, owner, job_id)
    return refusal or json_response({"id": job_id, "removed": True})


async def _cut_off(house: House, run_id: str) -> Run | None:
    run = await ledger.get(house.db, run_id)
    if run is None or not run.live:
        return run
    await end(house, run, Code.TIMED_OUT, house.clock.now_ms())
    await house.engine.stop(run_id)
    return await ledger.get(house.db, run_id)


def _owner(value: object) -> Actor | Refused:
    """The person that ``userId`` names."""
    owner = parse_actor(value) if isinstance(value, str) else None
    if isinstance(owner, Actor) and owner.is_person:
        return owner
    if isinstance(owner, Refused):
        return owner
    shown = owner or f"{value!r:.40}"
    return Refused(Code.BAD_ACTOR, f"userId is the id of a person, such as web:alice, not {shown}.")


def _id(value: object) -> str | Refused:
    if isinstance(value, str) and value:
        return value
    return Refused(Code.BAD_VALUE, "id is the id of a job. See job list.")


ROUTES = (
    Route("GET", "/api/jobs", list_own),
    Route("POST", "/api/jobs", add_own, NewJob),
    Route("DELETE", "/api/jobs", delete_own),
    Route("GET", "/jobs", list_of),
    Route("POST", "/jobs", add_of, NewJobOf),
    Route("DELETE", "/jobs", delete_of, NamedJob),
    Route("POST", "/api/job-run", run_of, NamedJob),
    Route("GET", "/api/events", own_events),
)
