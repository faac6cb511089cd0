"""Whose business a run is: a job's, and what is said in a place of one's own, is its actor's.

Everybody with ``run:read`` reads the rest. Who holds ``all`` reads everything: somebody has to
be able to look after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.authz.actor import Actor
from bot.authz.grants import ALL, Grant, covers
from bot.runs.ledger import Run
from bot.words import Source

_OWN_PLACE = re.compile(r"web:@|slack:D|slack:.*/r|telegram:[0-9]", re.DOTALL)
"""A person's own web channel, a direct message, the answer to a slash command (which Slack shows
to its caller alone)."""


def reader_of(actor: Actor, held: Iterable[Grant]) -> str | None:
    """For whom runs are read: the actor's id, or None for one who reads everything."""
    return None if covers(held, Grant(ALL)) else actor.id


def may_see(run: Run, reader: str | None) -> bool:
    """Whether a run may be shown to ``reader``; ``ledger.recent`` asks the same in SQL."""
    if reader is None or run.actor == reader:
        return True
    place = run.channel if run.thread is None else run.thread
    return run.source != Source.JOB and not _OWN_PLACE.match(place or "")
