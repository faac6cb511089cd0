"""What an agent remembers of its thread: the last turns there, within a budget, as data."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.untrusted import fence
from bot.ports import Database
from bot.runs import ledger
from bot.runs.ledger import Run

TURNS = 10
BUDGET = 8_000
"""Characters of a thread's memory in all; the newest turns have it first."""
_OF_A_TURN = 2_000


async def remember(db: Database, run: Run, *, own: bool = False) -> str:
    """The last turns of the run's thread, fenced; empty where there are none.

    ``own``: those of the run's actor alone, for a turn that has private things at hand.
    """
    actor = run.actor if own else None
    return told(await ledger.earlier_in_thread(db, run, limit=TURNS, actor=actor))


def told(runs: Sequence[Run]) -> str:
    """Turns, oldest first, as a prompt quotes them: what fits the budget, the newest for sure."""
    kept: list[str] = []
    left = BUDGET
    for run in reversed(runs):
        turn = f"{run.actor}: {_cut(run.text)}\nyou ({run.state}): {_cut(run.output or '')}"
        if kept and len(turn) > left:
            break
        kept.append(turn)
        left -= len(turn)
    if not kept:
        return ""
    return fence("\n\n".join(reversed(kept)), "earlier turns of this thread")


def _cut(text: str) -> str:
    return text if len(text) <= _OF_A_TURN else f"{text[: _OF_A_TURN - 1]}…"
