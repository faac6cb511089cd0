"""The Durable Object class: a store and a route table behind two doors, and nothing else.

Thin, since every attribute of an object can be called from outside by RPC.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from workers import DurableObject

from bot.cloudflare.storage import DurableSql, over_http
from config_do.documents import Documents
from config_do.routes import answer


class ConfigDO(DurableObject):
    """Documents by tier, each written by compare-and-swap."""

    def __init__(self, ctx: Any, env: Any):
        super().__init__(ctx, env)
        self.documents = Documents(DurableSql(self.ctx))

    async def handle(self, method: str, path: str, body: str | None = None) -> str:
        """The RPC door: the reply as one JSON string ``{status, body}``."""
        return answer(self.documents, method, path, body).crossing()

    async def fetch(self, request: Any) -> Any:
        """The HTTP door."""
        return await over_http(request, partial(answer, self.documents))
