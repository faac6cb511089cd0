"""Buttons pressed in Slack: Confirm on a hand-back, Fire on a claim that never started.

Slack is answered when what was pressed is done or admitted. What it came to is said after that:
to the presser alone where nothing was done, else in the message, in the button's place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from bot.authz.actor import Actor, Surface
from bot.authz.policy import COMMANDS, authorize
from bot.channels import markdown
from bot.channels.base import render_outcome, thread_key
from bot.channels.service import Done
from bot.channels.slack_api import SlackApi
from bot.channels.slack_buttons import CONFIRM, FIRE, standing_handback
from bot.channels.slack_events import Pressed
from bot.channels.slack_text import mrkdwn
from bot.http.intake import Heard, grants_now, take
from bot.ports import House
from bot.schedules.fire import refire
from bot.words import Code, Refused, State

log = logging.getLogger("bot.slack")


async def press(house: House, pressed: Pressed, now_ms: int) -> None:
    """Do what the button stands for, under the presser's own grants. Raises Fault."""
    if pressed.kind == CONFIRM:
        await _confirm(house, pressed, now_ms)
    elif pressed.kind == FIRE:
        await _fire(house, pressed, now_ms)
    else:
        log.info("ignored: a button %r", pressed.kind[:40], extra={"action": "slack_ignored"})


async def _confirm(house: House, pressed: Pressed, now_ms: int) -> None:
    """Whom it was handed back to says ``confirm CODE`` by pressing; others are told whose it is.

    The code works once, so a second press confirms nothing.
    """
    actor = Actor(Surface.SLACK, pressed.user)
    standing = await standing_handback(house.db, pressed.value, now_ms)
    if standing is None:
        detail = "That was confirmed already, or is over ten minutes old."
        _tell(house, pressed, Refused(Code.BAD_CODE, detail))
        return
    if standing.actor != actor.id:
        detail = f"That was handed back to {standing.actor}, who alone can confirm it."
        _tell(house, pressed, Refused(Code.BAD_CODE, detail))
        return
    thread = thread_key(f"{Surface.SLACK}:{pressed.channel}", pressed.ts)
    heard = Heard(f"press {pressed.press_id}", actor, thread, f"confirm {pressed.value}")
    if await take(house, heard, now_ms) is None:
        _replace(house, pressed, f"Confirmed by {actor}.")


async def _fire(house: House, pressed: Pressed, now_ms: int) -> None:
    """Dispatch the claim that the button names: once, whoever presses and however often."""
    actor = Actor(Surface.SLACK, pressed.user)
    name, _, key = pressed.value.partition(" ")
    refusal = authorize(
        COMMANDS.get("schedule fire"),
        {"name": name},
        await grants_now(house, actor),
        who=actor.id,
        givers=house.settings.admins,
    )
    fired = refusal or await refire(house, name, key, by=actor.id, now_ms=now_ms)
    if isinstance(fired, Refused):
        _tell(house, pressed, fired)
    else:
        by = f" by {fired.by}" if fired.by else ""
        _replace(house, pressed, f"{name} was fired{by}: run {fired.run_id} is {fired.state}.")


def _tell(house: House, pressed: Pressed, refusal: Refused) -> None:
    """Say why nothing was done, to the presser alone."""
    text = mrkdwn(markdown.read(render_outcome(State.REFUSED, refusal.code, refusal.detail)))
    _answer(
        house,
        pressed,
        {"response_type": "ephemeral", "replace_original": False, "text": text},
    )


def _replace(house: House, pressed: Pressed, note: str) -> None:
    """Put what was done in the button's place; the message and its other buttons stay."""
    text = mrkdwn(markdown.read(note))
    attachments: list[Any] = [*pressed.rest, {"fallback": text, "text": text}]
    _answer(
        house,
        pressed,
        {"replace_original": True, "text": pressed.text, "attachments": attachments},
    )


def _answer(house: House, pressed: Pressed, values: Mapping[str, Any]) -> None:
    async def answer() -> None:
        answered = await SlackApi(house.http, house.settings).answer(pressed.url, values)
        if not isinstance(answered, Done):
            log.warning("a press was not answered: %s", answered)

    house.background.defer(answer())
