"""A ledger row as the routes and commands show it (contract §6, ``/admin/runs``)."""

from __future__ import annotations

from typing import Any

from bot.runs.ledger import Run
from bot.times import iso, iso_or_none


def run_json(run: Run) -> dict[str, Any]:
    """The run with ISO times."""
    return {
        "id": run.id,
        "actor": run.actor,
        "grants": [str(grant) for grant in run.grants],
        "source": run.source,
        "name": run.name,
        "due_at": iso_or_none(run.due_at),
        "trigger": run.trigger,
        "by": run.by,
        "thread": run.thread,
        "text": run.text,
        "route": run.route,
        "effect": run.effect,
        "state": run.state,
        "code": run.code,
        "output": run.output,
        "delivery": run.delivery,
        "usage": {
            "model_calls": run.model_calls,
            "tokens_in": run.tokens_in,
            "tokens_out": run.tokens_out,
        },
        "admitted_at": iso(run.admitted_at),
        "started_at": iso_or_none(run.started_at),
        "finished_at": iso_or_none(run.finished_at),
    }
