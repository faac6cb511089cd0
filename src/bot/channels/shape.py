"""Reading JSON that a chat service sent: what has another shape than expected is None. Pure."""

from __future__ import annotations

from typing import Any, cast


def at(value: Any, *path: str) -> Any:
    """What lies at the end of a path of keys; None where there is no such path."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = cast(dict[str, Any], value).get(key)
    return value


def text_at(value: Any, *path: str) -> str | None:
    """As ``at``, for a text."""
    found = at(value, *path)
    return found if isinstance(found, str) else None


def int_at(value: Any, *path: str) -> int | None:
    """As ``at``, for a whole number that JavaScript could hold too."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if abs(found) < 2**53 else None


def list_at(value: Any, *path: str) -> list[Any]:
    """As ``at``, for a list; empty where there is none."""
    found = at(value, *path)
    return cast(list[Any], found) if isinstance(found, list) else []
