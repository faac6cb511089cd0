"""``bot.ports.AccessKeys`` by the platform's fetch and Web Crypto."""

from __future__ import annotations

from typing import Any

from bot.http.access import issuer_of
from bot.http.access_keys import KeyRing
from bot.ports import HttpClient, Json, Settings

_isolate: list[KeyRing] = []


def access_keys_of(settings: Settings, http: HttpClient) -> KeyRing | None:
    """The isolate's keys of the team; None where Access is not set up."""
    issuer = issuer_of(settings)
    if not issuer:
        return None
    if not _isolate:
        _isolate.append(KeyRing(http, issuer, made_by))
    return _isolate[0]


async def made_by(jwk: Json, signed: bytes, signature: bytes) -> bool:
    """Whether the RS256 ``signature`` over ``signed`` is by the key; what is no key made none."""
    from js import Object, crypto
    from pyodide.ffi import JsException, to_js

    def js(value: Any) -> Any:
        return to_js(value, dict_converter=Object.fromEntries)

    rules = js({"name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256"})
    public = {name: jwk[name] for name in ("kty", "n", "e")}
    try:
        key = await crypto.subtle.importKey("jwk", js(public), rules, False, js(["verify"]))
        return bool(await crypto.subtle.verify(rules, key, js(signature), js(signed)))
    except JsException:
        return False
