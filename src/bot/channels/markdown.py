"""What the bot says, read as spans of plain text, bold and code, and cut into messages. Pure.

A small part of Markdown, the part that agents write most: fenced code, code in a line, bold,
headings, links. Whatever else looks like markup is plain text. Chat services are given the spans
in their own form, so that nothing in a text can open or close formatting by itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.channels.base import shown

MAX_TEXT = 30_000
"""Characters of one text; what a turn says is cut long before."""
_CUT = "\n… cut"
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32

_FENCE = re.compile(r"^```[^\n`]*\n(.*?)(?:^```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\*\*(?P<bold>(?=[^\s*])[^*\n]*[^\s*])\*\*"
    r"|^#{1,6}[ \t]+(?P<heading>\S[^\n]*)"
    r"|!?\[(?P<label>[^\[\]\n]{0,200})\]\((?P<url>https?://[^\s()<>]{1,1000})\)",
    re.MULTILINE,
)


class Style(StrEnum):
    """How a span is shown."""

    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    PRE = "pre"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text in one style."""

    text: str
    style: Style = Style.PLAIN


def read(text: str) -> list[Span]:
    """The spans of a text, made harmless (``base.shown``); none is empty.

    A link is shown with its address, so that its label cannot hide where it leads; a picture is
    shown as a link.
    """
    if len(text) > MAX_TEXT:
        text = text[: MAX_TEXT - len(_CUT)] + _CUT
    text = shown(text)
    spans: list[Span] = []
    end = 0
    for fence in _FENCE.finditer(text):
        spans += _read_lines(text[end : fence.start()])
        spans.append(Span(fence[1].removesuffix("\n"), Style.PRE))
        end = fence.end()
    spans += _read_lines(text[end:])
    return [span for span in spans if span.text]


def _read_lines(text: str) -> list[Span]:
    spans: list[Span] = []
    end = 0
    for found in _INLINE.finditer(text):
        spans.append(Span(text[end : found.start()]))
        end = found.end()
        if found["code"] is not None:
            spans.append(Span(found["code"], Style.CODE))
        elif found["url"] is not None:
            spans.append(Span(_link(found["label"].strip(), found["url"])))
        else:
            heading = (found["heading"] or "").rstrip().replace("**", "")
            spans.append(Span(found["bold"] or heading, Style.BOLD))
    return [*spans, Span(text[end:])]


def _link(label: str, url: str) -> str:
    return url if label in ("", url) else f"{label} ({url})"


def utf16(text: str) -> int:
    """How long a text is to Telegram."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(
    spans: Sequence[Span], limit: int, measure: Callable[[str], int] = len
) -> list[list[Span]]:
    """The spans in parts of at most ``limit``, in order, each with something to read in it.

    A part ends before a piece of code or bold that fits into one part as a whole, else at the
    end of a paragraph, a line or a word, and within a word only where there is nothing else.
    Code that is cut goes on as code. ``measure`` gives a text's length, which is the sum of its
    characters' lengths; ``limit`` is at least 2.
    """
    parts: list[list[Span]] = []
    rest = _trimmed(spans)
    while rest:
        end = _end_of_part(rest, limit, measure)
        part = _trimmed(_sliced(rest, 0, end))
        rest = _trimmed(_sliced(rest, end, None))
        if part:
            parts.append(part)
    return parts


def _end_of_part(spans: Sequence[Span], limit: int, measure: Callable[[str], int]) -> int:
    """How many characters of the spans the next part takes; at least one."""
    at, room = 0, limit
    for span in spans:
        size = measure(span.text)
        if size <= room:
            at, room = at + len(span.text), room - size
        elif at and span.style is not Style.PLAIN and size <= limit:
            return at
        else:
            return at + _good_end(span, _fitting(span.text, room, measure), at)
    return at


def _fitting(text: str, room: int, measure: Callable[[str], int]) -> int:
    """How many characters of a text fit into that much room."""
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _good_end(span: Span, fits: int, at: int) -> int:
    """Where to cut a span of which ``fits`` characters fit: there, or better a little before.

    ``at`` is how many characters the part has before it: it must not become less than half.
    """
    text = span.text
    low = max((at + fits) // 2 - at, 0)
    breaks = ("\n",) if span.style is Style.PRE else ("\n\n", "\n", " ")
    for each in breaks:
        found = text.rfind(each, low, fits + len(each))
        if at + found > 0 and found >= 0:
            return found
    end = fits
    while end > max(1, fits - _LONGEST_CLUSTER) and _joined(text[end - 1], text[end]):
        end -= 1
    return end if at + end > 1 else fits


def _joined(before: str, after: str) -> bool:
    """Whether two characters are shown as one."""
    return (
        before == _JOINER
        or after == _JOINER
        or unicodedata.combining(after) > 0
        or unicodedata.category(after) in ("Mn", "Me", "Sk")
    )


def _sliced(spans: Sequence[Span], start: int, end: int | None) -> list[Span]:
    """The spans from one character to another, counted over all of them."""
    sliced: list[Span] = []
    at = 0
    for span in spans:
        low = max(start - at, 0)
        text = span.text[low : None if end is None else max(end - at, 0)]
        if text:
            sliced.append(replace(span, text=text))
        at += len(span.text)
    return sliced


def _trimmed(spans: Sequence[Span]) -> list[Span]:
    """The spans without blanks at either end; code keeps its indentation."""
    kept = list(spans)
    for end in (0, -1):
        while kept:
            span = kept[end]
            blanks = "\n" if span.style is Style.PRE and span.text.strip() else None
            text = span.text.lstrip(blanks) if end == 0 else span.text.rstrip(blanks)
            if text:
                kept[end] = replace(span, text=text)
                break
            kept.pop(end)
    return kept
