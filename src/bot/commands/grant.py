"""The ``grant`` commands: who holds what (contract §2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot import org
from bot.authz.actor import CRON, Actor, Surface, parse_actor
from bot.authz.grants import FLOORS, Grant, covers, grants_key, grants_of, parse_grant
from bot.commands.grammar import Syntax, word, words
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import Document, House
from bot.words import Code, Effect, Refused

MAX_GRANTS = 100
_PREFIX = "grants."


@dataclass(frozen=True, slots=True)
class _Change:
    """What ``grant add`` and ``grant remove`` are about."""

    actor: Actor
    grant: Grant


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    entries = (await house.config.read(org.TIER)).entries
    if args["actor"] is None:
        named = {key.removeprefix(_PREFIX) for key in entries if key.startswith(_PREFIX)}
        holders = {
            actor_id: _held(actor, entries, house)
            for actor_id in sorted(named | house.settings.admins | {CRON.id})
            if isinstance(actor := parse_actor(actor_id), Actor)
        }
        floor = ", ".join(map(str, FLOORS[True]))
        return ok(f"{_listed(holders)}\nEvery other person holds {floor}.", holders)
    actor = parse_actor(args["actor"])
    if isinstance(actor, Refused):
        return refused(actor)
    if actor.surface is Surface.SCHEDULE:
        return refused(_of_schedule(actor, "See schedule show."))
    holders = {actor.id: _held(actor, entries, house)}
    return ok(_listed(holders), holders)


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    change = _parse(call, args)
    if isinstance(change, Refused):
        return refused(change)
    key = grants_key(change.actor)

    def add(document: Document) -> org.Decision[bool]:
        stored = _stored(document.entries.get(key))
        if _index(stored, change.grant) is not None:
            return {}, False
        if len(stored) >= MAX_GRANTS:
            return Refused(
                Code.TOO_MANY,
                f"{change.actor} was given {MAX_GRANTS} grants already. Remove one first, or "
                "give one that covers several.",
            )
        return {key: [*stored, str(change.grant)]}, True

    added = await org.change(house.config, add)
    if isinstance(added, Refused):
        return refused(added)
    data = {"actor": change.actor.id, "grant": str(change.grant), "changed": added}
    if not added:
        return ok(f"{change.actor} was given {change.grant} already; nothing is changed.", data)
    return ok(f"{change.actor} holds {change.grant} from now on.", data)


async def _remove(house: House, call: Invocation, args: Args) -> Outcome:
    change = _parse(call, args)
    if isinstance(change, Refused):
        return refused(change)
    key = grants_key(change.actor)

    def remove(document: Document) -> org.Decision[None]:
        stored = _stored(document.entries.get(key))
        index = _index(stored, change.grant)
        if index is None:
            return _not_given(change)
        kept = [*stored[:index], *stored[index + 1 :]]
        return {key: kept or None}, None

    removed = await org.change(house.config, remove)
    if isinstance(removed, Refused):
        return refused(removed)
    data = {"actor": change.actor.id, "grant": str(change.grant), "changed": True}
    entries = (await house.config.read(org.TIER)).entries
    left = grants_of(change.actor, entries, house.settings.admins)
    if covers(left, change.grant):
        return ok(
            f"{change.grant} is taken from {change.actor}, who still holds it through "
            f"{', '.join(map(str, left))}.",
            data,
        )
    return ok(f"{change.actor} holds {change.grant} no more.", data)


def _parse(call: Invocation, args: Args) -> _Change | Refused:
    """Whom and what a change is about; refused where the caller could not give it."""
    actor = parse_actor(args["actor"])
    if isinstance(actor, Refused):
        return actor
    if actor.surface is Surface.SCHEDULE:
        return _of_schedule(actor, "Remove the schedule and add it again with other grants.")
    if actor == CRON:
        return Refused(
            Code.BAD_ACTOR, f"{CRON} holds schedule:fire and nothing else, whatever is written."
        )
    grant = parse_grant(args["grant"])
    if isinstance(grant, Refused):
        return grant
    if not covers(call.grants, grant):
        return Refused(
            Code.GRANT_NOT_HELD,
            f"You do not hold {grant}, so you can neither give nor take it. Ask somebody who "
            "holds it.",
        )
    return _Change(actor, grant)


def _of_schedule(actor: Actor, hint: str) -> Refused:
    return Refused(Code.BAD_ACTOR, f"{actor} holds exactly the grants of its schedule. {hint}")


def _not_given(change: _Change) -> Refused:
    if change.grant in FLOORS[change.actor.is_person]:
        detail = f"Every person holds {change.grant}; it cannot be taken from {change.actor}."
    else:
        detail = f"{change.actor} was not given {change.grant}. See grant list {change.actor}."
    return Refused(Code.NOT_FOUND, detail)


def _stored(entry: Any) -> list[Any]:
    """The stored list, entries that no longer parse included: a change leaves them alone."""
    return list(entry) if isinstance(entry, list) else []  # type: ignore[reportUnknownArgumentType]


def _index(stored: list[Any], grant: Grant) -> int | None:
    """Where the grant stands in the stored list, its resource in any case."""
    for index, text in enumerate(stored):
        found = parse_grant(text) if isinstance(text, str) else None
        if isinstance(found, Grant) and _folded(found) == _folded(grant):
            return index
    return None


def _folded(grant: Grant) -> str:
    return str(grant).lower()


def _held(actor: Actor, entries: Mapping[str, Any], house: House) -> list[str]:
    return [str(grant) for grant in grants_of(actor, entries, house.settings.admins)]


def _listed(holders: Mapping[str, list[str]]) -> str:
    return "\n".join(
        f"{actor}: {', '.join(grants) or 'nothing'}" for actor, grants in holders.items()
    )


_CHANGE = Syntax(args=(word("actor"), words("grant")))
COMMANDS = (
    Command(
        "grant list",
        "Who holds what.",
        Effect.READ,
        Syntax(args=(word("actor", optional=True),)),
        _list,
    ),
    Command(
        "grant add",
        "Give an actor a grant that you hold: ACTION, or ACTION on OWNER/REPO.",
        Effect.WRITE,
        _CHANGE,
        _add,
    ),
    Command(
        "grant remove",
        "Take a grant that you hold from an actor.",
        Effect.WRITE,
        _CHANGE,
        _remove,
    ),
)
