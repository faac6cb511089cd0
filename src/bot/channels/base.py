"""What all surfaces share: thread keys, cutting, and text that cannot shout. Pure."""

from __future__ import annotations

import re

MAX_POST = 12_000
"""Characters of one post; what is longer is cut with a pointer to its run."""
MAX_TITLE = 120

_ZERO_WIDTH_SPACE = "\u200b"
_MASS_MENTION = re.compile(r"([@＠])(?=(?:channel|here|everyone|group|all)\b)", re.IGNORECASE)
_SPECIAL_MENTION = re.compile(r"<(?=!)")


def channel_of(thread: str) -> str:
    """The channel that a thread key lies in: ``web:general/abc`` is in ``web:general``."""
    return thread.partition("/")[0]


def thread_key(channel: str, thread_id: str) -> str:
    """The key of a thread in a channel."""
    return f"{channel}/{thread_id}"


def neutral(text: str) -> str:
    """``text`` with no word left that would call a whole channel (contract §8).

    A zero-width space parts the sign from its word, so that people read the same and no chat
    service sees a mention. A surface adds the escapes of its own formatting to this. Calling
    it twice changes nothing more.
    """
    parted = _MASS_MENTION.sub(rf"\1{_ZERO_WIDTH_SPACE}", text)
    return _SPECIAL_MENTION.sub(f"<{_ZERO_WIDTH_SPACE}", parted)


def cut(text: str, run_id: str, limit: int = MAX_POST) -> str:
    """``text``, cut to ``limit`` characters with a pointer to its run where it is longer."""
    if len(text) <= limit:
        return text
    pointer = f"\n\n… cut: {len(text):,} characters in all. The whole of it: run show {run_id}"
    return text[: limit - len(pointer)].rstrip() + pointer


def headline(text: str, limit: int = MAX_TITLE) -> str:
    """The first line that says anything, cut to ``limit`` characters: a thread's title."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first if len(first) <= limit else first[: limit - 1].rstrip() + "…"
