"""``bot.ports.Database`` over a D1 binding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.ports import Fault, Rows, Statement


class D1:
    """One database. Every error of it is a Fault that carries D1's own words."""

    def __init__(self, binding: Any):
        self._db = binding

    async def run(self, sql: str, *params: Any) -> Rows:
        """One statement. Raises Fault."""
        try:
            return _rows(await self._bound(sql, params).run())
        except Exception as error:
            raise Fault(f"database: {error}") from error

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Rows]:
        """Several statements as one transaction: all or none. Raises Fault."""
        if not statements:
            return []
        try:
            bound = [self._bound(each.sql, each.params) for each in statements]
            return [_rows(result) for result in await self._db.batch(bound)]
        except Exception as error:
            raise Fault(f"database: {error}") from error

    def _bound(self, sql: str, params: Sequence[Any]) -> Any:
        return self._db.prepare(sql).bind(*map(_plain, params))


def _plain(param: Any) -> Any:
    """A word of an enum as the plain string it is."""
    return str(param) if isinstance(param, str) else param


def _rows(result: Any) -> Rows:
    meta = result["meta"]
    return Rows(result["results"], int(meta["changes"]), int(meta.get("rows_read", 0)))
