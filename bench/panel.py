"""The panel: how soon a browser shows it and its data, how much it fetches, and its list's route."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from bench.lab import spread, timed_ms
from bench.table import Row
from tests.browser.browser import launch
from tests.runtime.bot import Bot, stored
from tests.runtime.server import Server

MADE, DUE = "2026-09-01T03:30:00+00:00", "2026-09-01T04:00:00+00:00"
ROWS = [stored(f"row-{n:03}", made=MADE) for n in range(100)]
LISTS, VISITS = 30, 7
SHOWN = """
  new Promise(resolve => {
    const look = () => document.querySelector(".schedules th .first")
      ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
    look();
  })
"""
"""When the first frame with the table's data is drawn, in ms since the navigation began."""
FETCHED = """
  [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, each) => sum + each.transferSize, 0)
"""
PAINTED = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN'


def measure() -> list[Row]:
    server = Server.start()
    try:
        bot = Bot(server)
        bot.write({f"schedules.{row['name']}": row for row in ROWS})
        bot.tick(DUE)
        bot.quiet()
        lists = [timed_ms(lambda: bot.get("/admin/schedules")) for _ in range(LISTS)]
        assert all(row["last"] for row in bot.schedules().values() if row["kind"] == "stored")
        with sync_playwright() as playwright:
            browser = launch(playwright)
            cold = [_visit(_signed_in(browser, bot), bot) for _ in range(VISITS)]
            context = _signed_in(browser, bot)
            warm = [_visit(context, bot) for _ in range(VISITS + 1)][1:]
            browser.close()
    finally:
        server.close()
    return [
        Row(
            f"list of {len(ROWS) + 3} schedules with their last firings",
            median(lists),
            "ms",
            bar=60,
            note=f"median of {LISTS}, {spread(lists)} ms",
        ),
        _row("panel, cold cache: first paint", cold, "painted"),
        _row("panel, cold cache: data shown", cold, "shown"),
        _row("panel, warm: data shown", warm, "shown", bar=300),
        Row(
            "panel, cold cache: fetched until its data is shown, uncompressed",
            max(each["fetched"] for each in cold) / 1000,
            "kB",
            bar=120,
            note=f"of it {median(each['data'] for each in cold) / 1000:.0f} kB data",
        ),
    ]


def _signed_in(browser: Browser, bot: Bot) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.request.post(f"{bot.server.url}/api/session", data={"token": bot.token})
    context.add_init_script("localStorage.setItem('signed-in', 'yes')")
    return context


def _visit(context: BrowserContext, bot: Bot) -> Mapping[str, Any]:
    page = context.new_page()
    page.goto(bot.server.url, wait_until="commit")
    shown = page.evaluate(SHOWN)
    seen = {
        "shown": shown,
        "painted": page.evaluate(PAINTED),
        "fetched": page.evaluate(FETCHED),
        "data": page.evaluate(FETCHED.replace("0)", "0)").replace("sum + each.transferSize", _DATA)),
    }
    page.close()
    return seen


_DATA = 'sum + (/\\/(admin|api)\\//.test(each.name) ? each.transferSize : 0)'


def _row(what: str, visits: list[Mapping[str, Any]], name: str, bar: float | None = None) -> Row:
    values = [each[name] for each in visits]
    note = f"median of {len(values)}, {spread(values)} ms"
    return Row(what, median(values), "ms", bar=bar, note=note)
