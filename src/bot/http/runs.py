"""``/admin/runs``: the ledger."""

from __future__ import annotations

from bot.http.values import Response, int_query
from bot.http.visit import Route, Visit
from bot.runs import ledger
from bot.runs.privacy import reader_of
from bot.runs.view import run_json
from bot.words import Code, Refused, State

MAX_RUNS = 200


async def list_runs(visit: Visit, body: None) -> Response | Refused:
    """The newest runs, filtered by ``state`` and by the ``name`` of their schedule or job."""
    limit = int_query(visit.request, "limit", default=50, low=1, high=MAX_RUNS)
    if isinstance(limit, Refused):
        return limit
    state = visit.request.query.get("state") or None
    if state is not None and state not in set(State):
        words = ", ".join(State)
        return Refused(Code.BAD_VALUE, f"state is {state[:40]!r}; it takes one of {words}.")
    name = visit.request.query.get("name") or None
    reader = reader_of(visit.actor, await visit.grants())
    found = await ledger.recent(visit.house.db, state=state, name=name, limit=limit, reader=reader)
    return visit.polled({"runs": [run_json(run) for run in found]})


async def show(visit: Visit, body: None) -> Response | Refused:
    """One run."""
    return await visit.command("run show", visit.params)


ROUTES = (
    Route("GET", "/admin/runs", list_runs),
    Route("GET", "/admin/runs/{id}", show),
)
