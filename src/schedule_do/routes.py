"""ScheduleDO's route table: a method, a path and a body to a reply. Pure.

| route | answers |
|---|---|
| ``POST /schedules/record`` ``{firings: [...]}`` | 200 ``{recorded}`` |
| ``GET /schedules/latest?names=a,b`` | 200 ``{firings: {name: firing}}``; all without ``names`` |
| ``GET /schedules/history?name=&limit=&before=`` | 200 ``{firings: [...]}``, newest first |
| ``POST /ticks/record`` ``{tick: {...}}`` | 200 ``{}`` |
| ``GET /ticks/summary?now=`` | 200 ``{last, h24, d30, claims_without_run}`` |

Firings and ticks have the fields of ``bot.ports``. Malformed is 400, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.objects import Call, Reply, Sql, malformed, migrate, parse_call, refusal, reply
from bot.ports import Firing, Json, TickRecord
from bot.words import Code, State, Trigger
from schedule_do import firings, ticks
from schedule_do.firings import DAY_MS, MAX_LIMIT, Firings
from schedule_do.ticks import Ticks

MAX_RECORDS = 1_000
MAX_NUMBER = 10**15
"""As epoch milliseconds the year 33658, and safely a number to JavaScript."""
_DEFAULT_LIMIT = 50


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Firings(_Body):
    firings: Sequence[Firing] = Field(max_length=MAX_RECORDS)

    @field_validator("firings")
    @classmethod
    def _words(cls, told: Sequence[Firing]) -> Sequence[Firing]:
        for firing in told:
            State(firing.state), Trigger(firing.trigger)
            _check_ints(astuple(firing))
        return told


class _Tick(_Body):
    tick: TickRecord

    @field_validator("tick")
    @classmethod
    def _size(cls, tick: TickRecord) -> TickRecord:
        _check_ints(astuple(tick))
        return tick


def _check_ints(values: tuple[object, ...]) -> None:
    if any(isinstance(value, int) and not 0 <= value <= MAX_NUMBER for value in values):
        raise ValueError("a number is below 0 or above 10^15")


class Schedules:
    """The stores of one object, in one database."""

    def __init__(self, sql: Sql):
        migrate(sql, (firings.MIGRATION, ticks.MIGRATION))
        self.firings = Firings(sql)
        self.ticks = Ticks(sql)

    def summary(self, now_ms: int) -> Json:
        """How the ticks went, and how many claims were left without a run.

        ``{last: {at, ms} or None, h24, d30: {count, p50, p95}, claims_without_run: {d30}}``;
        the bounds on them are the bot's to judge.
        """
        unstarted = self.firings.claims_without_run(now_ms - 30 * DAY_MS, now_ms)
        return {
            "last": self.ticks.last(),
            **self.ticks.spreads(now_ms),
            "claims_without_run": {"d30": unstarted},
        }


class _CallError(Exception):
    pass


def answer(schedules: Schedules, method: str, path: str, body: str | None) -> Reply:
    """The reply to one call."""
    call = parse_call(method, path, body)
    route = _ROUTES.get(call.parts)
    if route is None:
        return refusal(Code.NOT_FOUND, f"There is {', '.join(map('/'.join, _ROUTES))}.")
    taken, work = route
    if call.method != taken:
        return refusal(Code.METHOD_NOT_ALLOWED, f"This route takes {taken}.")
    try:
        return reply(200, work(schedules, call))
    except _CallError as error:
        return malformed(str(error))


def _record(schedules: Schedules, call: Call) -> Json:
    told = _validated(_Firings, call.body).firings
    schedules.firings.record(told)
    return {"recorded": len(told)}


def _latest(schedules: Schedules, call: Call) -> Json:
    names = call.query.get("names")
    asked = None if names is None else [name for name in names.split(",") if name]
    latest = schedules.firings.latest(asked)
    return {"firings": {name: asdict(firing) for name, firing in latest.items()}}


def _history(schedules: Schedules, call: Call) -> Json:
    name = call.query.get("name")
    if name is None:
        raise _CallError("name is missing.")
    limit = _number(call, "limit", _DEFAULT_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise _CallError(f"limit is 1 to {MAX_LIMIT}.")
    found = schedules.firings.history(name, limit, _number(call, "before", MAX_NUMBER))
    return {"firings": [asdict(firing) for firing in found]}


def _record_tick(schedules: Schedules, call: Call) -> Json:
    schedules.ticks.record(_validated(_Tick, call.body).tick)
    return {}


def _summary(schedules: Schedules, call: Call) -> Json:
    return schedules.summary(_number(call, "now"))


_Model = TypeVar("_Model", bound=BaseModel)


def _validated(model: type[_Model], body: str) -> _Model:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _CallError(f"{where or 'body'}: {first['msg']}.") from error


def _number(call: Call, name: str, default: int | None = None) -> int:
    text = call.query.get(name)
    if text is None and default is not None:
        return default
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 16):
        raise _CallError(f"{name} is a whole number.")
    return min(int(text), MAX_NUMBER)


_ROUTES: Mapping[tuple[str, ...], tuple[str, Callable[[Schedules, Call], Json]]] = {
    ("schedules", "record"): ("POST", _record),
    ("schedules", "latest"): ("GET", _latest),
    ("schedules", "history"): ("GET", _history),
    ("ticks", "record"): ("POST", _record_tick),
    ("ticks", "summary"): ("GET", _summary),
}
