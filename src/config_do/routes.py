"""ConfigDO's route table: a method, a path and a body to a reply. Pure.

| route | answers |
|---|---|
| ``GET /documents/{tier}?version=N`` | 200 ``{version, entries}``; 304 while N is its version |
| ``PUT /documents/{tier}`` ``{expectedVersion, changes, upkeep?}`` | 200 or 409 ``{version}`` |

Malformed is 400, over a limit 422 ``document_too_large``; neither writes anything. ``?version=``
is how ``If-None-Match`` comes in: the RPC door has no headers.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bot.objects import (
    Body,
    Call,
    Reply,
    malformed,
    parse_call,
    refusal,
    reply,
    validated,
)
from bot.words import Code
from config_do.documents import TIER, Documents, Lost, TooLarge, bad_change


class _Change(Body):
    expected_version: int = Field(alias="expectedVersion", ge=0)
    changes: dict[str, Any]
    upkeep: bool = False


def answer(documents: Documents, method: str, path: str, body: str | None) -> Reply:
    """The reply to one call."""
    call = parse_call(method, path, body)
    match call.parts:
        case ("documents", tier):
            if not TIER.fullmatch(tier):
                return malformed("A tier is named like org or user:web:alice, in lower case.")
            match call.method:
                case "GET":
                    return _read(documents, tier, call)
                case "PUT":
                    return _swap(documents, tier, call)
                case _:
                    return refusal(Code.METHOD_NOT_ALLOWED, "A document takes GET and PUT.")
        case _:
            return refusal(Code.NOT_FOUND, "There is /documents/{tier} and nothing else.")


def _read(documents: Documents, tier: str, call: Call) -> Reply:
    if call.query.get("version") == str(documents.version(tier)):
        return Reply(304)
    stored = documents.read(tier)
    return Reply(200, f'{{"version":{stored.version},"entries":{stored.entries}}}')


def _swap(documents: Documents, tier: str, call: Call) -> Reply:
    change = validated(_Change, call.body)
    if isinstance(change, Reply):
        return change
    for key, value in change.changes.items():
        reason = bad_change(key, value)
        if reason is not None:
            return malformed(reason)
    swap = documents.swap(tier, change.expected_version, change.changes, upkeep=change.upkeep)
    if isinstance(swap, TooLarge):
        return refusal(Code.DOCUMENT_TOO_LARGE, swap.detail)
    return reply(409 if isinstance(swap, Lost) else 200, {"version": swap.version})
