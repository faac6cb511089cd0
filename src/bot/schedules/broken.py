"""Rows that no longer parse: paused with the reason and announced once; the others go on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from bot import org
from bot.announce import announce
from bot.ports import Document, House
from bot.schedules.row import PREFIX, BrokenRow, read_row
from bot.words import Refused

log = logging.getLogger("bot.schedules")


def is_paused(row: BrokenRow) -> bool:
    """Whether a broken entry was paused, and so announced, already."""
    return (row.fields or {}).get("enabled") is False


def paused_entry(row: BrokenRow) -> dict[str, Any]:
    """The broken entry with the pause and its reason; everything else is kept as it is."""
    fields = row.fields
    kept = dict(fields) if fields is not None else {"was": row.entry}
    return {**kept, "enabled": False, "pausedReason": f"cannot be read: {row.reason}"}


async def pause(house: House, names: Sequence[str], now_ms: int) -> list[str]:
    """Pause those of ``names`` that are still broken and not paused, in one swap, and say so.

    Announced by whoever won the swap, so once; in the row's channel where it names one, else
    in the organisation's. Returns the names that this call paused.
    """

    def decision(document: Document) -> tuple[dict[str, Any], list[BrokenRow]]:
        found = [
            row
            for name in names
            if PREFIX + name in document.entries
            and isinstance(row := read_row(name, document.entries[PREFIX + name]), BrokenRow)
            and not is_paused(row)
        ]
        return {row.key: paused_entry(row) for row in found}, found

    paused = await org.change(house.config, decision)
    if isinstance(paused, Refused):
        return []
    for row in paused:
        log.error("%s cannot be read: %s", row.name, row.reason, extra={"action": "row_broken"})
        channel: Any = (row.fields or {}).get("channel")
        await announce(
            house,
            f"The schedule {row.name} cannot be read any more and is paused: {row.reason}. "
            f"Remove it and add it again: schedule remove {row.name}.",
            key=f"broken-{row.name}-{now_ms}",
            now_ms=now_ms,
            channel=channel if isinstance(channel, str) else None,
        )
    return [row.name for row in paused]
