"""One due minute is one run, whatever the ticks do: twelve at once, and kills in the middle.

The kills are real: the process group dies by SIGKILL wherever it happens to be, and starts again on
the same state. Where it was is not chosen but found out afterwards, from what it left.
"""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.bot import FINAL, Bot, at, at_once, ms
from tests.runtime.server import Server

MINUTE = 60_000
HOUR = 60 * MINUTE
ROWS = [f"row-{number:03}" for number in range(100)]
KILLED_AFTER = (0.0, 0.05, 0.1, 0.2, 0.4, 3.0)
"""Shares of a tick's time: the claims come early in it, then the engine's long start. The first
kill comes before any claim and the last after all of them, however the machine is loaded."""


@pytest.fixture(scope="module")
def bot(start_server: Callable[..., Server]) -> Bot:
    return Bot(start_server())


class TestTwelveTicksAtOnce:
    @pytest.fixture
    def due_at(self, bot: Bot) -> int:
        bot.clear()
        bot.server.set_clock("2026-09-01T03:30:00Z")
        for name in ("one", "two", "three"):
            bot.add(name, cron="0 4 * * *")
        bot.server.set_clock("2026-09-01T04:00:01Z")
        return ms("2026-09-01T04:00:00Z")

    def test_of_one_minute_make_one_run_a_row(self, bot: Bot, due_at: int):
        reports = at_once([bot.tick] * 12)

        claimed = Counter(name for report in reports for name in report["claimed"])
        assert claimed == {"one": 1, "two": 1, "three": 1}
        assert sum(len(report["started"]) for report in reports) == 3
        assert not any(report["errors"] for report in reports)
        bot.quiet()
        for name in claimed:
            (run,) = bot.runs(name=name)
            assert (run["state"], run["due_at"]) == ("ok", at(due_at))
            (firing,) = bot.firings(name)
            assert firing["run_id"] == run["id"]
            assert len(bot.thread(run["thread"])) == 2, "the lead and one outcome"

    def test_http_and_cron_events_mixed_make_one_run_a_row(self, bot: Bot, due_at: int):
        at_once([bot.tick, bot.cron_tick] * 6)

        bot.quiet()
        rows = {row["id"] for name, row in stored_rows(bot).items()}
        runs = [run for run in bot.runs() if run["id"].split("-")[0] in rows]
        assert Counter(run["name"] for run in runs) == {"one": 1, "two": 1, "three": 1}

    def test_with_a_person_who_writes_the_document_meanwhile(self, bot: Bot, due_at: int):
        """A claim that loses to a person's write waits for the next tick; the write stands."""
        names = [f"later-{number}" for number in range(2)]
        works: list[Callable[[], Any]] = [bot.tick] * 8
        works += [lambda name=name: bot.add(name, cron="0 5 * * *") for name in names]
        at_once(works)
        bot.tick()

        bot.quiet()
        assert {"one", "two", "three", *names} <= set(stored_rows(bot))
        for name in ("one", "two", "three"):
            row_id = stored_rows(bot)[name]["id"]
            assert [run["due_at"] for run in bot.runs(name=name) if row_id in run["id"]] == [
                at(due_at)
            ]


class TestKilledInATick:
    """Six times: a tick of a hundred due rows, killed later each time, and what it left."""

    def test_every_row_has_one_run_or_is_seen(self, bot: Bot):
        bot.clear()
        first = ms("2026-10-01T04:00:00Z")
        bot.write_rows({"name": name, "made": at(first - 30 * MINUTE)} for name in ROWS)
        bot.server.set_clock(at(first + 1_000))
        tick_s = duration(bot.tick)
        bot.quiet()
        check_one_run_each(bot, first)

        left: list[Counter[str]] = []
        for number, share in enumerate(KILLED_AFTER, start=1):
            left.append(self.kill_in_a_tick(bot, first + number * HOUR, tick_s * share))
        print("\nwhat the kills left:", *map(dict, left), sep="\n  ")
        assert any(kinds["due"] for kinds in left), "no kill came before the last claim"
        assert any(kinds["run"] for kinds in left), "no kill came after the first admission"

    def kill_in_a_tick(self, bot: Bot, due_at: int, delay_s: float) -> Counter[str]:
        """One kill and its aftermath; what the rows were when the bot was back."""
        kept, gone = set(stored_rows(bot)), f"row-{due_at // HOUR % 100:03}"
        bot.server.set_clock(at(due_at + 1_000))
        threads = [threading.Thread(target=dying, args=(bot.tick,))]
        if gone in kept:
            threads.append(threading.Thread(target=dying, args=(lambda: bot.remove(gone),)))
        for thread in threads:
            thread.start()
        time.sleep(delay_s)
        bot.server.kill9()
        for thread in threads:
            thread.join()
        bot.server.restart()

        # Five minutes later, so that the watchdog takes for stalled what the kill cut off.
        bot.server.set_clock(at(due_at + 5 * MINUTE))
        removed = gone in kept - set(stored_rows(bot))
        kinds = kinds_of(bot, due_at)
        left = Counter(kinds.values())
        assert set(left) <= {"run", "claimed_not_started", "due"}

        tick = bot.tick()
        assert set(tick["claimed"]) == {name for name, kind in kinds.items() if kind == "due"}
        bot.watch()
        bot.quiet()
        after = kinds_of(bot, due_at)
        unstarted = {name for name, kind in kinds.items() if kind == "claimed_not_started"}
        assert {name for name, kind in after.items() if kind != "run"} == unstarted, "not retried"
        for name in sorted(unstarted):
            assert bot.fire(name).json()["state"] in FINAL | {"running"}
        bot.quiet()
        check_one_run_each(bot, due_at)
        assert not (removed and gone in stored_rows(bot)), "what was removed came back"
        if gone in kept:
            bot.remove(gone)
        return left


class TestKilledAfterATick:
    """A tick has admitted refused writes, and the bot dies before it has handed them back."""

    def test_each_is_handed_back_once_in_its_thread(self, bot: Bot):
        bot.clear()
        due_at = ms("2026-11-01T04:00:00Z")
        names = [f"writer-{number}" for number in range(20)]
        bot.write_rows(
            {"name": name, "made": at(due_at - 30 * MINUTE), "text": f"schedule pause {name}"}
            for name in names
        )
        bot.server.set_clock(at(due_at + 1_000))
        bot.tick()
        bot.server.kill9()
        bot.server.restart()
        bot.server.set_clock(at(due_at + 5 * MINUTE))
        bot.watch()

        runs = runs_of(bot, due_at)
        assert Counter(run["name"] for run in runs) == dict.fromkeys(names, 1)
        for run in runs:
            told = bot.told(run["id"])
            assert (told["state"], told["code"]) == ("refused", "schedule_write")
            assert told["delivery"] == "delivered"
            handed_back = [text for text in bot.thread(told["thread"]) if "schedule_write" in text]
            assert len(handed_back) == 1, handed_back
            assert f"schedule pause {run['name']}" in handed_back[0]


def duration(work: Callable[[], Any]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def dying(work: Callable[[], Any]) -> None:
    """Do what the kill may cut off."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        work()


def stored_rows(bot: Bot) -> dict[str, Any]:
    entries = bot.document()["entries"]
    prefix = "schedules."
    return {key.removeprefix(prefix): entries[key] for key in entries if key.startswith(prefix)}


def kinds_of(bot: Bot, due_at: int) -> dict[str, str]:
    """Each row by what it is for the minute: it has a run, is claimed without one, or is due."""
    with_run = {run["name"] for run in runs_of(bot, due_at)}
    kinds: dict[str, str] = {}
    for name, view in bot.schedules().items():
        if view["kind"] == "catalog":
            continue
        last = view["last"]
        if name in with_run:
            kinds[name] = "run"
        elif last is not None and last["due_at"] == at(due_at):
            kinds[name] = last["state"]
        else:
            kinds[name] = "due"
    return kinds


def runs_of(bot: Bot, due_at: int) -> list[dict[str, Any]]:
    """The ledger's runs of the minute: a hundred at most, and the newest."""
    return [run for run in bot.runs() if run["due_at"] == at(due_at)]


def check_one_run_each(bot: Bot, due_at: int) -> None:
    """Each stored row has one run for the minute; it ended well, and its outcome came once."""
    runs = runs_of(bot, due_at)
    assert {run["state"] for run in runs} == {"ok"}
    counted = Counter(run["name"] for run in runs)
    assert set(counted.values()) == {1}
    assert set(stored_rows(bot)) <= set(counted)
    threads = [run["thread"] for run in runs]
    assert len(set(threads)) == len(runs), "a thread each"
    for thread in threads[:: len(threads) // 5]:
        assert len(bot.thread(thread)) == 2, "the lead and one outcome"
