"""The tick: idle over a hundred stored rows, and with a hundred of them due."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.javascript import Floor, floor
from bench.lab import Lab, lab, spread, timed_ms
from bench.table import Row
from tests.runtime.bot import at, ms, stored

MINUTE, HOUR = 60_000, 3_600_000
FIRST = ms("2026-09-01T04:00:00Z")
WARM_UP, IDLE_TICKS, DUE_TICKS = 5, 60, 7
AT_REST = FIRST + DUE_TICKS * HOUR + 30 * MINUTE
"""Half an hour after the last tick with rows due."""
ROWS = [stored(f"row-{n:03}", made="2026-09-01T03:30:00Z", cron="0 * * * *") for n in range(100)]


def measure() -> list[Row]:
    with lab() as bot:
        bot.write({f"schedules.{row['name']}": row for row in ROWS})
        first = _due_tick(bot, 0)
        bot.quiet()
        heap_once = bot.heap_mb()
        due = [_due_tick(bot, hour) for hour in range(1, DUE_TICKS)]
        due_calls, due_later = bot.calls()
        bot.quiet()
        bot.server.set_clock(at(AT_REST))
        idle = [_idle_tick(bot) for _ in range(WARM_UP + IDLE_TICKS)][WARM_UP:]
        idle_calls, idle_later = bot.calls()
        heap = bot.heap_mb()
    with floor() as plain:
        plain.store(ROWS)
        floor_due = [_floor_due(plain, hour) for hour in range(DUE_TICKS)]
        floor_idle = [_floor_idle(plain, AT_REST) for _ in range(WARM_UP + IDLE_TICKS)][WARM_UP:]
    idle_ms = [each for each, _ in idle]
    admitted, whole = ([each[i] for each in due] for i in (0, 1))
    return [
        Row(
            "idle tick over 100 rows, as the tick sees it",
            median(idle_ms),
            "ms",
            bar=15,
            floor=median(each for each, _ in floor_idle),
            note=f"median of {IDLE_TICKS}, {spread(idle_ms)} ms",
        ),
        Row(
            "idle tick over 100 rows, over HTTP",
            median(each for _, each in idle),
            "ms",
            floor=median(each for _, each in floor_idle),
        ),
        Row(
            "idle tick: reads of a Durable Object",
            _sum(idle_calls, "DO"),
            "",
            bar=1,
            note=_told(idle_calls),
        ),
        Row("idle tick: queries of D1", _sum(idle_calls, "D1"), "", bar=1),
        Row("idle tick: calls after its answer", _sum(idle_later), "", note=_told(idle_later)),
        Row(
            "100 rows due, claimed and admitted",
            median(admitted),
            "ms",
            bar=1000,
            note=f"median of {len(due)}, {spread(admitted)} ms",
        ),
        Row(
            "that tick, with its records and the start of 100 runs",
            median(whole),
            "ms",
            floor=median(floor_due[1:]),
            note=f"median of {len(due)}, {spread(whole)} ms; the first {first[1]:,.0f} ms",
        ),
        Row(
            "100 rows due: round trips in all",
            _sum(due_calls) + _sum(due_later),
            "",
            bar=40,
            note=_told(due_calls),
        ),
        Row("Python's memory after such a tick and its runs", heap_once, "MB", bar=48),
        Row(f"Python's memory after {DUE_TICKS} of them", heap, "MB"),
    ]


def _due_tick(bot: Lab, hour: int) -> tuple[float, float]:
    """Milliseconds of a tick with every row due: until all are admitted, and in all."""
    bot.quiet()
    report = bot.tick(at(FIRST + hour * HOUR + 1_000))
    assert len(report["started"]) == len(ROWS), report
    return bot.asked("counts")["ended"]["D1 batch"], report["ms"]


def _idle_tick(bot: Lab) -> tuple[float, float]:
    """An idle tick's milliseconds: as it sees them, and over HTTP."""
    reports: list[Any] = []
    over_http = timed_ms(lambda: reports.append(bot.tick()))
    return reports[0]["ms"], over_http


def _floor_due(plain: Floor, hour: int) -> float:
    plain.quiet()
    report = plain.tick(FIRST + hour * HOUR + 1_000)
    assert report["started"] == len(ROWS), report
    return report["ms"]


def _floor_idle(plain: Floor, now_ms: int) -> tuple[float, float]:
    reports: list[Any] = []
    over_http = timed_ms(lambda: reports.append(plain.tick(now_ms)))
    return reports[0]["ms"], over_http


def _sum(calls: dict[str, int], kind: str = "") -> int:
    return sum(n for name, n in calls.items() if kind in name)


def _told(calls: dict[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(calls.items()))
