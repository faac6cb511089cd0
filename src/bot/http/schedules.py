"""``/admin/schedules``, the tick, and ``/admin/ticks``.

Whatever changes a schedule goes through the registry, by the same door as chat.
"""

from __future__ import annotations

import re

from bot.http.body import StrictBody
from bot.http.values import Request, Response, int_query, json_response
from bot.http.visit import Route, Visit
from bot.schedules import listing
from bot.schedules.tick import tick
from bot.times import parse_iso
from bot.words import Code, Refused

MAX_PREVIEW = 50
MAX_FIRINGS = 200
_LAST_MS = 253_370_764_800_000
"""The start of the year 9999: the latest time that a query may name."""


class NewSchedule(StrictBody):
    """The body of ``POST /admin/schedules``: the row's names. One not ``enabled`` is paused."""

    name: str
    cron: str
    channel: str
    text: str
    thread: str | None = None
    zone: str | None = None
    window: str | None = None
    grants: list[str] | None = None
    enabled: bool = True


class Reason(StrictBody):
    """The body of ``/pause``; it may be left out."""

    reason: str | None = None


async def run_tick(visit: Visit, body: None) -> Response | Refused:
    """The tick: claims and admits what is due, and waits for no run."""
    return json_response((await tick(visit.house)).to_json())


async def list_all(visit: Visit, body: None) -> Response | Refused:
    """Both kinds of schedule."""
    return await visit.command("schedule list", {})


async def add(visit: Visit, body: NewSchedule) -> Response | Refused:
    """Add a schedule; 201 with its row."""
    args = {**body.model_dump(), "grants": body.grants or []}
    return await visit.command("schedule add", args, status=201)


async def show(visit: Visit, body: None) -> Response | Refused:
    """One schedule."""
    return await visit.command("schedule show", visit.params)


async def remove(visit: Visit, body: None) -> Response | Refused:
    """Remove one."""
    return await visit.command("schedule remove", visit.params)


async def fire(visit: Visit, body: None) -> Response | Refused:
    """Fire one, once; 202 with the run."""
    return await visit.command("schedule fire", visit.params, status=202)


async def pause(visit: Visit, body: Reason) -> Response | Refused:
    """Pause one, with a reason or without."""
    return await visit.command("schedule pause", {**visit.params, "reason": body.reason})


async def resume(visit: Visit, body: None) -> Response | Refused:
    """Resume one."""
    return await visit.command("schedule resume", visit.params)


async def preview(visit: Visit, body: None) -> Response | Refused:
    """What an expression means, and its next ``n`` fires strictly after ``from``.

    Without an expression it is the schedule named ``preview``, where there is one.
    """
    request = visit.request
    cron = request.query.get("cron")
    if cron is None:
        row = await visit.command("schedule show", {"name": "preview"})
        if isinstance(row, Refused) and row.code is Code.NO_SCHEDULE:
            return Refused(Code.BAD_REQUEST, "The query lacks cron.")
        return row
    from_ms = _moment(request, "from", default=visit.now_ms)
    if isinstance(from_ms, Refused):
        return from_ms
    n = int_query(request, "n", default=listing.NEXT, low=1, high=MAX_PREVIEW)
    if isinstance(n, Refused):
        return n
    zone = request.query.get("zone")
    return await visit.command(
        "schedule preview", {"cron": cron, "zone": zone, "from_ms": from_ms, "n": n}
    )


async def firings(visit: Visit, body: None) -> Response | Refused:
    """A schedule's firings, newest first, claimed before ``before``."""
    limit = int_query(visit.request, "limit", default=50, low=1, high=MAX_FIRINGS)
    if isinstance(limit, Refused):
        return limit
    before = None
    if "before" in visit.request.query:
        before = _moment(visit.request, "before", default=_LAST_MS)
        if isinstance(before, Refused):
            return before
    found = await listing.firings(visit.house, visit.params["name"], limit, before)
    if isinstance(found, Refused):
        return found
    return visit.polled({"firings": found})


async def strips(visit: Visit, body: None) -> Response | Refused:
    """The firings of every schedule and the ticks, by bucket of time, of one ``span``."""
    span = visit.request.query.get("span", "24h")
    if span not in listing.STRIPS:
        words = " or ".join(listing.STRIPS)
        return Refused(Code.BAD_VALUE, f"span is {span[:40]!r}; it takes {words}.")
    return visit.polled(await listing.strips(visit.house, span, visit.now_ms))


async def ticks(visit: Visit, body: None) -> Response | Refused:
    """Tick statistics."""
    return visit.polled(await listing.ticks(visit.house, visit.now_ms))


def _moment(request: Request, name: str, *, default: int) -> int | Refused:
    """A time of the query, ISO 8601 or epoch milliseconds, as milliseconds."""
    text = request.query.get(name)
    if text is None:
        return default
    # A plus that was not written as %2B arrives as a blank.
    text = re.sub(r" (?=\d\d:?\d\d$)", "+", text)
    at_ms = int(text) if re.fullmatch(r"[0-9]{1,15}", text) else parse_iso(text)
    if at_ms is not None and 0 <= at_ms < _LAST_MS:
        return at_ms
    return Refused(
        Code.BAD_VALUE,
        f"{name} is {text[:40]!r}; it takes an ISO 8601 time (a + written %2B) or epoch "
        "milliseconds.",
    )


ROUTES = (
    Route("POST", "/admin/schedules/tick", run_tick),
    Route("GET", "/admin/schedules", list_all),
    Route("POST", "/admin/schedules", add, NewSchedule),
    Route("GET", "/admin/schedules/preview", preview),
    Route("GET", "/admin/schedules/{name}", show),
    Route("DELETE", "/admin/schedules/{name}", remove),
    Route("POST", "/admin/schedules/{name}/fire", fire),
    Route("POST", "/admin/schedules/{name}/pause", pause, Reason),
    Route("POST", "/admin/schedules/{name}/resume", resume),
    Route("GET", "/admin/schedules/{name}/firings", firings),
    Route("GET", "/admin/strips", strips),
    Route("GET", "/admin/ticks", ticks),
)
