"""``bot.ports.HttpClient`` over the platform's ``fetch``."""

from __future__ import annotations

from collections.abc import Mapping

from bot.cloudflare.streams import read_at_most
from bot.ports import Fault, HttpReply

MAX_REPLY_BYTES = 4 * 1024 * 1024
"""What an answer from outside may take of an isolate's 128 MB."""


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
        connection breaks, and when the answer is over ``MAX_REPLY_BYTES``.
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
            raise Fault(f"{method} {url.partition('?')[0]}: {error}") from error
        if len(raw) > MAX_REPLY_BYTES:
            raise Fault(f"{method} {url.partition('?')[0]}: the answer is over 4 MiB")
        received = {name.lower(): value for name, value in response.headers.items()}
        return HttpReply(response.status, received, raw.decode("utf-8", "replace"))
