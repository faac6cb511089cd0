"""A person's own Telegram chat: linking it by a code, and the agent's ``use_telegram``.

``link telegram`` makes a code; whoever sends it to the bot in a private chat is linked. The
tool writes to that chat and to no other: it takes a text and no address.
"""

from __future__ import annotations

from pydantic import Field

from bot.agent.once import once
from bot.agent.toolkit import Input, read_input, schema_of
from bot.agent.tools import Tool, ToolCall, ToolResult
from bot.authz.actor import Actor, Surface, parse_actor
from bot.channels.telegram_send import Sent, Wait, send_message
from bot.ports import House, Statement
from bot.words import Code, Refused

LIFETIME_MS = 10 * 60_000
CODE_CHARACTERS = 12
MAX_TEXT = 4_000
"""Telegram takes 4,096 UTF-16 units in one message."""

_LINK = """
INSERT INTO identity_links (owner, surface, subject, linked_at)
SELECT owner, surface, ?1, ?2 FROM link_codes
WHERE code = ?3 AND surface = ?4 AND expires_at > ?2 AND ?5
ON CONFLICT (owner, surface) DO UPDATE SET subject = ?1, linked_at = ?2, paused_reason = NULL
RETURNING owner
"""


async def offer_link_code(house: House, owner: str, now_ms: int) -> str:
    """A fresh code that links a Telegram chat to the owner; the one before is void."""
    code = house.ids.secret(CODE_CHARACTERS)
    telegram = str(Surface.TELEGRAM)
    await house.db.batch(
        [
            Statement(
                "DELETE FROM link_codes WHERE (owner = ? AND surface = ?) OR expires_at <= ?",
                (owner, telegram, now_ms),
            ),
            Statement(
                "INSERT INTO link_codes (code, owner, surface, expires_at) VALUES (?, ?, ?, ?)",
                (code, owner, telegram, now_ms + LIFETIME_MS),
            ),
        ]
    )
    return code


async def consume_link_code(
    house: House, code: str, chat_id: int, telegram_user_id: int, now_ms: int
) -> str | Refused:
    """Link the private chat that sent a code to the code's owner, and answer the owner.

    A code works once and for ten minutes. One that is said in a group is void, since others
    read it there. Returns ``bad_code`` with what to do.
    """
    private = chat_id == telegram_user_id
    linked, gone = await house.db.batch(
        [
            Statement(_LINK, (str(chat_id), now_ms, code, str(Surface.TELEGRAM), int(private))),
            Statement("DELETE FROM link_codes WHERE code = ?", (code,)),
        ]
    )
    if linked.rows:
        return linked.rows[0]["owner"]
    if gone.changes and not private:
        return Refused(
            Code.BAD_CODE,
            "That code is void now, since others read it here. Make a new one with link telegram "
            "and send it to me in a private chat.",
        )
    return Refused(
        Code.BAD_CODE,
        "There is no such code: it was used, or is older than ten minutes. link telegram makes "
        "one.",
    )


async def linked_chat(house: House, owner: str) -> str | None:
    """The id of the owner's Telegram chat: the linked one, or a Telegram person's own."""
    found = await house.db.run(
        "SELECT subject FROM identity_links WHERE owner = ? AND surface = ?",
        owner,
        str(Surface.TELEGRAM),
    )
    if found.rows:
        return found.rows[0]["subject"]
    actor = parse_actor(owner)
    own = isinstance(actor, Actor) and actor.surface is Surface.TELEGRAM
    return actor.subject if own and isinstance(actor, Actor) else None


class Message(Input):
    """What ``use_telegram`` takes."""

    text: str = Field(description=f"The message, plain text, at most {MAX_TEXT:,} characters.")


async def _use_telegram(call: ToolCall) -> ToolResult:
    values = read_input(Message, call.args)
    if isinstance(values, Refused):
        return _no(values)
    text = values.text.strip()
    if not 0 < len(text) <= MAX_TEXT:
        return _no(Refused(Code.BAD_TEXT, f"A message has 1 to {MAX_TEXT:,} characters."))
    if not call.house.settings.telegram_bot_token:
        return _no(Refused(Code.NOT_CONFIGURED, "This bot has no Telegram."))
    chat = await linked_chat(call.house, call.run.actor)
    if chat is None:
        return _no(
            Refused(
                Code.NOT_CONFIGURED,
                f"{call.run.actor} has linked no Telegram chat. They can: link telegram.",
            )
        )
    return await once(call, lambda: _sent(call.house, chat, text))


async def _sent(house: House, chat: str, text: str) -> ToolResult:
    outcome = await send_message(house, chat, text)
    if isinstance(outcome, Sent):
        return ToolResult("Sent to their Telegram chat.")
    if isinstance(outcome, Wait):
        return ToolResult(f"Not sent: Telegram asks to wait {outcome.seconds} s.", ok=False)
    return ToolResult(f"Not sent: {outcome.reason}.", ok=False)


def _no(refusal: Refused) -> ToolResult:
    return ToolResult(f"{refusal.code}: {refusal.detail}", ok=False)


TOOL = Tool(
    "use_telegram",
    "Send a message to this person's own Telegram chat. It reaches nobody else.",
    schema_of(Message),
    _use_telegram,
    writes=True,
)
