"""Rows that no longer parse: paused with the reason and announced once; the others go on."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

from bot import org
from bot.announce import announce
from bot.objects import dump
from bot.ports import Document, Fault, House
from bot.schedules.report import TickReport
from bot.schedules.row import BrokenRow, rows_of
from bot.words import Code, Refused

log = logging.getLogger("bot.schedules")
MAX_WAS = 1_000
"""Characters that are kept of an entry which is no object at all."""


def is_paused(row: BrokenRow) -> bool:
    """Whether a broken entry was paused, and so announced, already."""
    return (row.fields or {}).get("enabled") is False


def paused_entry(row: BrokenRow) -> dict[str, Any]:
    """The broken entry with the pause and its reason; everything else is kept as it is.

    Of what is no object the JSON text is kept, cut, so that it nests no deeper than it did.
    """
    fields = row.fields
    kept = dict(fields) if fields is not None else {"was": dump(row.entry)[:MAX_WAS]}
    return {**kept, **bare_entry(row)}


def bare_entry(row: BrokenRow) -> dict[str, Any]:
    """The pause and its reason alone, where the document does not take them on top of the rest."""
    return {"enabled": False, "pausedReason": f"cannot be read: {row.reason}"}


async def pause(house: House, rows: Sequence[BrokenRow], now_ms: int, report: TickReport) -> None:
    """Pause those of ``rows`` that are still broken and not paused, in one swap, and say so.

    Announced by whoever won the swap, so once; in the row's channel where it names one, else
    in the organisation's. A row that the document does not take with its pause keeps no other
    from it: each is then paused alone, if need be without the rest of its entry, and announced
    even if that was in vain. Raises Fault when the store does not answer.
    """
    paused = await _write(house, [row.name for row in rows], paused_entry)
    if isinstance(paused, Refused):
        for row in rows:
            await _pause_alone(house, row, now_ms, report)
        return
    for row in paused:
        await _say_paused(house, row, now_ms, report)


async def _pause_alone(house: House, row: BrokenRow, now_ms: int, report: TickReport) -> None:
    paused = await _write(house, [row.name], paused_entry)
    if isinstance(paused, Refused):
        paused = await _write(house, [row.name], bare_entry)
    if not isinstance(paused, Refused):
        for each in paused:
            await _say_paused(house, each, now_ms, report)
        return
    report.errors.append(f"{row.name}: it cannot be paused: {paused.detail}")
    log.error(
        "%s cannot be read, nor paused: %s", row.name, paused.detail, extra={"action": "row_broken"}
    )
    what = hashlib.sha256(dump(row.entry).encode()).hexdigest()[:20]
    await _say(
        house,
        row,
        f"The schedule {row.name} cannot be read any more and does not fire: {row.reason}. It "
        f"cannot be paused either: {paused.detail}",
        key=f"broken-{row.name}-{what}",
        now_ms=now_ms,
    )


async def _say_paused(house: House, row: BrokenRow, now_ms: int, report: TickReport) -> None:
    report.broken.append(row.name)
    log.error("%s cannot be read: %s", row.name, row.reason, extra={"action": "row_broken"})
    await _say(
        house,
        row,
        f"The schedule {row.name} cannot be read any more and is paused: {row.reason}.",
        key=f"broken-{row.name}-{now_ms}",
        now_ms=now_ms,
    )


async def _say(house: House, row: BrokenRow, text: str, *, key: str, now_ms: int) -> None:
    channel: Any = (row.fields or {}).get("channel")
    await announce(
        house,
        f"{text} Remove it and add it again: schedule remove {row.name}.",
        key=key,
        now_ms=now_ms,
        channel=channel if isinstance(channel, str) else None,
    )


async def _write(
    house: House, names: Sequence[str], form: Callable[[BrokenRow], dict[str, Any]]
) -> list[BrokenRow] | Refused:
    """Write those of ``names`` that are broken and not paused; which they were, or why not."""

    def decision(document: Document) -> tuple[dict[str, Any], list[BrokenRow]]:
        found = [
            row
            for row in rows_of(document.entries)
            if isinstance(row, BrokenRow) and row.name in names and not is_paused(row)
        ]
        return {row.key: form(row) for row in found}, found

    paused = await org.change(house.config, decision)
    if isinstance(paused, Refused) and paused.code is Code.CONFLICT:
        raise Fault(paused.detail)
    return paused
