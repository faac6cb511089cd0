"""ScheduleDO's route table: a method, a path and a body to a reply. Pure.

| route | answers |
|---|---|
| ``POST /schedules/record`` ``{firings: [...]}`` | 200 ``{recorded}`` |
| ``GET /schedules/latest?rows=ID:CLAIM,ID:`` | 200 ``{firings: {row id: firing}}`` |
| ``GET /schedules/history?name=&row=&limit=&before=`` | 200 ``{firings: [...]}``, newest first |
| ``POST /ticks/record`` ``{tick: {...}}`` | 200 ``{}`` |
| ``GET /ticks/history?limit=&before=`` | 200 ``{ticks: [...]}``, newest first |
| ``GET /ticks/summary?now=`` | 200 ``{last, h24, d30, claims_without_run}`` |
| ``GET /strips?since=&bucket=`` | 200 ``{ticks, firings}``, counted by bucket |

Firings and ticks have the fields of ``bot.ports``. Malformed is 400, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from enum import StrEnum

from pydantic import Field, field_validator

from bot.objects import (
    Body,
    Call,
    Reply,
    Sql,
    malformed,
    migrate,
    parse_call,
    refusal,
    reply,
    validated,
)
from bot.ports import Firing, Json, TickRecord
from bot.words import Code, State, Trigger
from schedule_do import firings, ticks
from schedule_do.firings import DAY_MS, MAX_LIMIT, Firings
from schedule_do.ticks import Ticks

MAX_RECORDS = 1_000
MAX_NUMBER = 10**15
"""As epoch milliseconds the year 33658, and safely a number to JavaScript."""
_DEFAULT_LIMIT = 50


class _Firings(Body):
    firings: Sequence[Firing] = Field(max_length=MAX_RECORDS)

    @field_validator("firings")
    @classmethod
    def _words(cls, told: Sequence[Firing]) -> Sequence[Firing]:
        for firing in told:
            _check_word(State, firing.state)
            _check_word(Trigger, firing.trigger)
            _check_ints(astuple(firing))
        return told


class _Tick(Body):
    tick: TickRecord

    @field_validator("tick")
    @classmethod
    def _size(cls, tick: TickRecord) -> TickRecord:
        _check_ints(astuple(tick))
        return tick


def _check_word(words: type[StrEnum], word: str) -> None:
    if word not in set(words):
        raise ValueError(f"{word[:40]!r} is none of {', '.join(words)}")


def _check_ints(values: tuple[object, ...]) -> None:
    if any(isinstance(value, int) and not 0 <= value <= MAX_NUMBER for value in values):
        raise ValueError("a number is below 0 or above 10^15")


class Schedules:
    """The stores of one object, in one database."""

    def __init__(self, sql: Sql):
        migrate(sql, (firings.MIGRATION, ticks.MIGRATION, firings.IN_ORDER))
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

    def strips(self, since_ms: int, bucket_ms: int) -> Json:
        """``{ticks, firings}``: what happened since then, counted by bucket of time."""
        return {
            "ticks": self.ticks.strip(since_ms, bucket_ms),
            "firings": self.firings.strips(since_ms, bucket_ms),
        }


def answer(schedules: Schedules, method: str, path: str, body: str | None) -> Reply:
    """The reply to one call."""
    call = parse_call(method, path, body)
    route = _ROUTES.get(call.parts)
    if route is None:
        return refusal(Code.NOT_FOUND, f"There is {', '.join(map('/'.join, _ROUTES))}.")
    taken, work = route
    if call.method != taken:
        return refusal(Code.METHOD_NOT_ALLOWED, f"This route takes {taken}.")
    return work(schedules, call)


def _record(schedules: Schedules, call: Call) -> Reply:
    told = validated(_Firings, call.body)
    if isinstance(told, Reply):
        return told
    schedules.firings.record(told.firings)
    return reply(200, {"recorded": len(told.firings)})


def _latest(schedules: Schedules, call: Call) -> Reply:
    rows = call.query.get("rows")
    if rows is None:
        return malformed("rows is ID:CLAIM,... with the key of the minute that a row claimed last.")
    asked = [row.partition(":") for row in rows.split(",") if row]
    latest = schedules.firings.latest({row_id: claim or None for row_id, _, claim in asked})
    return reply(200, {"firings": {row_id: asdict(firing) for row_id, firing in latest.items()}})


def _history(schedules: Schedules, call: Call) -> Reply:
    name, page = call.query.get("name"), _page(call)
    if isinstance(page, Reply):
        return page
    if name is None:
        return malformed("name is a schedule's name.")
    found = schedules.firings.history(name, *page, call.query.get("row"))
    return reply(200, {"firings": [asdict(firing) for firing in found]})


def _record_tick(schedules: Schedules, call: Call) -> Reply:
    told = validated(_Tick, call.body)
    if isinstance(told, Reply):
        return told
    schedules.ticks.record(told.tick)
    return reply(200, {})


def _ticks(schedules: Schedules, call: Call) -> Reply:
    page = _page(call)
    if isinstance(page, Reply):
        return page
    return reply(200, {"ticks": [asdict(tick) for tick in schedules.ticks.history(*page)]})


def _summary(schedules: Schedules, call: Call) -> Reply:
    now_ms = _number(call, "now")
    if now_ms is None:
        return malformed("now is epoch milliseconds.")
    return reply(200, schedules.summary(now_ms))


def _strips(schedules: Schedules, call: Call) -> Reply:
    since_ms, bucket_ms = _number(call, "since"), _number(call, "bucket")
    if since_ms is None or not bucket_ms:
        return malformed("since is epoch milliseconds, bucket milliseconds.")
    return reply(200, schedules.strips(since_ms, bucket_ms))


def _page(call: Call) -> tuple[int, int] | Reply:
    limit = _number(call, "limit", _DEFAULT_LIMIT)
    before_ms = _number(call, "before", MAX_NUMBER)
    if limit is None or before_ms is None or not 1 <= limit <= MAX_LIMIT:
        return malformed(f"limit is 1 to {MAX_LIMIT}, before epoch milliseconds.")
    return limit, before_ms


def _number(call: Call, name: str, default: int | None = None) -> int | None:
    """A whole number of the query; None for what is none."""
    text = call.query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 16):
        return None
    return min(int(text), MAX_NUMBER)


_ROUTES: Mapping[tuple[str, ...], tuple[str, Callable[[Schedules, Call], Reply]]] = {
    ("schedules", "record"): ("POST", _record),
    ("schedules", "latest"): ("GET", _latest),
    ("schedules", "history"): ("GET", _history),
    ("ticks", "record"): ("POST", _record_tick),
    ("ticks", "history"): ("GET", _ticks),
    ("ticks", "summary"): ("GET", _summary),
    ("strips",): ("GET", _strips),
}
