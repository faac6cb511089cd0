"""Times for people: ISO 8601 with an offset, from epoch milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def iso(at_ms: int, zone: tzinfo = UTC, *, timespec: str = "seconds") -> str:
    """``at_ms`` (epoch milliseconds) as ISO 8601 in ``zone``, to the second unless told."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.astimezone(zone).isoformat(timespec=timespec)


def iso_or_none(at_ms: int | None, zone: tzinfo = UTC) -> str | None:
    """As ``iso``, passing None through."""
    return None if at_ms is None else iso(at_ms, zone)


def parse_iso(text: str) -> int | None:
    """Epoch milliseconds of an ISO 8601 time (UTC where it names no offset); None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
