"""`make bench`: measures, and prints one table. `ARGS="schedules start"` measures these alone.

Each part is a module of this folder with a function `measure() -> list[Row]`. `--write` also puts
the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.table import Row, markdown

PARTS = ("schedules", "cron", "start", "turns", "jobs", "panel")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
MARKED = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    where, rows = machine(), list[Row]()
    for part in options.parts or PARTS:
        print(f"measuring: {part}", file=sys.stderr, flush=True)
        before = machine()
        measured: Sequence[Row] = importlib.import_module(f"bench.{part}").measure()
        rows += measured
        if options.write:
            write(part, f"{before}\n\n{markdown(measured)}\n")
    print(f"{where}\n\n{markdown(rows)}")


def machine() -> str:
    """Where and when this was measured, and how busy the machine was with other things."""
    today = datetime.now(UTC).date()
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    kind = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{today}, {kind}, load {load} at the start."


def write(part: str, text: str) -> None:
    """Put a part's table between its marks in the page, if the page has such marks."""
    page = PAGE.read_text()
    PAGE.write_text(MARKED.sub(lambda m: m[1] + text + m[3] if m[2] == part else m[0], page))


if __name__ == "__main__":
    main()
