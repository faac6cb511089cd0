"""The signing keys of a Cloudflare Access team, kept a while and read again as they rotate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from bot.ports import Fault, HttpClient, Json
from bot.strictjson import loads

PATH = "/cdn-cgi/access/certs"
KEEP_MS = 3_600_000
"""How long keys are believed: one that the team withdrew is refused after that."""
PAUSE_MS = 60_000
"""How long an unknown key's name does not make us ask again: names are anybody's to invent."""
MIN_BITS = 2048

Check = Callable[[Json, bytes, bytes], Awaitable[bool]]
"""Whether an RS256 signature is by that JWK: ``(jwk, signed, signature)``."""


class KeyRing:
    """``bot.ports.AccessKeys`` over HTTP. It holds plain data, and lives as long as an isolate."""

    def __init__(self, http: HttpClient, issuer: str, check: Check):
        self._http = http
        self._url = issuer + PATH
        self._check = check
        self._keys: Mapping[str, Json] = {}
        self._read_at: int | None = None

    async def signed(self, kid: str, data: bytes, signature: bytes, now_ms: int) -> bool:
        """Whether the team's key ``kid`` made this signature over ``data``.

        Raises Fault when the keys are too old and cannot be read anew.
        """
        age_ms = None if self._read_at is None else now_ms - self._read_at
        fresh = age_ms is not None and 0 <= age_ms < KEEP_MS
        asked_just_now = age_ms is not None and 0 <= age_ms < PAUSE_MS
        if not fresh or (kid not in self._keys and not asked_just_now):
            await self._read(now_ms)
        key = self._keys.get(kid)
        return key is not None and await self._check(key, data, signature)

    async def _read(self, now_ms: int) -> None:
        reply = await self._http.send("GET", self._url, timeout_s=5.0)
        if reply.status != 200:
            raise Fault(f"{self._url} answered {reply.status}")
        try:
            listed: Any = loads(reply.text)["keys"]
            self._keys = {key["kid"]: key for key in listed if _usable(key)}
        except (ValueError, TypeError, KeyError) as error:
            raise Fault(f"{self._url} answered no keys") from error
        self._read_at = now_ms


def _usable(key: Any) -> bool:
    """Whether it is a named RSA key, long enough, and not for another use."""
    if not isinstance(key, dict):
        return False
    jwk = cast(dict[str, Any], key)
    texts = [jwk.get(name) for name in ("kid", "n", "e")]
    if jwk.get("kty") != "RSA" or not all(isinstance(text, str) and text for text in texts):
        return False
    long_enough = len(jwk["n"]) * 6 >= MIN_BITS
    return long_enough and jwk.get("alg", "RS256") == "RS256" and jwk.get("use", "sig") == "sig"
