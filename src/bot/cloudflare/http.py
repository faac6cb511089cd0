"""``bot.ports.HttpClient`` over the platform's ``fetch``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from bot.cloudflare.streams import read_at_most
from bot.ports import Fault, HttpReply

MAX_REPLY_BYTES = 4 * 1024 * 1024
"""What an answer from outside may take of an isolate's 128 MB."""
_ADDRESS = re.compile(r"https?:\S+", re.IGNORECASE)


def told(method: str, url: str, what: str) -> str:
    """What went wrong with a call, without a word of any address but the host that was called."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return f"{method} {host or 'an address'}: {_ADDRESS.sub('(an address)', what)}"


class Fetch:
    """Plain HTTP to the outside. A redirect is an answer like any other: it is not followed."""

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        timeout_s: float = 20.0,
    ) -> HttpReply:
        """One request.

        Raises Fault when the whole answer is not there within ``timeout_s`` seconds, when the
        connection breaks, and when the answer is over ``MAX_REPLY_BYTES``. The fault names the
        host alone, since faults are logged and the rest of an address may be a secret.
        """
        from js import AbortSignal
        from workers import fetch

        try:
            response = await fetch(
                url,
                method=method,
                headers=dict(headers or {}),
                redirect="manual",
                signal=AbortSignal.timeout(int(timeout_s * 1000)),
                **({} if body is None else {"body": body}),
            )
            raw = await read_at_most(response.js_object.body, MAX_REPLY_BYTES + 1)
        except Exception as error:
            # What the platform raised may quote the address, so it is no cause to be logged.
            raise Fault(told(method, url, str(error))) from None
        if len(raw) > MAX_REPLY_BYTES:
            raise Fault(told(method, url, "the answer is over 4 MiB"))
        received = {name.lower(): value for name, value in response.headers.items()}
        return HttpReply(response.status, received, raw.decode("utf-8", "replace"))
