"""Slack's way of writing: what people say as plain text, and what the bot says as mrkdwn. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.channels.markdown import Span, Style

USER = re.compile(r"[UW][A-Z0-9]{1,20}", re.ASCII)
CHANNEL = re.compile(r"[CGD][A-Z0-9]{1,20}", re.ASCII)
TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,6}", re.ASCII)

_SEQUENCE = re.compile(r"<([^<>\n]*)>")
_FENCED = re.compile(r"(`{1,3})([^`]+)\1")
_ZERO_WIDTH_SPACE = "\u200b"


def heard(text: str, bot: str | None) -> str:
    """What a person wrote, as plain text.

    The bot's own mention is dropped; other people and channels become what commands call them
    (``slack:U042``, ``slack:C042``), links what was typed. A text that stands in backquotes as a
    whole, as a command that was handed back and pasted does, loses them.
    """
    if bot is not None:
        text = re.sub(rf"\A\s*<@{bot}(\|[^<>]*)?>[\s,:]*", "", text)
    text = _SEQUENCE.sub(lambda found: _plain(found[1], bot), text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
    fenced = _FENCED.fullmatch(text)
    return fenced[2].strip() if fenced else text


def mentioned(text: str) -> list[str]:
    """The ids of the people a text mentions, in their order."""
    found = [inner.partition("|")[0] for inner in _SEQUENCE.findall(text)]
    return [inner[1:] for inner in found if inner.startswith("@") and USER.fullmatch(inner[1:])]


def _plain(inner: str, bot: str | None) -> str:
    """One of Slack's sequences between ``<`` and ``>``."""
    target, _, label = inner.partition("|")
    sign, name = target[:1], target[1:]
    if sign == "@":
        return "" if name == bot else f"slack:{name}"
    if sign == "#":
        return f"slack:{name}"
    if sign == "!":
        return label or f"@{name.partition('^')[0]}"
    typed = label and any(target == f"{scheme}{label}" for scheme in _SCHEMES)
    return label if typed else target


_SCHEMES = ("http://", "https://", "mailto:", "tel:", "")


def escaped(text: str) -> str:
    """A text in which Slack sees no mention, no link and no entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mrkdwn(spans: Sequence[Span]) -> str:
    """Spans as Slack's mrkdwn: nothing in a text becomes a mention or ends the code around it."""
    return "".join(map(_mrkdwn, spans))


def _mrkdwn(span: Span) -> str:
    text = escaped(span.text)
    if span.style is Style.PRE:
        return f"```\n{text.replace('```', _ZERO_WIDTH_SPACE.join('```'))}\n```"
    if span.style is Style.CODE:
        return f"`{text}`"
    return f"*{text}*" if span.style is Style.BOLD else text
