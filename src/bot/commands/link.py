"""The ``link`` command: the same person on another surface."""

from __future__ import annotations

from bot.agent.telegram_tool import LIFETIME_MS, offer_link_code
from bot.commands.grammar import Syntax
from bot.commands.own import not_a_person
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.times import iso
from bot.words import Code, Effect, Refused


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
    code = await offer_link_code(house, call.actor.id, call.now_ms)
    return ok(
        f"Send /start {code} to the bot in Telegram within ten minutes. Whoever sends it is "
        "linked to you, so show it to nobody.",
        {"code": code, "expires_at": iso(call.now_ms + LIFETIME_MS)},
        secret=True,
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
