"""``bot.ports.Background`` over ``ctx.waitUntil``."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("bot.background")


class WaitUntil:
    """Work that goes on after the answer, for as long as the platform lets it (30 s)."""

    def __init__(self, ctx: Any):
        self._ctx = ctx

    def defer(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` after the answer; its failure is logged, never raised."""
        self._ctx.waitUntil(_logged(work))


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("%s failed", work.__qualname__, extra={"action": "background_failed"})
