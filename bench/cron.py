"""`next_fire` in Python on WebAssembly: how many a second, none of them from a cache."""

from __future__ import annotations

import json

from bench.lab import lab, median_ms
from bench.table import Row
from tests.runtime.bot import ms

EXPRESSIONS = [
    ("* * * * *", "UTC"),
    ("*/15 8-18 * * MON-FRI", "UTC"),
    ("0 3 * * *", "UTC"),
    ("30 2 * * *", "Europe/Berlin"),
    ("0 9 1,15 * *", "America/New_York"),
    ("0 0 L * *", "Asia/Kolkata"),
    ("0 6 29 2 *", "UTC"),
    ("45 23 31 12 SUN", "Australia/Lord_Howe"),
]
DAYS = 300
TIMES = 5


def measure() -> list[Row]:
    rows = json.dumps(EXPRESSIONS)
    start = ms("2026-01-01T00:00:00Z")
    with lab() as bot:

        def compute(n: int) -> float:
            nonlocal start
            start += 86_400_000_000  # A base that no cache has seen.
            return median_ms(lambda: bot.asked("fires", rows=rows, n=n, start=start + n), 1)

        compute(5)
        rest = sorted(compute(0) for _ in range(TIMES))[TIMES // 2]
        taken = sorted(compute(DAYS) for _ in range(TIMES))[TIMES // 2]
    fires = DAYS * len(EXPRESSIONS)
    each_ms = (taken - rest) / fires
    return [
        Row(
            "next_fire, uncached",
            1000 / each_ms,
            "/s",
            note=f"{len(EXPRESSIONS)} kinds of expression, {each_ms * 1000:,.0f} µs each",
        )
    ]
