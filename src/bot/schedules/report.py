"""What one tick did: the route's answer and the line of the statistics."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from bot.jobs.tick import JobsReport
from bot.ports import Fault, TickRecord
from bot.times import iso

log = logging.getLogger("bot.tick")


@dataclass(slots=True)
class TickReport:
    """What one tick did. ``at`` and ``ms``: epoch milliseconds and a duration."""

    at: int
    ms: int = 0
    due: int = 0
    claimed: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])
    started: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    skipped: list[str] = field(default_factory=list[str])
    repaired: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])
    jobs: JobsReport = field(default_factory=JobsReport)

    def to_json(self) -> dict[str, Any]:
        """The route's answer (contract §6)."""
        return {
            "at": iso(self.at),
            "due": self.due,
            "claimed": self.claimed,
            "lost": self.lost,
            "started": [{"name": name, "run_id": run_id} for name, run_id in self.started],
            "refused": [{"name": name, "code": code} for name, code in self.refused],
            "skipped": self.skipped,
            "repaired": self.repaired,
            "broken": self.broken,
            "errors": self.errors,
            "jobs": self.jobs.to_json(),
            "ms": self.ms,
        }

    def fault(self, stage: str, fault: Fault) -> None:
        """Note that a store failed at ``stage``."""
        self.errors.append(f"{stage}: {fault}")
        log.error("tick: %s failed: %s", stage, fault, extra={"action": "tick_fault"})

    def unclaimed(self, name: str, reason: str) -> None:
        """Note that the document does not take a row's claim, so that it cannot fire."""
        self.errors.append(f"{name}: it cannot be claimed: {reason}")
        log.error("%s cannot be claimed: %s", name, reason, extra={"action": "row_unclaimed"})

    def record(self) -> TickRecord:
        """The tick's figures, as the statistics keep them."""
        return TickRecord(
            at=self.at,
            ms=self.ms,
            due=self.due,
            claimed=len(self.claimed),
            lost=len(self.lost),
            started=len(self.started),
            errors=len(self.errors),
        )
