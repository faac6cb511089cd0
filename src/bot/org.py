"""The org document: the organisation's settings, grants and schedules (tier ``org``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from bot.ports import ConfigStore, Document
from bot.words import Code, Refused

TIER = "org"
ATTEMPTS = 40

Made = TypeVar("Made")
Decision = tuple[Mapping[str, Any], Made] | Refused
"""What a change decides over one reading: the entries to write and what it made, or a refusal."""


async def change(
    config: ConfigStore,
    decide: Callable[[Document], Decision[Made]],
    *,
    tier: str = TIER,
    upkeep: bool = False,
) -> Made | Refused:
    """Read, decide, swap; again from the reading when somebody else wrote in between.

    ``decide`` is pure and may be called several times. Nothing is written when it refuses or
    answers no changes. Returns what it made, its refusal, ``document_too_large`` where the
    store's limits say no, or ``conflict`` after ``ATTEMPTS`` lost swaps. ``upkeep`` as the
    store's.
    """
    for _ in range(ATTEMPTS):
        document = await config.read(tier)
        decision = decide(document)
        if isinstance(decision, Refused):
            return decision
        changes, made = decision
        if not changes:
            return made
        swap = await config.swap(tier, document.version, changes, upkeep=upkeep)
        if swap.won:
            return made
        if swap.refusal is not None:
            return Refused(Code.DOCUMENT_TOO_LARGE, swap.refusal)
    return Refused(
        Code.CONFLICT, "The organisation's document is being written by others; try again."
    )
