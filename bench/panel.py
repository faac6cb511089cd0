"""The panel: how soon a browser shows its data, how much it fetches, and the list it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

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
    .map(each => [new URL(each.name).pathname, each.transferSize])
"""
"""What came over the network, by path: bytes with headers, as compressed as they came."""
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
            cold = list[Mapping[str, float]]()
            for _ in range(VISITS):
                page = _signed_in(browser, bot)
                cold.append(_visit(page, bot))
                page.context.close()
            page = _signed_in(browser, bot)
            warm = [_visit(page, bot, after="/chat/") for _ in range(VISITS + 1)][1:]
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
            "panel, cold cache: fetched, its data included",
            max(each["fetched"] for each in cold) / 1000,
            "kB",
            bar=120,
            note=f"of it {median(each['data'] for each in cold) / 1000:.0f} kB data",
        ),
    ]


def _signed_in(browser: Browser, bot: Bot) -> Page:
    """A tab of somebody who is signed in, with nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.request.post(f"{bot.server.url}/api/session", data={"token": bot.token})
    context.add_init_script("localStorage.setItem('signed-in', 'yes')")
    return context.new_page()


def _visit(page: Page, bot: Bot, *, after: str | None = None) -> Mapping[str, float]:
    """One navigation to the panel, from the page ``after`` it where one is named.

    What is fetched is counted once all of it has come.
    """
    if after is not None:
        page.goto(bot.server.url + after, wait_until="networkidle")
    page.goto(bot.server.url, wait_until="commit")
    shown = page.evaluate(SHOWN)
    page.get_by_role("region", name="Your jobs").wait_for()
    fetched = page.evaluate(FETCHED)
    return {
        "shown": shown,
        "painted": page.evaluate(PAINTED),
        "fetched": sum(size for _, size in fetched),
        "data": sum(size for path, size in fetched if path.startswith(("/admin/", "/api/"))),
    }


def _row(what: str, visits: list[Mapping[str, float]], name: str, bar: float | None = None) -> Row:
    values = [each[name] for each in visits]
    note = f"median of {len(values)}, {spread(values)} ms"
    return Row(what, median(values), "ms", bar=bar, note=note)
