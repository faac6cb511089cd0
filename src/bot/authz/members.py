"""Who of Telegram's users is a person here: anybody who finds the bot, or members alone. Pure.

Telegram has no workspace whose membership would vouch for a user, so the operator says who is
let in (``TELEGRAM_MEMBERS``). A stranger has no floor and starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.authz.actor import Actor
from bot.authz.grants import given_to
from bot.words import Code, Refused

FREE = frozenset({"help", "whoami"})
"""Commands that a stranger may say: whom to ask for what is found out by them."""


def is_stranger(
    actor: Actor,
    places: Iterable[str],
    *,
    members: frozenset[str] | None,
    linked: bool,
    entries: Mapping[str, Any],
    admins: frozenset[str],
) -> bool:
    """Whether a Telegram user is let in by nothing.

    ``places`` are the ids of the chat that they write in. ``members`` is ``TELEGRAM_MEMBERS``;
    where it is None, everybody is let in. So is whom ``ADMINS`` names, who holds a grant of the
    org document ``entries``, and whose chat somebody of another surface ``linked``.
    """
    if members is None or linked or actor.id in admins or given_to(actor, entries):
        return False
    return members.isdisjoint({actor.subject, *places})


def turned_away(actor: Actor) -> Refused:
    """What a stranger is told, whatever they ask."""
    return Refused(
        Code.FORBIDDEN,
        f"This bot answers its own people, and {actor} is not one of them. Whoever looks after it "
        f"can let you in: in TELEGRAM_MEMBERS, or by a grant (`grant add {actor} GRANT`). If you "
        "are known elsewhere, say `link telegram` there and send me /start CODE.",
    )
