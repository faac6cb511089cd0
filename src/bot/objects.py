"""What both Durable Objects share: their SQL seam, migrations, replies and the call to them. Pure.

An object has one route table behind two doors: the RPC method ``handle(method, path, body)``,
which answers one JSON string ``{"status": ..., "body": ...}``, and ``fetch``, which calls it.
One JSON string a crossing, since structured values cost ten times as much.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.ports import Fault, Json
from bot.words import TEXTS, Code

Made = TypeVar("Made")
Model = TypeVar("Model", bound=BaseModel)


class Sql(Protocol):
    """Synchronous SQLite: ``ctx.storage.sql`` in an object, ``sqlite3`` in the tests."""

    def exec(self, statement: str, *params: Any) -> Sequence[Mapping[str, Any]]:
        """One statement with positional ``?`` parameters; its rows as mappings."""
        ...

    def transaction(self, work: Callable[[], Made]) -> Made:
        """Run ``work`` as one transaction: what it raises rolls back and goes on up."""
        ...


def migrate(sql: Sql, migrations: Sequence[Sequence[str]]) -> None:
    """Bring the store to the newest schema: run each numbered migration once, in order.

    A migration is a list of statements; its number is its place, from 1. One that shipped is
    never changed: a new one is appended.
    """

    def run() -> None:
        sql.exec("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY) STRICT")
        done = sql.exec("SELECT COALESCE(MAX(number), 0) AS number FROM migrations")[0]["number"]
        for number, statements in enumerate(migrations[done:], start=done + 1):
            for statement in statements:
                sql.exec(statement)
            sql.exec("INSERT INTO migrations (number) VALUES (?)", number)

    sql.transaction(run)


@dataclass(frozen=True, slots=True)
class Reply:
    """An object's answer: an HTTP status and a body that is JSON text already (or nothing)."""

    status: int
    body: str = ""

    def crossing(self) -> str:
        """The one JSON string that ``handle`` answers."""
        return f'{{"status":{self.status},"body":{self.body or "null"}}}'


def reply(status: int, value: Json) -> Reply:
    """A reply with ``value`` as its JSON body."""
    return Reply(status, dump(value))


def refusal(code: Code, detail: str) -> Reply:
    """A problem body (RFC 9457) of that code, with the code's own status and title."""
    text = TEXTS[code]
    problem = {"code": code, "title": text.title, "detail": detail, "status": text.status}
    return reply(text.status, problem)


def malformed(detail: str) -> Reply:
    """400 ``bad_request``."""
    return refusal(Code.BAD_REQUEST, detail)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the routes see it: the path's parts, decoded, and its query."""

    method: str
    parts: tuple[str, ...]
    query: Mapping[str, str]
    body: str


class Body(BaseModel):
    """A call's body: no coercion, no field that is not declared."""

    model_config = ConfigDict(strict=True, extra="forbid")


def parse_call(method: str, path: str, body: str | None) -> Call:
    """Take a path with its query apart."""
    url = urlsplit(path)
    parts = tuple(unquote(part) for part in url.path.strip("/").split("/"))
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    return Call(method.upper(), parts, query, body or "")


def dump(value: Json) -> str:
    """Compact JSON. Raises ValueError for what JSON or UTF-8 cannot say (NaN, half a character)."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode()
    return text


def validated(model: type[Model], body: str) -> Model | Reply:
    """The body as ``model``, or a 400 that names the first field that is wrong."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return malformed(f"{where or 'body'}: {first['msg']}.")


class ObjectStub(Protocol):
    """An object as its client sees it."""

    async def handle(self, method: str, path: str, body: str | None) -> str:
        """The RPC door."""
        ...


class Namespace(Protocol):
    """The binding of an object's class. A stub must not outlive its request: ask each time."""

    def getByName(self, name: str) -> ObjectStub:  # noqa: N802 - the platform's own name
        """The object of that name."""
        ...


async def call(stub: ObjectStub, method: str, path: str, value: Json = None) -> tuple[int, Json]:
    """Call an object; its status and its body, parsed. Raises Fault when it does not answer.

    An exception loses its type on the way and its text is a traceback, so the Fault names the
    call only and keeps the rest as its cause.
    """
    body = None if value is None else dump(value)
    try:
        answer = json.loads(await stub.handle(method, path, body))
    except Exception as error:
        raise Fault(f"{method} {urlsplit(path).path} was not answered") from error
    return answer["status"], answer["body"]
