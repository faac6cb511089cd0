"""Values for tests, made in one line: rows, times, grants."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.authz.grants import Grant, parse_grant
from bot.schedules.row import Row, StoredRow, dump_row, read_row


def ms(iso: str) -> int:
    """Epoch milliseconds of an ISO time with an offset."""
    moment = datetime.fromisoformat(iso)
    assert moment.tzinfo is not None, "a test's time names its offset"
    return int(moment.timestamp() * 1000)


def grant(text: str) -> Grant:
    """A grant that parses."""
    made = parse_grant(text)
    assert isinstance(made, Grant)
    return made


def entry(name: str = "nightly", **values: Any) -> dict[str, Any]:
    """A row as the document keeps it, snake-case names given."""
    stored = StoredRow(
        **{
            "id": "row" + name.replace("-", ""),
            "name": name,
            "cron": "0 3 * * *",
            "zone": "UTC",
            "text": "whoami",
            "channel": "web:ops",
            "thread": "new",
            "grants": [],
            "created_by": "web:alice",
            "created_at": ms("2026-09-01T00:00:00+00:00"),
            **values,
        }
    )
    return dump_row(stored)


def row(name: str = "nightly", **values: Any) -> Row:
    """A row that parses."""
    made = read_row(name, entry(name, **values))
    assert isinstance(made, Row), made
    return made
