"""Which keys of a document a caller may write by hand (``config set``, ``PUT /admin/config``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.authz.grants import ALL, Grant, covers
from bot.words import Code, Refused

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9._:@+-]{0,199}", re.ASCII)
OWN = {
    "schedules.": "schedule add, schedule pause, schedule resume and schedule remove",
    "grants.": "grant add and grant remove",
}
"""The product's own keys by prefix, and the commands that write them under the rules."""


def is_own(key: str) -> bool:
    """Whether the key is the product's own: a schedule's row, or an actor's grants."""
    return key.startswith(tuple(OWN))


def bad_key(key: str, held: Iterable[Grant]) -> Refused | None:
    """Whether a caller who holds ``held`` may write that key by hand; None is yes.

    The product's own keys are written by the commands that keep their rules (a grant comes
    only from somebody who holds it), so by hand only by who holds ``all``.
    """
    if not _KEY.fullmatch(key):
        return Refused(
            Code.BAD_KEY,
            f"{key[:80]!r} is not a key. Use 1 to 200 letters, digits and . _ : @ + -, "
            "starting with a letter.",
        )
    for prefix, commands in OWN.items():
        if key.startswith(prefix) and not covers(held, Grant(ALL)):
            return Refused(
                Code.BAD_KEY, f"Keys under {prefix} are the product's own. Use {commands}."
            )
    return None
