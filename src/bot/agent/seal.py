"""People's secrets for their MCP servers: handed in by a one-time code, sealed, opened for one use.

A secret never passes through a chat: ``mcp add`` answers a code, and whoever sends the code
with the secret to ``POST /api/mcp-secret`` within ten minutes sets it, once. It is stored sealed
for its owner, its server's name and its server's address, so that it opens for no other row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.ports import House, Statement
from bot.words import Code, Refused

LIFETIME_MS = 10 * 60_000
CODE_CHARACTERS = 16
SECRET_PATH = "/api/mcp-secret"
_SECRET = re.compile(r"[!-~]{1,4096}", re.ASCII)
"""What may stand after ``Bearer`` in a header: visible ASCII."""

_VALID = """
SELECT c.owner, c.name, s.url FROM secret_codes c
JOIN mcp_servers s ON s.owner = c.owner AND s.name = c.name
WHERE c.code = ? AND c.expires_at > ?
"""
_TAKE = """
UPDATE mcp_servers SET secret = ?1
WHERE owner = ?2 AND name = ?3 AND url = ?4
  AND EXISTS (SELECT 1 FROM secret_codes WHERE code = ?5 AND expires_at > ?6)
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """A secret was taken in for that server of that owner."""

    owner: str
    name: str


async def offer_code(house: House, owner: str, name: str, now_ms: int) -> str:
    """A fresh code for the secret of the owner's server ``name``; the one before is void."""
    code = house.ids.secret(CODE_CHARACTERS)
    await house.db.batch(
        [
            Statement(
                "DELETE FROM secret_codes WHERE (owner = ? AND name = ?) OR expires_at <= ?",
                (owner, name, now_ms),
            ),
            Statement(
                "INSERT INTO secret_codes (code, owner, name, expires_at) VALUES (?, ?, ?, ?)",
                (code, owner, name, now_ms + LIFETIME_MS),
            ),
        ]
    )
    return code


async def take_secret(house: House, code: str, secret: str, now_ms: int) -> Taken | Refused:
    """Seal ``secret`` for the server that the code was made for, and void the code.

    Returns ``bad_value`` for what cannot be a bearer token (the code still stands),
    ``bad_code`` for a code that is unknown, used or older than ten minutes, and
    ``not_configured`` where the bot has no key to seal with.
    """
    if not _SECRET.fullmatch(secret):
        return Refused(
            Code.BAD_VALUE, "A secret is 1 to 4,096 visible ASCII characters without blanks."
        )
    rows = (await house.db.run(_VALID, code, now_ms)).rows
    if not rows:
        return _no_code()
    row = rows[0]
    sealed = await house.seal.close(secret, place=_place(row["owner"], row["name"], row["url"]))
    if sealed is None:
        return Refused(
            Code.NOT_CONFIGURED,
            "This bot keeps no secrets. Whoever runs it sets SEAL_KEY first.",
        )
    taken, _ = await house.db.batch(
        [
            Statement(_TAKE, (sealed, row["owner"], row["name"], row["url"], code, now_ms)),
            Statement("DELETE FROM secret_codes WHERE code = ?", (code,)),
        ]
    )
    return Taken(row["owner"], row["name"]) if taken.changes == 1 else _no_code()


async def open_secret(house: House, row: Mapping[str, Any]) -> str | Refused | None:
    """The secret of a row of ``mcp_servers``, None where it has none.

    Returns ``not_configured`` where it cannot be opened: the key was changed or lost.
    """
    if row["secret"] is None:
        return None
    opened = await house.seal.open(
        row["secret"], place=_place(row["owner"], row["name"], row["url"])
    )
    if opened is not None:
        return opened
    return Refused(
        Code.NOT_CONFIGURED,
        f"The secret of {row['name']} can no longer be read, since the bot's key has changed. "
        f"Add it again: mcp remove {row['name']}, then mcp add.",
    )


def _place(owner: str, name: str, url: str) -> str:
    return json.dumps(["mcp", owner, name, url])


def _no_code() -> Refused:
    return Refused(
        Code.BAD_CODE,
        "There is no such code: it was used, or is older than ten minutes. mcp add makes one.",
    )
