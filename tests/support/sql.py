"""sqlite3 behind both seams: ``bot.objects.Sql`` of the objects and ``bot.ports.Database``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bot.ports import Fault, Rows, Statement
from tests.support.drive import Pause, Port, no_pause

MIGRATIONS = Path(__file__).parents[2] / "migrations"
MAX_PARAMS = 100
MAX_INT = 2**53 - 2
"""What crosses to JavaScript as a number; one more arrives as a BigInt, which is refused."""

Made = TypeVar("Made")


def _connect() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = lambda cursor, row: {
        column[0]: value for column, value in zip(cursor.description, row, strict=True)
    }
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


class MemorySql:
    """A Durable Object's SQLite."""

    def __init__(self):
        self.connection = _connect()

    def exec(self, statement: str, *params: Any) -> Sequence[Mapping[str, Any]]:
        _check(params)
        return self.connection.execute(statement, params).fetchall()

    def transaction(self, work: Callable[[], Made]) -> Made:
        self.connection.execute("SAVEPOINT work")
        try:
            made = work()
        except BaseException:
            self.connection.execute("ROLLBACK TO work")
            raise
        finally:
            self.connection.execute("RELEASE work")
        return made


class MemoryDatabase(Port):
    """D1 with every migration applied. ``sql`` reads and writes past the port, for set-up."""

    def __init__(self, pause: Pause = no_pause):
        super().__init__(pause)
        self.connection = _connect()
        self.connection.executescript(_schema())

    async def run(self, sql: str, *params: Any) -> Rows:
        await self.pause("db.run")
        rows = _as_port(lambda: self._execute(sql, params))
        await self.pause("db.run done")
        return rows

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Rows]:
        await self.pause("db.batch")
        answers = _as_port(lambda: self._batch(statements))
        await self.pause("db.batch done")
        return answers

    def sql(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """Rows of one statement at once, without the port's hook."""
        return self.connection.execute(sql, params).fetchall()

    def _batch(self, statements: Sequence[Statement]) -> list[Rows]:
        self.connection.execute("BEGIN")
        try:
            answers = [self._execute(statement.sql, statement.params) for statement in statements]
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return answers

    def _execute(self, sql: str, params: Sequence[Any]) -> Rows:
        _check(params)
        before = self.connection.total_changes
        rows = self.connection.execute(sql, params).fetchall()
        return Rows(rows, self.connection.total_changes - before, len(rows))


def _as_port(work: Callable[[], Made]) -> Made:
    try:
        return work()
    except sqlite3.Error as error:
        raise Fault(str(error)) from error


def _check(params: Sequence[Any]) -> None:
    """The platform's own limits on parameters."""
    if len(params) > MAX_PARAMS:
        raise TypeError(f"{len(params)} parameters: a statement takes {MAX_PARAMS}")
    for param in params:
        if not (param is None or isinstance(param, (str, int, float))):
            raise TypeError(f"a parameter cannot be {type(param).__name__}")
        if isinstance(param, int) and abs(param) > MAX_INT:
            raise TypeError(f"{param} is no number to JavaScript")


@cache
def _schema() -> str:
    return "\n".join(path.read_text() for path in sorted(MIGRATIONS.glob("*.sql")))
