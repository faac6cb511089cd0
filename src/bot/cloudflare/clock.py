"""Time from the platform. Inside one stretch of computing it stands still, by design of Workers."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """``bot.ports.Clock``."""

    def now_ms(self) -> int:
        """Epoch milliseconds now."""
        return time.time_ns() // 1_000_000

    async def sleep(self, ms: int) -> None:
        """Let ``ms`` milliseconds pass."""
        await asyncio.sleep(ms / 1000)
