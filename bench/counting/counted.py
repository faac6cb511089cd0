"""The bot as it is, over bindings that count the calls across them.

A round trip is one call that leaves the isolate: a call of a Durable Object, a statement or a batch
of D1, a call of the Workflows engine. They are counted at the bindings themselves, below all of the
bot's own code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workers import Response

from bot import worker

_calls: Counter[str] = Counter()
_before_the_answer: dict[str, int] = {}
_ended: dict[str, float] = {}
_ended_before_it: dict[str, float] = {}


class Default(worker.Default):
    """Answers `/bench/...` by itself, and everything else as the bot does."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.env = _Env(self.env)

    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        if url.path.startswith("/bench/"):
            query = dict(parse_qsl(url.query))
            return Response(json.dumps(_ASKED[url.path.removeprefix("/bench/")](query)))
        _calls.clear()
        _ended.clear()
        began = _now_ms()
        answer = await super().fetch(request)
        _before_the_answer.clear()
        _before_the_answer.update(_calls)
        _ended_before_it.clear()
        _ended_before_it.update({kind: at - began for kind, at in _ended.items()})
        return answer


async def _counted(kind: str, call: Awaitable[Any]) -> Any:
    _calls[kind] += 1
    try:
        return await call
    finally:
        _ended[kind] = _now_ms()


def _now_ms() -> float:
    """The platform's clock, which moves on with each call that leaves the isolate."""
    from js import Date

    return Date.now()


def _counts(query: dict[str, str]) -> Any:
    """The calls of the last request by kind.

    `answer` until its answer, `all` with those that came after it; `ended` milliseconds from its
    start to the end of the last call of each kind before its answer.
    """
    return {"answer": _before_the_answer, "all": _calls, "ended": _ended_before_it}


def _heap(query: dict[str, str]) -> Any:
    from pyodide_js import _module

    return _module.HEAP8.byteLength


def _fires(query: dict[str, str]) -> Any:
    """Compute `n` next fires of each expression, from `n` days that no cache knows yet."""
    from bot.schedules.cron import next_fire, parse, parse_zone

    start, n = int(query["start"]), int(query["n"])
    rows = [(parse(cron), parse_zone(zone)) for cron, zone in json.loads(query["rows"])]
    found = 0
    for day in range(n):
        for cron, zone in rows:
            found += next_fire(cron, zone, start + day * 86_400_000) is not None
    return found


_ASKED = {"counts": _counts, "heap": _heap, "fires": _fires}


class _Env:
    """The bindings, of which those with calls to count are wrapped."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._env, name)
        wrap = _WRAPPED.get(name)
        return value if wrap is None else wrap(value)


class _Objects:
    def __init__(self, namespace: Any, name: str) -> None:
        self._namespace, self._name = namespace, name

    def getByName(self, name: str) -> Any:  # noqa: N802 - the platform's own name
        return _Stub(self._namespace.getByName(name), self._name)


class _Stub:
    def __init__(self, stub: Any, name: str) -> None:
        self._stub, self._name = stub, name

    async def handle(self, method: str, path: str, body: str | None) -> str:
        kind = f"{self._name} {'read' if method == 'GET' else 'write'}"
        return await _counted(kind, self._stub.handle(method, path, body))


class _Database:
    def __init__(self, database: Any) -> None:
        self._database = database

    def prepare(self, sql: str) -> Any:
        return _Prepared(self._database.prepare(sql))

    async def batch(self, statements: list[Any]) -> Any:
        bare = [each.statement for each in statements]
        return await _counted("D1 batch", self._database.batch(bare))


class _Prepared:
    def __init__(self, statement: Any) -> None:
        self.statement = statement

    def bind(self, *params: Any) -> Any:
        return _Prepared(self.statement.bind(*params))

    async def run(self) -> Any:
        return await _counted("D1 query", self.statement.run())


class _Workflow:
    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def create_batch(self, batch: list[Any]) -> Any:
        return await _counted("Workflows", self._binding.create_batch(batch))

    async def get(self, instance_id: str) -> Any:
        return await _counted("Workflows", self._binding.get(instance_id))


_WRAPPED = {
    "CONFIG": lambda binding: _Objects(binding, "ConfigDO"),
    "SCHEDULES": lambda binding: _Objects(binding, "ScheduleDO"),
    "DB": _Database,
    "RUNS": _Workflow,
}
