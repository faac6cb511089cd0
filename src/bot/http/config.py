"""``/admin/config/{tier}``: a document, read and swapped."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bot.authz.grants import Grant
from bot.commands.config import bad_entry
from bot.http.body import StrictBody
from bot.http.problem import problem
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.words import Code, Refused
from config_do.documents import TIER


class Change(StrictBody):
    """The body of ``PUT``: the version it was read at, and entries to write (null removes)."""

    expectedVersion: int = Field(ge=0)  # noqa: N815 - the contract's own name
    changes: dict[str, Any]


async def read(visit: Visit, body: None) -> Response | Refused:
    """The document of a tier."""
    tier = visit.params["tier"]
    refusal = _bad_tier(tier)
    if refusal is not None:
        return refusal
    document = await visit.house.config.read(tier)
    return json_response({"version": document.version, "entries": dict(document.entries)})


async def write(visit: Visit, body: Change) -> Response | Refused:
    """Swap entries under ``expectedVersion``; 409 with the version that stands where it lost."""
    tier = visit.params["tier"]
    refusal = _bad_tier(tier) or _bad_changes(body.changes, await visit.grants())
    if refusal is not None:
        return refusal
    swap = await visit.house.config.swap(tier, body.expectedVersion, body.changes)
    if swap.won:
        return json_response({"version": swap.version})
    if swap.refusal is not None:
        return Refused(Code.DOCUMENT_TOO_LARGE, swap.refusal)
    lost = Refused(
        Code.CONFLICT,
        f"The document is at version {swap.version}, not {body.expectedVersion}. Read it again.",
    )
    return problem(lost, {"version": swap.version})


def _bad_tier(tier: str) -> Refused | None:
    if TIER.fullmatch(tier):
        return None
    return Refused(Code.BAD_TIER, f"{tier[:80]!r} is not a tier. The organisation's is org.")


def _bad_changes(changes: dict[str, Any], held: tuple[Grant, ...]) -> Refused | None:
    if not changes:
        return Refused(Code.BAD_VALUE, "changes names no key.")
    for key, value in changes.items():
        refusal = bad_entry(key, value, held)
        if refusal is not None:
            return refusal
    return None


ROUTES = (
    Route("GET", "/admin/config/{tier}", read),
    Route("PUT", "/admin/config/{tier}", write, Change),
)
