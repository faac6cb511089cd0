"""How two records of one firing become one. Pure.

Records arrive late, twice and out of order: the tick, the run's end, a person's re-fire and the
watchdog all write. A record moves a firing forward or fills in what was not known, and never
takes anything back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from bot.ports import Firing
from bot.words import FINAL_STATES, State, Trigger

_LIVE_RANKS = {State.STARTING: 0, State.CLAIMED_NOT_STARTED: 1, State.RUNNING: 2}
_FINAL_RANK = 3
_NO_RUN_YET = frozenset({State.STARTING, State.CLAIMED_NOT_STARTED})

Known = TypeVar("Known")


def rank(state: str) -> int:
    """How far along a state is: starting, claimed_not_started, running, and the final ones."""
    return _FINAL_RANK if state in FINAL_STATES else _LIVE_RANKS[State(state)]


def merge(known: Firing, told: Firing) -> Firing:
    """``known`` advanced by ``told``, a record of the same firing.

    A state moves to one of an equal or a higher rank, and its code comes along with it; a final
    state is never put back to a live one. What the record does not know erases nothing. Who the
    firing is (key, name, row, minute, claim) stays as first written. A re-fire puts its trigger
    and who pressed on a claim that had no run yet.
    """
    advances = rank(told.state) >= rank(known.state)
    same_state = told.state == known.state
    refires = advances and told.trigger == Trigger.REFIRE and known.state in _NO_RUN_YET
    return replace(
        known,
        due_at=_first(known.due_at, told.due_at),
        state=told.state if advances else known.state,
        code=(_first(told.code, known.code) if same_state else told.code)
        if advances
        else known.code,
        trigger=told.trigger if refires else known.trigger,
        by=_first(told.by, known.by) if refires else _first(known.by, told.by),
        run_id=_newest(known.run_id, told.run_id, advances),
        delivery=_newest(known.delivery, told.delivery, advances),
        coalesced=max(known.coalesced, told.coalesced),
    )


def _first(preferred: Known | None, other: Known | None) -> Known | None:
    return other if preferred is None else preferred


def _newest(known: str | None, told: str | None, advances: bool) -> str | None:
    return _first(told, known) if advances else _first(known, told)
