"""HTTP that ends with its turn: no request goes on past the turn's deadline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.ports import Clock, Fault, House, HttpClient, HttpReply


@dataclass(frozen=True, slots=True)
class BoundedHttp:
    """An HTTP client whose requests have until ``until_ms`` (epoch milliseconds) at the most."""

    http: HttpClient
    clock: Clock
    until_ms: int

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        timeout_s: float = 20.0,
    ) -> HttpReply:
        """One request. Raises Fault as its client does, and at once after the deadline."""
        left_s = (self.until_ms - self.clock.now_ms()) / 1000
        if left_s <= 0:
            raise Fault("the turn's deadline has passed")
        return await self.http.send(
            method, url, headers=headers, body=body, timeout_s=min(timeout_s, left_s)
        )


def bounded(house: House, until_ms: int) -> House:
    """The house for work that ends at ``until_ms``."""
    return replace(house, http=BoundedHttp(house.http, house.clock, until_ms))
