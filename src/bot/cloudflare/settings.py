"""The Worker's variables and secrets, from ``env``."""

from __future__ import annotations

from typing import Any

from bot.ports import Settings
from bot.settings import read_settings

_isolate: list[Settings] = []


def settings_of(env: Any) -> Settings:
    """The settings that ``env`` holds, read once an isolate: a change of them is a new version."""
    if not _isolate:

        def get(name: str) -> str | None:
            value = getattr(env, name, None)
            return value if isinstance(value, str) else None

        _isolate.append(read_settings(get))
    return _isolate[0]
