"""Randomness from the platform, which has none outside a request: it is drawn when asked for."""

from __future__ import annotations

import string

ID_CHARACTERS = string.ascii_lowercase + string.digits
SECRET_CHARACTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No I, L, O, U, 0 or 1: nothing to mistake when read aloud, and no words."""


class SecretIds:
    """``bot.ports.Ids``."""

    def new(self) -> str:
        """20 lower-case letters and digits: 103 bits."""
        return _drawn(ID_CHARACTERS, 20)

    def secret(self, characters: int) -> str:
        """An unguessable string for a person to read and type."""
        return _drawn(SECRET_CHARACTERS, characters)


def _drawn(alphabet: str, characters: int) -> str:
    import secrets

    return "".join(secrets.choice(alphabet) for _ in range(characters))
