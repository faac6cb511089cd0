"""The claim: written under the document's version before anything is dispatched.

The only guard of fire-once among ticks (contract §3, Claim). The loser of the swap fires
nothing. No lease, no leader, no running flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.org import TIER
from bot.ports import ConfigStore
from bot.schedules.due import Decision, Repair, Stale
from bot.schedules.row import dump_row

CLAIM_BATCH = 25
"""Rows to a swap: a roundtrip saved against what one lost swap makes late."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """The swap was won; the document's version now."""

    version: int


@dataclass(frozen=True, slots=True)
class Lost:
    """Somebody else wrote first: nothing of the batch may be dispatched."""


@dataclass(frozen=True, slots=True)
class NotTaken:
    """The document takes no such change, for the reason of one of the rows or of its own."""

    reason: str


def claimed_entry(decision: Decision, now_ms: int) -> dict[str, Any]:
    """The row as it stands once ``decision`` is claimed at ``now_ms``."""
    stored = decision.row.stored
    if isinstance(decision, Repair):
        return dump_row(stored.model_copy(update={"last_fired_at": now_ms}))
    return dump_row(
        stored.model_copy(
            update={
                "last_fired_at": now_ms,
                "last_claimed_at": now_ms,
                "last_due_at": decision.due_at,
                "last_run_id": None,
                "last_skipped": True if isinstance(decision, Stale) else None,
                "coalesced": decision.coalesced,
            }
        )
    )


async def claim(
    config: ConfigStore, version: int, decisions: Sequence[Decision], now_ms: int
) -> Claimed | Lost | NotTaken:
    """Claim a batch in one swap. Raises Fault when the store does not answer.

    A Fault leaves open whether the swap was made; the caller fires nothing either way, and a
    claim that was made shows as claimed and not started.
    """
    changes = {decision.row.key: claimed_entry(decision, now_ms) for decision in decisions}
    swap = await config.swap(TIER, version, changes, upkeep=True)
    if swap.refusal is not None:
        return NotTaken(swap.refusal)
    return Claimed(swap.version) if swap.won else Lost()
