"""Driving coroutines by hand, and the hook at which a test can interleave, crash or fail them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Made = TypeVar("Made")
Pause = Callable[[str], Awaitable[None]]


async def no_pause(point: str) -> None:
    """The hook that does nothing."""


class Port:
    """A port that awaits ``pause`` before and after the effect of each of its methods.

    The points are named like ``config.swap`` and ``config.swap done``. Set ``pause`` to any
    async function to suspend there, to raise ``Fault`` (before: nothing was done; after: it was
    done and nobody knows), or to close the coroutine: a crash.
    """

    def __init__(self, pause: Pause = no_pause):
        self.pause = pause


def run(work: Coroutine[Any, Any, Made]) -> Made:
    """Drive a coroutine to its end; what it yields on the way is passed over."""
    while True:
        try:
            work.send(None)
        except StopIteration as end:
            return end.value
