"""Adding, pausing, resuming and removing stored schedules (contract §3). There is no edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from bot import org
from bot.authz.grants import Grant, covers, parse_grants
from bot.ports import Document, Firing, House
from bot.schedules import catalog
from bot.schedules.cron import Cron, check, parse, parse_zone
from bot.schedules.firing import left_behind
from bot.schedules.record import write_down_claims
from bot.schedules.row import (
    MAX_ROWS,
    PREFIX,
    BrokenRow,
    Row,
    StoredRow,
    bad_name,
    bad_text,
    dump_row,
    parse_window,
    read_row,
    row_named,
)
from bot.words import Code, Refused

ZONE_SETTING = "zone"
MAX_REASON = 500
MAX_GRANTS = 50


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person wrote of a schedule to be."""

    name: str
    cron: str
    text: str
    channel: str
    thread: str | None = None
    zone: str | None = None
    window: str | None = None
    grants: Sequence[str] = ()
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class _Checked:
    cron: Cron
    zone: ZoneInfo
    zone_name: str
    grants: tuple[Grant, ...]


async def add(
    house: House, draft: Draft, *, author: str, held: tuple[Grant, ...], row_id: str, now_ms: int
) -> Row | Refused:
    """Store a new schedule, or say why not; each refusal has its own code.

    ``author`` is an actor's id, ``held`` its grants: a row can be given no more than its author
    holds. ``row_id`` is the new row's id; a row that bears it already is the same add repeated,
    and is answered as made.
    """

    place = await _channel_refused(house, draft.channel)

    def decision(document: Document) -> org.Decision[Row]:
        key = PREFIX + draft.name
        standing = document.entries.get(key)
        if isinstance(standing, Mapping) and standing.get("id") == row_id:  # type: ignore[reportUnknownMemberType]
            again = read_row(draft.name, standing)
            if isinstance(again, Row):
                return {}, again
        refusal = _place_refused(document.entries, draft.name)
        if refusal is not None:
            return refusal
        checked = _check(draft, document.entries, held, place, now_ms)
        if isinstance(checked, Refused):
            return checked
        stored = StoredRow(
            id=row_id,
            name=draft.name,
            cron=checked.cron.source,
            zone=checked.zone_name,
            text=draft.text,
            channel=draft.channel,
            thread="standing" if draft.thread == "standing" else "new",
            grants=[str(grant) for grant in checked.grants],
            enabled=draft.enabled,
            window=draft.window,
            created_by=author,
            created_at=now_ms,
        )
        entry = dump_row(stored)
        row = read_row(draft.name, entry)
        if isinstance(row, BrokenRow):
            return Refused(Code.BAD_VALUE, row.reason)
        return {key: entry}, row

    return await org.change(house.config, decision)


def _place_refused(entries: Mapping[str, Any], name: str) -> Refused | None:
    folded = name.casefold()
    taken = {key.removeprefix(PREFIX).casefold() for key in entries if key.startswith(PREFIX)}
    if folded in catalog.NAMES:
        return Refused(
            Code.SCHEDULE_EXISTS,
            f"{folded} is the name of a schedule that ships in code. Choose another name.",
        )
    if folded in taken:
        return Refused(
            Code.SCHEDULE_EXISTS,
            f"A schedule named {folded} exists. There is no edit: schedule remove {folded} first.",
        )
    refusal = bad_name(name)
    if refusal is not None:
        return refusal
    if len(taken) >= MAX_ROWS:
        return Refused(
            Code.TOO_MANY_SCHEDULES,
            f"There are {MAX_ROWS} schedules, as many as there may be. Remove one first.",
        )
    return None


def _check(
    draft: Draft,
    entries: Mapping[str, Any],
    held: tuple[Grant, ...],
    place: Refused | None,
    now_ms: int,
) -> _Checked | Refused:
    zone_name = draft.zone if draft.zone is not None else default_zone(entries)
    cron, zone = parse(draft.cron), parse_zone(zone_name)
    if isinstance(cron, Refused):
        return cron
    if isinstance(zone, Refused):
        return zone
    never = check(cron, zone, now_ms)
    window = parse_window(draft.window) if draft.window is not None else None
    grants = parse_grants(draft.grants)
    if isinstance(grants, Refused):
        return grants
    if len(grants) > MAX_GRANTS:
        return Refused(
            Code.BAD_GRANT, f"{len(grants)} grants are too many: a schedule holds {MAX_GRANTS}."
        )
    for refusal in (
        never,
        window,
        _not_held(grants, held),
        place,
        _thread_refused(draft.thread),
        bad_text(draft.text),
    ):
        if isinstance(refusal, Refused):
            return refusal
    return _Checked(cron, zone, zone_name, grants)


def default_zone(entries: Mapping[str, Any]) -> str:
    """The zone of a row that names none: the org setting ``zone``, else UTC."""
    zone = entries.get(ZONE_SETTING)
    return zone if isinstance(zone, str) else "UTC"


def _not_held(grants: Sequence[Grant], held: tuple[Grant, ...]) -> Refused | None:
    for grant in grants:
        if not covers(held, grant):
            return Refused(
                Code.GRANT_NOT_HELD,
                f"You do not hold {grant}, so you cannot give it to a schedule. Leave it out, or "
                "ask somebody who holds it to add the schedule.",
            )
    return None


async def _channel_refused(house: House, channel: str) -> Refused | None:
    name, _, place = channel.partition(":")
    surface = house.channels.get(name) if place else None
    if surface is None:
        known = ", ".join(f"web:{name}" for name in house.settings.web_channels)
        return Refused(
            Code.NO_CHANNEL,
            f"There is no channel {channel[:80]!r}. Write SURFACE:ID; the web channels are "
            f"{known}.",
        )
    closed = await surface.can_open_threads(channel)
    if closed is None:
        return None
    if closed.gone:
        return Refused(Code.NO_CHANNEL, f"There is no channel {channel[:80]!r}: {closed.reason}.")
    return Refused(
        Code.CHANNEL_CANNOT_OPEN_THREAD,
        f"{channel} cannot open a thread, so a schedule cannot speak there: {closed.reason}. "
        "Choose a channel that can, such as a web channel.",
    )


def _thread_refused(thread: str | None) -> Refused | None:
    if thread in (None, "new", "standing"):
        return None
    return Refused(Code.BAD_THREAD, f"A thread is new or standing, not {thread[:40]!r}.")


async def pause(house: House, name: str, reason: str | None) -> StoredRow | Refused:
    """Stop a row from falling due; its reason is shown wherever the row is."""
    if reason is not None and len(reason) > MAX_REASON:
        return Refused(Code.BAD_TEXT, f"The reason has {len(reason):,} characters of {MAX_REASON}.")
    return await _update(
        house, name, lambda stored: {"enabled": False, "paused_reason": reason or None}
    )


async def resume(house: House, name: str, now_ms: int) -> StoredRow | Refused:
    """Let a paused row fall due again, from now on: nothing of the pause is caught up."""

    def update(stored: StoredRow) -> dict[str, Any]:
        if stored.enabled:
            return {}
        return {"enabled": True, "paused_reason": None, "last_fired_at": now_ms}

    return await _update(house, name, update)


async def remove(house: House, name: str, *, asked_at: int | None = None) -> bool | Refused:
    """Delete a row, broken or not; a run in flight ends undisturbed. Raises Fault.

    A claim that never started is written to the history first: it would be gone with its row.
    ``asked_at`` is when a person asked (epoch milliseconds): a removal that is carried out again
    after a kill is ``conflict`` where the row that stands was added since.
    """
    now_ms = house.clock.now_ms()
    written: set[str] = set()

    def decision(document: Document) -> org.Decision[Firing | None]:
        refusal = absent(document.entries, name)
        if refusal is not None:
            return refusal
        row = row_named(document.entries, name)
        if isinstance(row, Row):
            if asked_at is not None and asked_at < row.stored.created_at <= now_ms:
                return Refused(
                    Code.CONFLICT,
                    f"{name} was added after its removal was asked for, so it stays. To remove "
                    f"it, say so again: schedule remove {name}.",
                )
            claim = left_behind(row.stored)
            if claim is not None and claim.key not in written:
                return {}, claim
        return {PREFIX + name: None}, None

    while True:
        claim = await org.change(house.config, decision)
        if isinstance(claim, Refused):
            return claim
        if claim is None:
            return True
        await write_down_claims(house, [claim])
        written.add(claim.key)


def absent(entries: Mapping[str, Any], name: str) -> Refused | None:
    """Whether no stored schedule has that name; None is that one has."""
    if name in catalog.NAMES:
        return Refused(
            Code.CATALOG_SCHEDULE,
            f"{name} ships in code and fires on its own cron; it cannot be changed or fired here.",
        )
    if PREFIX + name in entries:
        return None
    return Refused(
        Code.NO_SCHEDULE, f"There is no schedule named {name[:80]!r}. See schedule list."
    )


def readable(entries: Mapping[str, Any], name: str) -> Row | Refused:
    """The stored row of that name, if there is one and it can be read."""
    refusal = absent(entries, name)
    if refusal is not None:
        return refusal
    row = row_named(entries, name)
    assert row is not None, "it is not absent"
    if isinstance(row, BrokenRow):
        return Refused(
            Code.BAD_VALUE,
            f"{name} cannot be read any more ({row.reason}). Remove it and add it again.",
        )
    return row


async def _update(
    house: House, name: str, update: Callable[[StoredRow], dict[str, Any]]
) -> StoredRow | Refused:
    def decision(document: Document) -> org.Decision[StoredRow]:
        row = readable(document.entries, name)
        if isinstance(row, Refused):
            return row
        changes = update(row.stored)
        stored = row.stored.model_copy(update=changes)
        return ({row.key: dump_row(stored)} if changes else {}), stored

    return await org.change(house.config, decision)
