"""A removal beside a tick: what was claimed is accounted for after the row is gone."""

from __future__ import annotations

import pytest

from tests.simulation.explore import History, explore
from tests.simulation.world import World
from tests.support.drive import run

DUE = "2026-09-01T03:00:05+00:00"


def claims_of(world: World) -> set[int]:
    """The due minutes that are claimed from now on, seen from inside the store."""
    claimed: set[int] = set()
    documents = world.house.config.documents
    swap = documents.swap

    def watched(*args, **options):
        made = swap(*args, **options)
        row = world.house.config.get().entries.get("schedules.nightly") or {}
        claimed.update({row["lastDueAt"]} if "lastDueAt" in row else ())
        return made

    documents.swap = watched
    return claimed


@pytest.mark.parametrize("limits", [{}, {"crashes": 1}, {"faults": 1}])
def test_a_claim_is_in_the_ledger_or_in_the_history(limits):
    seen = set()

    def make():
        world = World(History())
        world.row("nightly")
        world.at(DUE)
        claimed = claims_of(world)
        world.history.add("tick", world.tick(), **limits)
        world.history.add("removal", world.remove("nightly"))

        def check():
            assert "nightly" not in world.rows()
            world.settle()
            ran = {made["due_at"] for made in world.runs()}
            told = run(world.house.history.history("nightly", 10, None))
            assert claimed == ran | {firing.due_at for firing in told}
            assert {firing.due_at for firing in told if firing.state == "ok"} == ran
            world.check_runs()
            seen.update(firing.state for firing in told)

        return world.history, check

    explore(make, preemptions=1)
    assert seen == ({"ok", "claimed_not_started"} if limits else {"ok"})
