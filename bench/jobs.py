"""Jobs: a tick's cost by what is due and not by what is stored, and with two hundred due."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.lab import spread
from bench.table import Row
from tests.runtime.bot import at, ms
from tests.runtime.jobs import VARS, Jobs, jobs_world
from tests.runtime.server import Server

HOUR = 3_600_000
START = "2026-09-01T04:00:00+00:00"
A_YEAR = 8_760
FEW, MANY = 1_000, 100_000
DUE, MOST_DUE = 50, 200
WARM_UP, TICKS = 2, 7
ADMITTED = re.compile(r"jobs_ticked: .* admitted after (\d+) ms")


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        server = Server.start(jobs_world(Path(folder)), vars=VARS)
        try:
            return _measured(Jobs(server))
        finally:
            server.close()


def _measured(bot: Jobs) -> list[Row]:
    hours = Hours(bot)
    bot.fill(0, FEW, A_YEAR, made=hours.now)
    bot.fill(MANY, DUE, 1, made=hours.now)
    few = [hours.tick(DUE) for _ in range(WARM_UP + TICKS)][WARM_UP:]
    bot.fill(FEW, MANY - FEW, A_YEAR, made=hours.now)
    rows_read = bot.do("due", ms(hours.now) + HOUR)["rows_read"]
    many = [hours.tick(DUE) for _ in range(WARM_UP + TICKS)][WARM_UP:]
    bot.fill(MANY + DUE, MOST_DUE - DUE, 1, made=hours.now)
    most = [hours.tick(MOST_DUE) for _ in range(WARM_UP + TICKS)][WARM_UP:]
    logged = [ADMITTED.search(line) for line in (*bot.server.stdout, *bot.server.stderr)]
    admitted = [float(found[1]) for found in logged if found][-TICKS:]
    return [
        Row(
            f"tick, {DUE} jobs due of {MANY:,} stored, against {FEW:,} stored",
            median(many) / median(few),
            "times",
            bar=2,
            note=f"{median(many):,.0f} ms ({spread(many)}) against {median(few):,.0f} ms",
        ),
        Row(f"rows that its due query reads of {MANY:,}", rows_read, "", bar=300),
        Row(
            f"tick, {MOST_DUE} jobs due, claimed and admitted",
            median(admitted),
            "ms",
            bar=1500,
            note=f"median of {TICKS}, {spread(admitted)} ms",
        ),
        Row(
            f"the same tick with the start of {MOST_DUE} instances",
            median(most),
            "ms",
            note=f"{spread(most)} ms; locally they run in the tick's own isolate",
        ),
    ]


class Hours:
    """The bot's clock, an hour further at each tick."""

    def __init__(self, bot: Jobs) -> None:
        self._bot = bot
        self.now = START

    def tick(self, due: int) -> float:
        """How long a tick with so many jobs due takes, as it says itself."""
        self._bot.quiet()
        self.now = at(ms(self.now) + HOUR)
        report: Any = self._bot.tick(self.now)
        assert report["jobs"]["started"] == due, report
        return report["ms"]
