"""A Durable Object's storage as ``bot.objects.Sql``, and its HTTP door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from bot.objects import Reply

Made = TypeVar("Made")


class DurableSql:
    """``ctx.storage``: synchronous SQLite.

    Any ``await`` opens the object to other calls, so a transaction's work has none: that is what
    makes a compare-and-swap one.
    """

    def __init__(self, ctx: Any):
        self._storage = ctx.storage

    def exec(self, statement: str, *params: Any) -> Sequence[Mapping[str, Any]]:
        """One statement; its rows as dicts."""
        return self._storage.sql.exec(statement, *params).toArray()

    def transaction(self, work: Callable[[], Made]) -> Made:
        """Run ``work`` in ``transactionSync``."""
        from pyodide.ffi import create_once_callable

        made: list[Made] = []
        self._storage.transactionSync(create_once_callable(lambda: made.append(work())))
        return made[0]


async def over_http(request: Any, answer: Callable[[str, str, str], Reply]) -> Any:
    """The HTTP door of an object, for HTTP tools and tests: ``answer`` as a Response.

    ``If-None-Match`` with a version goes in as ``?version=``.
    """
    from workers import Response

    url = urlsplit(request.url)
    asked = request.headers.get("if-none-match")
    extra = urlencode({"version": asked.strip('"')}) if asked else ""
    query = "&".join(part for part in (url.query, extra) if part)
    method = str(request.js_object.method)
    body = "" if method in ("GET", "HEAD") else await request.text()
    reply = answer(method, f"{url.path}?{query}", body)
    kind = "application/json" if reply.status < 400 else "application/problem+json"
    return Response(reply.body or None, status=reply.status, headers={"content-type": kind})
