"""The names of Slack's people and channels, looked up and kept for a day (``chat_names``)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.channels.base import shown
from bot.channels.markdown import Span, Style
from bot.channels.service import Done
from bot.channels.shape import at, text_at
from bot.channels.slack_api import SlackApi
from bot.ports import Database, Fault

log = logging.getLogger("bot.slack")
KEPT_MS = 24 * 3_600_000
MAX_LOOKUPS = 5
"""Names looked up for one post; further ids stay as they are."""
MAX_NAME = 60

_ID = re.compile(r"\bslack:([UWCG][A-Z0-9]{1,20})(?![\w/])", re.ASCII)
"""A person or a channel; not the channel of a thread's key."""
_KNOWN = "SELECT id, name FROM chat_names WHERE at > ? AND id IN (SELECT value FROM json_each(?))"
_KEEP = """
INSERT INTO chat_names (id, name, at) VALUES (?1, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET name = ?2, at = ?3
"""


class SlackNames:
    """Who is behind an actor's id, and what a channel is called."""

    def __init__(self, db: Database, api: SlackApi) -> None:
        self._db = db
        self._api = api

    async def told(self, spans: Sequence[Span], now_ms: int) -> list[Span]:
        """The spans with names before the ids. Code stays as it is, to be pasted.

        Names are a courtesy: where they cannot be had, the ids stand alone.
        """
        ids = dict.fromkeys(
            found for span in spans if _is_prose(span) for found in _ID.findall(span.text)
        )
        if not ids:
            return list(spans)
        try:
            names = await self._names(list(ids), now_ms)
        except Fault as fault:
            log.warning("no names: %s", fault)
            return list(spans)

        def named(found: re.Match[str]) -> str:
            name = names.get(found[1])
            return found[0] if name is None else f"{name} ({found[0]})"

        return [
            replace(span, text=_ID.sub(named, span.text)) if _is_prose(span) else span
            for span in spans
        ]

    async def _names(self, ids: Sequence[str], now_ms: int) -> dict[str, str]:
        keys = json.dumps([f"slack:{each}" for each in ids])
        known = await self._db.run(_KNOWN, now_ms - KEPT_MS, keys)
        names = {row["id"].partition(":")[2]: str(row["name"]) for row in known.rows}
        for each in [each for each in ids if each not in names][:MAX_LOOKUPS]:
            name = await (self._person(each) if each[0] in "UW" else self._channel(each))
            if name is not None:
                names[each] = name
                await self._db.run(_KEEP, f"slack:{each}", name, now_ms)
        return names

    async def _person(self, user: str) -> str | None:
        answer = await self._api.info("users.info", user=user)
        person = at(answer.data, "user") if isinstance(answer, Done) else None
        names = (
            text_at(person, "profile", "display_name"),
            text_at(person, "profile", "real_name"),
            text_at(person, "real_name"),
            text_at(person, "name"),
        )
        return next((plain for name in names if (plain := _plain(name))), None)

    async def _channel(self, channel: str) -> str | None:
        """Only a public channel is named: others may read the name where it is posted."""
        answer = await self._api.info("conversations.info", channel=channel)
        found = at(answer.data, "channel") if isinstance(answer, Done) else None
        name = _plain(text_at(found, "name"))
        return f"#{name}" if name and at(found, "is_private") is False else None


def _plain(name: str | None) -> str:
    """A name on one line, harmless: people choose their names themselves."""
    return shown(" ".join((name or "").split())[:MAX_NAME])


def _is_prose(span: Span) -> bool:
    return span.style in (Style.PLAIN, Style.BOLD)
