"""What the parts of the bench measure on: a bot whose calls are counted, in real workerd."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.runtime.bot import Bot
from tests.runtime.server import ROOT, Server

COUNTING = Path(__file__).resolve().parent / "counting"


class Lab(Bot):
    """A bot, and what its Worker counts of itself."""

    def asked(self, what: str, **query: Any) -> Any:
        """What `bench/counting/counted.py` says of it."""
        return self.get(f"/bench/{what}", **query).json()

    def calls(self) -> tuple[dict[str, int], dict[str, int]]:
        """The last request's calls by kind: until its answer, and those that came after it."""
        time.sleep(0.3)  # What is deferred runs after the answer.
        counts = self.asked("counts")
        before, total = counts["answer"], counts["all"]
        after = {kind: total[kind] - before.get(kind, 0) for kind in total}
        return before, {kind: n for kind, n in after.items() if n}

    def heap_mb(self) -> float:
        """The size of Python's memory, which never shrinks, in MB."""
        return self.asked("heap") / 1e6


@contextmanager
def lab(**options: Any) -> Iterator[Lab]:
    """A running lab. `options` are those of `Server.start`."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        server = Server.start(_world(Path(folder)), **options)
        try:
            yield Lab(server)
        finally:
            server.close()


def _world(folder: Path) -> Path:
    """The project with the counting main module in place of its own."""
    cached = shutil.ignore_patterns("__pycache__")
    for name in ("src", "migrations", "public"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=cached)
    shutil.copy(ROOT / "wrangler.jsonc", folder)
    shutil.copytree(COUNTING, folder / "src", dirs_exist_ok=True, ignore=cached)
    return folder


def timed_ms(work: Callable[[], Any]) -> float:
    """How long `work` takes, in milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def median_ms(work: Callable[[], Any], times: int) -> float:
    """The median of several times."""
    return median(timed_ms(work) for _ in range(times))


def spread(values: list[float]) -> str:
    """Least to most, for a note."""
    return f"{min(values):,.0f} to {max(values):,.0f}"
