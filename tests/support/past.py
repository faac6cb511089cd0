"""A past for a local runtime that is stopped: firings and ticks written into its state folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path

from bot.ports import Firing, TickRecord

OBJECTS = Path("v3") / "do" / "standing-orders-ScheduleDO"


def write_past(
    state: Path, firings: Iterable[Firing] = (), ticks: Iterable[TickRecord] = ()
) -> None:
    """Add to the history of the state folder ``state``, whose runtime has answered once.

    Only while the runtime is stopped: its database has one writer.
    """
    files = [each for each in (state / OBJECTS).glob("*.sqlite") if each.stem != "metadata"]
    assert len(files) == 1, f"one history in {state / OBJECTS}, not {len(files)}"
    with sqlite3.connect(files[0]) as db:
        _insert(db, "firings", Firing, firings)
        _insert(db, "ticks", TickRecord, ticks)
    db.close()


def _insert(
    db: sqlite3.Connection, table: str, kind: type, values: Iterable[Firing | TickRecord]
) -> None:
    names = [field.name for field in fields(kind)]
    marks = ", ".join("?" * len(names))
    sql = f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({marks})"
    db.executemany(sql, (astuple(value) for value in values))
