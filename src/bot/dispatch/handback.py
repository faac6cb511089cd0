"""Hand-backs: a command that was not run, given back to a person in chat form (contract §4).

A hand-back with a code is one row of ``handbacks``: bound to its actor, good for ten minutes,
used once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.authz.actor import Actor
from bot.ports import House, Statement

LIFETIME_MS = 10 * 60_000
KEPT_MS = 24 * 60 * 60_000
CODE_CHARACTERS = 8
FENCE = "```"
_FENCE_INSIDE = re.compile("`{3,}")
_NO_WIDTH = "\u200b"
_FENCE_PARTED = re.compile(f"`(?:{_NO_WIDTH}`){{2,}}")
_WRITTEN = re.compile(
    rf"^{FENCE}\n(?P<command>.*)\n{FENCE}\n?(?:Answer confirm (?P<code>[A-Z0-9]+) within .*)?\Z",
    re.DOTALL | re.MULTILINE,
)


async def make_handback(house: House, actor: Actor, command_text: str, now_ms: int) -> str:
    """Keep a command for ``actor`` to confirm until ten minutes after ``now_ms``; its code.

    ``command_text`` is in chat form, as ``grammar.render`` writes it.
    """
    code = house.ids.secret(CODE_CHARACTERS)
    await house.db.batch(
        [
            Statement("DELETE FROM handbacks WHERE expires_at <= ?", (now_ms - KEPT_MS,)),
            Statement(
                "INSERT INTO handbacks (code, actor, command, made_at, expires_at)"
                " VALUES (?, ?, ?, ?, ?)",
                (code, actor.id, command_text, now_ms, now_ms + LIFETIME_MS),
            ),
        ]
    )
    return code


async def claim_handback(house: House, actor: Actor, code: str, now_ms: int) -> str | None:
    """Use up a code: the command it stands for, or None.

    None for a code that is unknown, another's, expired or used, alike; and only the actor it
    was made for can use it up. Of two who claim at once one wins, since the row changes once.
    """
    claimed = await house.db.run(
        "UPDATE handbacks SET used_at = ?"
        " WHERE code = ? AND actor = ? AND used_at IS NULL AND expires_at > ?",
        now_ms,
        code,
        actor.id,
        now_ms,
    )
    if claimed.changes != 1:
        return None
    found = await house.db.run("SELECT command FROM handbacks WHERE code = ?", code)
    return str(found.rows[0]["command"]) if found.rows else None


def render_handback(command_text: str, code: str | None) -> str:
    """What is posted in the place of a write: the command to paste, and how to run it.

    With a ``code`` its actor can confirm it. Nothing inside the command can end the fence
    around it.
    """
    fenced = f"{FENCE}\n{_inside_fence(command_text)}\n{FENCE}"
    if code is None:
        return (
            "Nothing was written. Somebody who holds the grants can run it: send this as a "
            f"message.\n{fenced}"
        )
    return (
        f"Nothing was written yet. This is what would run:\n{fenced}\n"
        f"Answer confirm {code} within ten minutes to run it once under your grants."
    )


@dataclass(frozen=True, slots=True)
class Handback:
    """A hand-back as it was posted: the command, and the code that confirms it if there is one."""

    command: str
    code: str | None


def read_handback(text: str) -> Handback | None:
    """What ``render_handback`` wrote, out of the output of a run; None where there is none.

    For runs whose code says that they ended in a hand-back: another text could be written to
    look like one.
    """
    found = _WRITTEN.search(text)
    return Handback(_FENCE_PARTED.sub(_joined, found["command"]), found["code"]) if found else None


def _joined(ticks: re.Match[str]) -> str:
    return ticks[0].replace(_NO_WIDTH, "")


def _inside_fence(text: str) -> str:
    # Parted by a blank of no width, backquotes look the same and make no fence.
    return _FENCE_INSIDE.sub(lambda ticks: _NO_WIDTH.join(ticks[0]), text)
