"""What all surfaces share: thread keys, cutting, and text that cannot shout. Pure."""

from __future__ import annotations

import re
import unicodedata

from bot.words import TEXTS, Code, State

MAX_POST = 12_000
"""Characters of one post; what is longer is cut with a pointer to its run."""
MAX_TITLE = 120

_ZERO_WIDTH_SPACE = "\u200b"
_MASS_MENTION = re.compile(r"([@＠])(?=(?:channel|here|everyone|group|all)\b)", re.IGNORECASE)
_SPECIAL_MENTION = re.compile(r"<(?=!)")
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, half characters, and marks that turn the direction of what follows."""
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""Joiners, fillers and selectors that are letters or marks by their category."""


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


def shown(text: str) -> str:
    """``neutral`` text in which each character is what it looks like.

    Direction overrides would let a command look like another one; they and the other characters
    that cannot be shown become a replacement character.
    """
    return _UNSHOWABLE.sub("\ufffd", neutral(text))


def written_out(text: str) -> str:
    """``text`` with each character that hides written out, as ``\\u{202E}``.

    For a command that a button will run: what is not seen, or turns the direction of what
    follows, must not make it look like another one.
    """
    return "".join(f"\\u{{{ord(each):X}}}" if _hides(each) else each for each in text)


def _hides(character: str) -> bool:
    if character in "\n\t":
        return False
    hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES
    return hidden or _BLANK.fullmatch(character) is not None


def render_outcome(state: str, code: str | None, text: str) -> str:
    """What is posted of a turn's end, the same on every surface.

    An ``ok`` is its text alone; anything else says its state and code first, and the code's
    sentence where there is no text.
    """
    text = text.strip()
    if state == State.OK and text:
        return text
    title = f"{TEXTS[Code(code)].title}." if code in set(Code) else ""
    head = f"{state}: {code}" if code else str(state)
    return "\n".join(filter(None, (head, text or title)))


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
