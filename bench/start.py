"""Starting: how long until it answers, what it keeps in memory, and what is uploaded."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.lab import lab, spread, timed_ms
from bench.table import Row
from tests.runtime.server import ROOT, Server

STARTS = 5


def measure() -> list[Row]:
    starts = [_start() for _ in range(STARTS)]
    since_workerd, since_listening = ([each[i] for each in starts] for i in (0, 1))
    with lab() as bot:
        bot.server.get("/healthz")
        heap = bot.heap_mb()
    total, packed = _bundle()
    return [
        Row(
            "cold start: to the first /healthz after workerd listens",
            median(since_listening) / 1000,
            "s",
            bar=1.6,
            note="Python is up by then",
        ),
        Row(
            "the same from workerd's own start, with the boot of Python",
            median(since_workerd) / 1000,
            "s",
            note=f"median of {STARTS}, {spread(since_workerd)} ms",
        ),
        Row("Python's memory after the start", heap, "MB", bar=48),
        Row("bundle as uploaded", total, "MB", bar=12, note=f"{packed:.1f} MB packed"),
    ]


def _start() -> tuple[float, float]:
    """Milliseconds to the first answer: from workerd's start, and from when it listened."""
    server = Server.start()
    try:
        listening = timed_ms(lambda: server.get("/healthz"))
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - _started(_workerd(server.process.pid))
        return age * 1000, listening
    finally:
        server.close()


def _workerd(parent: int) -> int:
    """The process of workerd below the runtime's own."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.read_text().split(" (", 1)
        except OSError:
            continue
        name, fields = rest.rsplit(") ", 1)
        if name == "workerd" and int(fields.split()[1]) == parent:
            return int(pid)
    raise AssertionError("no workerd below the runtime")


def _started(pid: int) -> float:
    """When a process started, in seconds since the machine did."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _bundle() -> tuple[float, float]:
    """The size of what a deployment uploads, in MB: as it is, and as wrangler packs it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        run = subprocess.run(
            ["npm", "run", "deploy:dry-run", "--", "--outdir", folder],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Total Upload: ([\d.]+) KiB / gzip: ([\d.]+) KiB", run.stdout)
    assert found, run.stdout
    return float(found[1]) * 1024 / 1e6, float(found[2]) * 1024 / 1e6
