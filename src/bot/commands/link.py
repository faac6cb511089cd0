"""The ``link`` command: the same person on another surface."""

from __future__ import annotations

from bot.authz.actor import Surface
from bot.commands.grammar import Syntax
from bot.commands.own import not_a_person
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House, Statement
from bot.times import iso
from bot.words import Code, Effect, Refused

LIFETIME_MS = 10 * 60_000
CODE_CHARACTERS = 12


async def _telegram(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = not_a_person(call.actor)
    if refusal is not None:
        return refused(refusal)
    if not house.settings.telegram_bot_token:
        return refused(
            Refused(
                Code.NOT_CONFIGURED,
                "This bot has no Telegram. Whoever runs it sets TELEGRAM_BOT_TOKEN first.",
            )
        )
    code = house.ids.secret(CODE_CHARACTERS)
    expires_at = call.now_ms + LIFETIME_MS
    await house.db.batch(
        [
            Statement(
                "DELETE FROM link_codes WHERE (owner = ? AND surface = ?) OR expires_at <= ?",
                (call.actor.id, str(Surface.TELEGRAM), call.now_ms),
            ),
            Statement(
                "INSERT INTO link_codes (code, owner, surface, expires_at) VALUES (?, ?, ?, ?)",
                (code, call.actor.id, str(Surface.TELEGRAM), expires_at),
            ),
        ]
    )
    return ok(
        f"Send /start {code} to the bot in Telegram within ten minutes. Whoever sends it is "
        "linked to you, so show it to nobody.",
        {"code": code, "expires_at": iso(expires_at)},
    )


COMMANDS = (
    Command(
        "link telegram",
        "A code that links your Telegram account to you.",
        Effect.WRITE,
        Syntax(),
        _telegram,
    ),
)
