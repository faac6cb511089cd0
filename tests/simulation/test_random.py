"""Larger histories, drawn from seeds: many rounds of ticks, people, crashes, faults and clocks.

``SIMULATION_SEEDS=1000`` in the environment draws more; a failure names its seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from bot.schedules import edit
from bot.schedules.cron import next_fire
from tests.simulation.explore import History, Path, play
from tests.simulation.world import World
from tests.support.drive import run

SEEDS = range(int(os.environ.get("SIMULATION_SEEDS", "60")))
CRONS = ("* * * * *", "*/2 * * * *", "1,4 * * * *", "0 * * * *", "*/7 3 * * *")
ROUNDS = 8


def simulate(seed: int, move_clock: Callable[[World, random.Random], None], people: int) -> World:
    draw = random.Random(seed)
    world = World(History())
    for number in range(draw.randint(2, 5)):
        world.row(
            f"row{number}",
            cron=draw.choice(CRONS),
            thread=draw.choice(("new", "standing")),
            **({"window": "3m"} if draw.random() < 0.2 else {}),
        )
    for turn in range(ROUNDS):
        move_clock(world, draw)
        _round(world, draw, turn, people)
        world.check_runs()
    return world


def _round(world: World, draw: random.Random, turn: int, people: int) -> None:
    history = world.history
    history.tasks.clear()
    for number in range(draw.randint(1, 3)):
        history.add(
            f"tick{number}",
            world.tick(),
            crashes=int(draw.random() < 0.2),
            faults=int(draw.random() < 0.2),
        )
    for run_id in world.house.engine.started:
        live = [made for made in world.runs() if made["id"] == run_id]
        if live[0]["state"] == "running" and draw.random() < 0.5:
            history.add(f"turn {run_id}", world.turn(run_id), crashes=int(draw.random() < 0.2))
    if people:
        _people(world, draw, turn)
    play(history, Path(pick=draw.randrange))


def _people(world: World, draw: random.Random, turn: int) -> None:
    names = sorted(world.rows())
    name = draw.choice(names) if names else "row0"
    work = draw.choice(
        (
            lambda: world.press(name, call=f"call{turn}"),
            lambda: world.set_config(turn),
            lambda: world.add(f"new{turn}", f"rownew{turn}", draw.choice(CRONS)),
            lambda: world.remove(name),
        )
    )
    world.history.add("person", work())


def _forward(world: World, draw: random.Random) -> None:
    minutes = draw.choice((1, 1, 1, 2, 3, 90))
    world.house.clock.advance(minutes=minutes, seconds=draw.randint(0, 20))


def _wild(world: World, draw: random.Random) -> None:
    minutes = draw.choice((1, 1, 2, 60, 60 * 24 * 400, -1, -5, -60 * 24 * 3))
    world.house.clock.advance(minutes=minutes, seconds=draw.randint(0, 20))


class TestForwardClock:
    def test_every_due_minute_is_accounted_for_and_has_one_run_at_most(self):
        for seed in SEEDS:
            try:
                world = simulate(seed, _forward, people=1)
                world.check()
                world.settle()
                world.check()
                _all_ended(world)
            except Exception as error:
                raise AssertionError(f"seed {seed}: {error!r}") from error


class TestWildClock:
    def test_no_minute_runs_twice_and_no_row_is_silenced(self):
        for seed in SEEDS:
            try:
                world = simulate(seed, _wild, people=0)
                world.settle()
                _all_ended(world)
                _each_row_fires_again(world)
            except Exception as error:
                raise AssertionError(f"seed {seed}: {error!r}") from error


class TestPauses:
    def test_resume_fires_nothing_that_fell_due_meanwhile(self):
        for seed in SEEDS:
            world = simulate(seed, _forward, people=0)
            world.settle()
            for name in sorted(world.rows()):
                run(edit.pause(world.house, name, "holidays"))
            before = len(world.runs())
            world.house.clock.advance(hours=5)
            run(world.tick())
            for name in sorted(world.rows()):
                run(edit.resume(world.house, name, world.house.clock.now_ms()))
            run(world.tick())
            assert len(world.runs()) == before, f"seed {seed}"


def _all_ended(world: World) -> None:
    unended = [made["id"] for made in world.runs() if made["state"] == "running"]
    assert not unended, f"{unended} never ended"


def _each_row_fires_again(world: World) -> None:
    """After one tick that may repair the clock, each row's next due minute is claimed."""
    run(world.tick())
    for name, row in sorted(world.rows().items()):
        due_at = next_fire(row.cron, row.zone, world.house.clock.now_ms())
        assert due_at is not None
        world.house.clock.set(due_at + 1_000)
        run(world.tick())
        assert world.rows()[name].stored.last_due_at == due_at, f"{name} is silenced"
