"""The trace that the product is built from, played step by step on the real runtime.

Two schedules, a roll at 03:00, a text that would write, and a bot that dies between its claim and
admission. The steps are numbered as in the trace and build on each other, so they run in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.bot import Bot, at_once, ms
from tests.runtime.server import Server

AUDIT, BUMP = "nightly-audit", "nightly-bump"
AUDIT_TEXT = "in acme/api: list the dependencies with a known advisory and open an issue for each"
BUMP_TEXT = "in acme/api: bump every dependency with a known advisory"
GRANTS = ["agent:run:research on acme/api", "github:issue-write on acme/api"]
CATALOG = {"keep-alive", "self-improvement", "resident-watchdog"}


@pytest.fixture(scope="module")
def bot(start_server: Callable[..., Server]) -> Bot:
    """The two schedules, added yesterday; the demo model and the demo GitHub behind the bot."""
    bot = Bot(start_server(demo=True))
    bot.server.set_clock("2026-09-01T12:00:00Z")
    usual = {"channel": "web:ops", "grants": GRANTS}
    bot.add(AUDIT, cron="0 3 * * *", text=AUDIT_TEXT, thread="standing", **usual)
    bot.add(BUMP, cron="30 3 * * *", text=BUMP_TEXT, **usual)
    return bot


class TestOneTrace:
    """One trace: a roll during the tick, and a schedule whose text would write."""

    def test_1_and_2_both_generations_see_the_minute_and_one_of_them_fires_it(self, bot: Bot):
        before = bot.document()["version"]
        bot.server.set_clock("2026-09-02T03:00:05Z")

        old, new = at_once([bot.tick, bot.tick])

        assert sorted([old["claimed"], new["claimed"]]) == [[], [AUDIT]]
        (started,) = old["started"] + new["started"]
        assert started["name"] == AUDIT
        assert max(old["due"], new["due"]) == 1, "nightly-bump is not due"
        assert bot.document()["version"] > before
        row = bot.row(AUDIT)
        assert row["lastRunId"] == started["run_id"], "admission's run id is on the row"
        assert row["lastFiredAt"] // 1000 == 1_788_318_005, "03:00:05, the tick's own reading"
        run = bot.told(started["run_id"])
        assert (run["actor"], run["grants"]) == (f"schedule:{AUDIT}", GRANTS)
        assert (run["due_at"], run["trigger"], run["by"]) == (
            "2026-09-02T03:00:00+00:00",
            "tick",
            None,
        )

    def test_3_the_new_generations_next_tick_finds_nothing_due(self, bot: Bot):
        tick = bot.tick("2026-09-02T03:01:00Z")
        assert (tick["due"], tick["claimed"], tick["lost"], tick["started"]) == (0, [], [], [])
        assert len(runs_of_day(bot, AUDIT, "2026-09-02")) == 1

    def test_4_the_run_read_the_advisories_and_the_panel_shows_it_beside_the_catalogs(
        self, bot: Bot
    ):
        (run,) = runs_of_day(bot, AUDIT, "2026-09-02")
        assert (run["state"], run["route"], run["effect"]) == ("ok", "agent", "exec")
        assert "Opened acme/api#" in run["output"], "an issue for each"

        panel = bot.schedules()
        assert set(panel) == CATALOG | {AUDIT, BUMP}
        assert {name for name in panel if panel[name]["kind"] == "catalog"} == CATALOG
        last = panel[AUDIT]["last"]
        assert (last["due_at"], last["state"]) == ("2026-09-02T03:00:00+00:00", "ok")
        assert (last["run_id"], last["delivery"]) == (run["id"], "delivered")
        assert bot.firings(AUDIT)[0]["run_id"] == run["id"]

        assert run["thread"] == bot.row(AUDIT)["threadKey"]
        assert bot.thread(run["thread"])[-1] == run["output"]

    def test_5_the_text_that_would_write_starts_no_run_and_is_handed_back(self, bot: Bot):
        tick = bot.tick("2026-09-02T03:30:05Z")

        assert tick["claimed"] == [BUMP]
        (run,) = runs_of_day(bot, BUMP, "2026-09-02")
        run = bot.told(run["id"])
        assert (run["state"], run["code"]) == ("refused", "schedule_write")
        assert (run["actor"], run["route"], run["effect"]) == (
            f"schedule:{BUMP}",
            "routed",
            "write",
        )
        handback = bot.thread(run["thread"])[-1]
        assert "\n```\nagent:ship in acme/api: plan " in handback, "ready to be pasted"
        assert "Opened" not in run["output"], "nothing was executed"
        last = bot.last(BUMP)
        assert last is not None
        assert (last["state"], last["code"], last["delivery"]) == (
            "refused",
            "schedule_write",
            "delivered",
        )
        assert bot.firings(BUMP)[0]["state"] == "refused"

    def test_6_a_claim_whose_bot_died_is_shown_and_is_not_retried(self, bot: Bot):
        bot.tick("2026-09-08T03:30:05Z")
        bot.quiet()
        bot.server.set_clock("2026-09-09T03:00:05Z")
        die_after_claiming(bot, AUDIT, due="2026-09-09T03:00:00Z", now="2026-09-09T03:00:05Z")

        bot.server.set_clock("2026-09-09T03:00:20Z")
        assert state(bot, AUDIT) == "starting", "it may be in the other generation's hands"
        tick = bot.tick("2026-09-09T03:01:00Z")
        assert tick["due"] == 0, "never silently retried"
        last = bot.last(AUDIT)
        assert last is not None
        assert (last["state"], last["run_id"]) == ("claimed_not_started", None)
        assert last["due_at"] == "2026-09-09T03:00:00+00:00"
        assert (last["claimed_at"], last["by"]) == ("2026-09-09T03:00:05.000+00:00", None)
        lines = bot.command("schedule list")["text"].splitlines()
        (line,) = [line for line in lines if line.startswith(AUDIT)]
        assert "last 2026-09-09T03:00:00+00:00 → claimed_not_started ·" in line
        ticks = bot.get("/admin/ticks").json()
        assert ticks["claims_without_run"]["d30"] == 1
        assert not ticks["bounds"]["claims_without_run_passed"], "one a month is within the bound"

    def test_6_fire_dispatches_that_minute_once_as_its_actor(self, bot: Bot):
        answers = at_once([lambda: bot.fire(AUDIT)] * 4)

        assert {answer.status for answer in answers} <= {202, 409}
        (run,) = runs_of_day(bot, AUDIT, "2026-09-09")
        assert {answer.json()["run_id"] for answer in answers if answer.status == 202} == {
            run["id"]
        }
        assert (run["trigger"], run["by"]) == ("refire", "http:admin")
        assert (run["actor"], run["grants"]) == (f"schedule:{AUDIT}", GRANTS)
        assert bot.told(run["id"])["state"] == "ok"
        last = bot.last(AUDIT)
        assert last is not None
        assert (last["state"], last["trigger"], last["by"]) == ("ok", "refire", "http:admin")
        assert last["due_at"] == "2026-09-09T03:00:00+00:00"
        assert bot.get("/admin/ticks").json()["claims_without_run"]["d30"] == 1

    def test_and_the_next_night_it_fires_by_itself_again(self, bot: Bot):
        tick = bot.tick("2026-09-10T03:00:02Z")
        assert AUDIT in tick["claimed"]
        (run,) = runs_of_day(bot, AUDIT, "2026-09-10")
        run = bot.told(run["id"])
        assert run["state"] == "ok"
        assert run["thread"] == bot.row(AUDIT)["threadKey"], "the same thread every night"


def die_after_claiming(bot: Bot, name: str, *, due: str, now: str) -> None:
    """Leave the row as a tick does that died between its claim and admission; kill the process.

    The claim is written by hand, to have it at exactly that point; `test_fire_once.py` kills real
    ticks wherever it meets them.
    """
    row = bot.row(name)
    row.pop("lastRunId")
    claim = {"lastFiredAt": ms(now), "lastClaimedAt": ms(now), "lastDueAt": ms(due), "coalesced": 0}
    bot.write({f"schedules.{name}": {**row, **claim}})
    bot.server.kill9()
    bot.server.restart()


def runs_of_day(bot: Bot, name: str, day: str) -> list[dict[str, Any]]:
    return [run for run in bot.runs(name=name) if run["due_at"].startswith(day)]


def state(bot: Bot, name: str) -> str:
    last = bot.last(name)
    assert last is not None
    return last["state"]
