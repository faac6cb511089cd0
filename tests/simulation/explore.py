"""Exploring interleavings: coroutines stepped by hand, every choice enumerated or drawn.

A history is a handful of tasks over one house whose ports stop before each effect. At each
point the explorer chooses which task takes its next step, or which one crashes there. It
walks all choices depth first by running the history anew for each path, or draws paths from a
seed that a failure prints.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from bot.ports import Fault


class Point:
    """What a paused coroutine yields: the name of the effect it is about to have."""

    def __init__(self, name: str):
        self.name = name

    def __await__(self):
        return (yield self)


@dataclass
class Task:
    """One coroutine. ``crashes``: how often it may be killed; ``faults``: how often its next
    effect may fail, done or undone. ``result`` once it ended."""

    name: str
    work: Coroutine[Any, Any, Any]
    crashes: int = 0
    faults: int = 0
    result: Any = None
    ended: bool = False
    crashed: bool = False
    fault_next: str | None = None


class History:
    """Tasks over a house; ``pause`` is the hook to build the house with.

    ``deep`` stops after each effect as well as before it: where a crash between an effect and
    its answer matters.
    """

    def __init__(self, *, deep: bool = False) -> None:
        self.deep = deep
        self.tasks: list[Task] = []
        self.current: Task | None = None

    async def pause(self, point: str) -> None:
        task = self.current
        if task is None:
            return
        if point.endswith(" done"):
            if self.deep:
                await Point(point)
            if task.fault_next == "done":
                task.fault_next = None
                raise Fault(f"{point}, and the answer was lost")
            return
        await Point(point)
        if task.fault_next == "undone":
            task.fault_next = None
            raise Fault(f"{point} failed")

    def add(self, name: str, work: Coroutine[Any, Any, Any], **limits: int) -> Task:
        task = Task(name, work, **limits)
        self.tasks.append(task)
        return task

    def live(self) -> list[Task]:
        return [task for task in self.tasks if not task.ended]

    def step(self, task: Task) -> None:
        self.current = task
        try:
            task.work.send(None)
        except StopIteration as end:
            task.ended, task.result = True, end.value
        except Fault as fault:
            task.ended, task.result = True, fault
        finally:
            self.current = None

    def crash(self, task: Task) -> None:
        task.work.close()
        task.ended = task.crashed = True


@dataclass
class Path:
    """The choices of one run: taken from ``given`` first, then by ``pick``."""

    given: list[int] = field(default_factory=list)
    pick: Callable[[int], int] = lambda options: 0
    taken: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)

    def choose(self, options: int) -> int:
        at = len(self.taken)
        choice = self.given[at] if at < len(self.given) else self.pick(options)
        self.taken.append(choice)
        self.widths.append(options)
        return choice


def play(history: History, path: Path, preemptions: int | None = None) -> None:
    """Run a history to its end along a path.

    ``preemptions`` bounds how often a task that could go on is made to wait for another. Most
    races need one or two, and a bound keeps long histories small enough to walk whole.
    """
    last: Task | None = None
    while live := history.live():
        if preemptions == 0 and last in live:
            live = [last]
        moves: list[tuple[str, Task]] = [("step", task) for task in live]
        moves += [("crash", task) for task in live if task.crashes]
        moves += [(how, task) for task in live if task.faults for how in ("undone", "done")]
        move, task = moves[path.choose(len(moves)) if len(moves) > 1 else 0]
        if preemptions and last is not None and task is not last and not last.ended:
            preemptions -= 1
        last = task
        if move == "crash":
            history.crash(task)
            continue
        if move != "step":
            task.faults -= 1
            task.fault_next = move
        history.step(task)


def explore(
    make: Callable[[], tuple[History, Callable[[], None]]],
    *,
    preemptions: int | None = None,
    limit: int = 20_000,
) -> int:
    """Run every path of the history that ``make`` builds, and its check; how many there were."""
    given: list[int] = []
    count = 0
    while True:
        history, check = make()
        path = Path(given)
        play(history, path, preemptions)
        count += 1
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"path {path.taken}: {error}") from error
        assert count <= limit, f"more than {limit} paths: make the history smaller"
        given = _next(path)
        if not given:
            return count


def _next(path: Path) -> list[int]:
    taken, widths = list(path.taken), path.widths
    while taken:
        last = taken.pop()
        if last + 1 < widths[len(taken)]:
            return [*taken, last + 1]
    return []


def sample(
    make: Callable[[random.Random], tuple[History, Callable[[], None]]], seeds: range
) -> None:
    """Run one drawn path for each seed; a failure names its seed."""
    for seed in seeds:
        draw = random.Random(seed)
        history, check = make(draw)
        path = Path(pick=draw.randrange)
        try:
            play(history, path)
            check()
        except Exception as error:
            raise AssertionError(f"seed {seed}, path {path.taken}: {error!r}") from error
