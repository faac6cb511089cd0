"""Telegram's way of writing: a text, and its formatting as entities beside it. Pure.

Nothing in the text is parsed, so nothing in it can open or close formatting, and a message is
cut anywhere without breaking an entity: each part has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.channels.markdown import Span, Style, utf16

MAX_UNITS = 4_096
"""UTF-16 units of one message."""
MAX_ENTITIES = 100
"""What Telegram takes of them in one message; the rest stays plain text."""


def message(spans: Sequence[Span]) -> dict[str, Any]:
    """Spans as a message's ``text`` and ``entities``."""
    entities: list[dict[str, Any]] = []
    offset = 0
    for span in spans:
        length = utf16(span.text)
        if span.style is not Style.PLAIN and len(entities) < MAX_ENTITIES:
            entities.append({"type": str(span.style), "offset": offset, "length": length})
        offset += length
    return {"text": "".join(span.text for span in spans), "entities": entities}
