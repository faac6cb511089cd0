"""The buttons under a Slack post: Confirm for a hand-back, Fire for a claim that never started.

A post is searched for what it names, and the stores say what that is: a button appears for a
code that stands and for a claim that has no run, and says what pressing it will do. A text can
therefore offer nothing that its reader could not have typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot import org
from bot.channels.base import neutral, written_out
from bot.ports import ConfigStore, Database
from bot.runs import ledger
from bot.schedules.firing import claim_firing, run_id_of
from bot.schedules.row import Row, rows_of
from bot.times import iso
from bot.words import State

CONFIRM = "confirm"
FIRE = "fire"
MAX_BUTTONS = 5
_SHOWN = 250
"""Characters of a command in the question before it is run; Slack takes 300 in all."""

_CODE = re.compile(r"\bconfirm ([A-Z0-9]{8})\b", re.ASCII)
_NAME = r"[a-z0-9][a-z0-9-]{0,62}"
_UNSTARTED = re.compile(
    rf"^({_NAME}) · [^\n]*\b{State.CLAIMED_NOT_STARTED}\b|\bschedule fire ({_NAME})(?![\w-])",
    re.MULTILINE | re.ASCII,
)


_STANDING = """
SELECT actor, command FROM handbacks WHERE code = ? AND used_at IS NULL AND expires_at > ?
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """A hand-back that its actor can still confirm."""

    actor: str
    command: str


@dataclass(frozen=True, slots=True)
class Button:
    """One button: what it is called, what it carries, what is asked before it is pressed."""

    kind: str
    label: str
    value: str
    question: str


async def buttons_for(db: Database, config: ConfigStore, text: str, now_ms: int) -> list[Button]:
    """The buttons that a post's text calls for, at most ``MAX_BUTTONS``. Raises Fault."""
    buttons: list[Button] = []
    for code in dict.fromkeys(_CODE.findall(text)):
        standing = await standing_handback(db, code, now_ms)
        if standing is not None:
            command = neutral(written_out(standing.command))
            question = f"Run this under your grants, once?\n{command}"
            buttons.append(Button(CONFIRM, "Confirm", code, question))
    names = dict.fromkeys(first or second for first, second in _UNSTARTED.findall(text))
    if names:
        buttons += await _fire_buttons(db, config, list(names), now_ms)
    return buttons[:MAX_BUTTONS]


async def standing_handback(db: Database, code: str, now_ms: int) -> Standing | None:
    """The hand-back that a code stands for, if it is neither used nor over its time."""
    found = (await db.run(_STANDING, code, now_ms)).rows
    return Standing(found[0]["actor"], found[0]["command"]) if found else None


async def _fire_buttons(
    db: Database, config: ConfigStore, names: Sequence[str], now_ms: int
) -> list[Button]:
    entries = (await config.read(org.TIER)).entries
    rows = [
        row
        for row in rows_of(entries)
        if isinstance(row, Row) and row.name in names and row.stored.last_due_at is not None
    ]
    runs = await ledger.get_many(
        db, [run_id_of(row.stored.id, row.stored.last_due_at or 0) for row in rows]
    )
    buttons: list[Button] = []
    for row in rows:
        claim = claim_firing(row.stored, runs, now_ms)
        if claim is not None and claim.state is State.CLAIMED_NOT_STARTED:
            due = iso(claim.due_at or 0, row.zone)
            question = f"Run {row.name} for the minute it missed, {due}? It runs once."
            buttons.append(
                Button(FIRE, f"Fire {row.name}"[:75], f"{row.name} {claim.key}", question)
            )
    return buttons


def attachment(buttons: Sequence[Button]) -> list[dict[str, Any]] | None:
    """The buttons as Slack takes them, under the text of a message."""
    if not buttons:
        return None
    elements = [
        {
            "type": "button",
            # An action's id is unique within its block.
            "action_id": f"{button.kind}-{number}",
            "text": {"type": "plain_text", "text": button.label},
            "value": button.value,
            "style": "primary",
            "confirm": {
                "title": {"type": "plain_text", "text": button.label[:100]},
                "text": {"type": "plain_text", "text": _cut(button.question)},
                "confirm": {"type": "plain_text", "text": "Run it"},
                "deny": {"type": "plain_text", "text": "Not now"},
            },
        }
        for number, button in enumerate(buttons, 1)
    ]
    fallback = ", ".join(button.label for button in buttons)
    return [{"fallback": fallback, "blocks": [{"type": "actions", "elements": elements}]}]


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
