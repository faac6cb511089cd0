"""The bot's own name on Telegram, asked once and kept for a day (table ``chat_names``)."""

from __future__ import annotations

from bot.channels.service import Declined, Done
from bot.channels.shape import text_at
from bot.channels.telegram_api import TelegramApi
from bot.ports import Database, Fault

KEPT_MS = 24 * 3_600_000

_KNOWN = "SELECT name FROM chat_names WHERE id = ? AND at > ?"
_KEEP = """
INSERT INTO chat_names (id, name, at) VALUES (?1, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET name = ?2, at = ?3
"""


async def username(db: Database, api: TelegramApi, now_ms: int) -> str | None:
    """The user name that people mention the bot by, in lower case.

    None where Telegram refuses the token. Raises Fault where it is silent: whether a message is
    for the bot is then not known.
    """
    key = f"telegram:{api.bot_id}"
    known = await db.run(_KNOWN, key, now_ms - KEPT_MS)
    if known.rows:
        return known.rows[0]["name"]
    answer = await api.call("getMe", {})
    if isinstance(answer, Declined):
        return None
    name = text_at(answer.data, "username") if isinstance(answer, Done) else None
    if name is None:
        raise Fault("Telegram did not say what the bot is called")
    await db.run(_KEEP, key, name.lower(), now_ms)
    return name.lower()
