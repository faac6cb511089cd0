"""``bot.ports.Seal``: AES-GCM by the platform's Web Crypto, under a key of its own.

A sealed text is ``v1.`` and base64url of a random nonce and the ciphertext; the place is
authenticated with it and not in it.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from typing import Any

VERSION = "v1."
NONCE_BYTES = 12


class AesSeal:
    """Seals under a key derived from ``SEAL_KEY``; an empty one seals and opens nothing."""

    def __init__(self, secret: str):
        self._secret = secret

    async def close(self, secret: str, *, place: str) -> str | None:
        """See ``bot.ports.Seal``."""
        if not self._secret:
            return None
        import secrets

        nonce = secrets.token_bytes(NONCE_BYTES)
        made = await self._crypt("encrypt", nonce, place, secret.encode())
        return VERSION + base64.urlsafe_b64encode(nonce + made).decode()

    async def open(self, sealed: str, *, place: str) -> str | None:
        """See ``bot.ports.Seal``."""
        if not self._secret or not sealed.startswith(VERSION):
            return None
        from pyodide.ffi import JsException

        try:
            raw = base64.b64decode(sealed.removeprefix(VERSION), altchars=b"-_", validate=True)
            opened = await self._crypt("decrypt", raw[:NONCE_BYTES], place, raw[NONCE_BYTES:])
            return opened.decode()
        except (binascii.Error, ValueError, JsException):
            return None

    async def _crypt(self, action: str, nonce: bytes, place: str, data: bytes) -> bytes:
        from js import Object, crypto
        from pyodide.ffi import to_js

        def js(value: Any) -> Any:
            return to_js(value, dict_converter=Object.fromEntries)

        key = await crypto.subtle.importKey(
            "raw", js(derived(self._secret)), "AES-GCM", False, js([action])
        )
        rules = js({"name": "AES-GCM", "iv": nonce, "additionalData": place.encode()})
        made = await getattr(crypto.subtle, action)(rules, key, js(data))
        return made.to_bytes()


def derived(secret: str) -> bytes:
    """The AES-256 key: HKDF-SHA256 (RFC 5869) without salt, over one block."""
    extracted = hmac.digest(bytes(32), secret.encode(), "sha256")
    return hmac.digest(extracted, b"standing-orders sealed secrets v1\x01", "sha256")
