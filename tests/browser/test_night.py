"""The morning after a bad night: what the panel says of it, and what can be done."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from bot.words import STATE_TEXTS, State
from tests.browser.conftest import Visit
from tests.browser.visit import Bot, eventually, faked


def test_the_page_says_at_a_glance_what_the_night_was_like(
    night_bot: Bot, visit: Visit, size: str
) -> None:
    someone = visit(night_bot, size=size)
    page = someone.open()
    eventually(page.get_by_role("heading", name="1 firing was claimed and never started."))
    counts = page.get_by_role("list", name="The last 24 hours")
    expect(counts).to_contain_text("no tick today 00:40–04:20 (3 h 40 min)")
    expect(counts).to_contain_text("6 minutes folded")
    expect(counts).to_contain_text("2 refused")
    waiting = page.get_by_role("region", name="Claimed, not started")
    expect(waiting.get_by_role("button")).to_have_text("Fire the 02:15 minute")
    strip = page.get_by_role("img", name="queue-depth, 24 hours")
    expect(strip).to_have_accessible_name("queue-depth, 24 hours: 42 ok, 6 minutes folded")
    expect(someone.row("load-test")).to_contain_text("until the freeze is over")
    expect(someone.row("nightly-audit")).to_contain_text("1 h 21 min late")
    expect(someone.row("backlog-digest")).to_contain_text("07:30 there")
    someone.check()
    someone.fits()


def test_a_strip_tells_what_lies_under_the_pointer(night_bot: Bot, visit: Visit) -> None:
    someone = visit(night_bot)
    page = someone.open()
    strip = page.locator(".verdict .strip")
    eventually(strip)
    box = strip.bounding_box()
    assert box is not None
    # The silence began at 00:40, 15 h 20 min into the strip.
    page.mouse.move(box["x"] + box["width"] * 17 / 24, box["y"] + 5)
    expect(strip.locator(".tip")).to_contain_text("the bot did not tick")
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] + 300)
    expect(strip.locator(".tip")).to_be_hidden()


def test_a_schedules_page_has_its_history_and_more_of_it(
    night_bot: Bot, visit: Visit, size: str
) -> None:
    someone = visit(night_bot, size=size)
    page = someone.open("/#/queue-depth")
    history = page.get_by_role("table", name="Firings")
    eventually(history)
    rows = history.get_by_role("row").filter(has=page.get_by_role("button", name="Output"))
    expect(rows).to_have_count(25)
    folded = rows.filter(has_text="21 min late")
    expect(folded).to_have_count(1)
    expect(folded).to_contain_text("6")
    page.get_by_role("button", name="Show older firings").click()
    expect(rows).to_have_count(50)
    someone.check()
    someone.fits()


def test_the_tick_is_drawn_against_its_bounds(night_bot: Bot, visit: Visit) -> None:
    someone = visit(night_bot)
    page = someone.open()
    health = page.get_by_role("region", name="The tick")
    eventually(health)
    expect(health).to_contain_text("within both bounds")
    expect(health.get_by_role("img").nth(2)).to_have_accessible_name(
        "1 claims with no run in 30 days, bound 1 a month"
    )
    expect(health.get_by_role("img").first).to_have_accessible_name(
        re.compile(r"24 hours: half of the ticks within \d+ ms, 95 of 100 .*, bound 5 s")
    )


def test_each_state_has_its_word_its_mark_and_its_sentence(night_bot: Bot, visit: Visit) -> None:
    someone = visit(night_bot)
    state = State.STARTING

    def change(listed: Any) -> Any:
        for schedule in listed["schedules"]:
            if schedule["name"] == "nightly-audit":
                schedule["last"] |= {"state": state, "code": None, "delivery": "undelivered: gone"}
        return listed

    faked(someone.page, "/admin/schedules", change)
    for state in State:
        page = someone.open()
        row = someone.row("nightly-audit")
        eventually(row.get_by_text(state, exact=True))
        mark = row.locator(f".state svg.mark.{state}")
        expect(mark).to_be_visible()
        expect(row.locator(".state")).to_have_attribute("title", STATE_TEXTS[state])
        expect(row.locator(".delivery")).to_have_text("undelivered: gone")
        legend = page.locator(f".legend .{state}").first
        expect(legend).to_contain_text(STATE_TEXTS[state])
        assert legend.locator("svg.mark").inner_html() == mark.inner_html()


def test_no_two_states_share_a_mark(night_bot: Bot, visit: Visit) -> None:
    page = visit(night_bot).open()
    page.get_by_text("What the marks mean").click()
    entries = page.locator(".legend dt").filter(has=page.locator(".strip"))
    expect(entries).to_have_count(len(State))
    marks = [each.inner_html() for each in page.locator(".legend dt > svg.mark").all()]
    bars = [
        each.get_attribute("d") for each in page.locator(".legend .strip path:not(.days)").all()
    ]
    assert len(set(marks)) == len(set(bars)) == len(State)


def test_a_quiet_night_is_called_fine(night_bot: Bot, visit: Visit) -> None:
    someone = visit(night_bot)

    def all_well(listed: Any) -> Any:
        for schedule in listed["schedules"]:
            if schedule["last"]:
                schedule["last"] |= {"state": "ok", "code": None}
        return listed

    def no_gap(strips: Any) -> Any:
        return strips | {
            "ticks": [[n, 10] for n in range(strips["buckets"])],
            "firings": {"nightly-audit": [[100, "ok", 1, 0]]},
        }

    faked(someone.page, "/admin/schedules", all_well)
    faked(someone.page, "/admin/strips?span=24h", no_gap)
    page = someone.open()
    eventually(page.get_by_role("heading", name="The last 24 hours were fine."))
    expect(page.get_by_role("region", name="Claimed, not started")).to_be_hidden()


def test_the_filter_narrows_the_table(night_bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(night_bot, size=size)
    page = someone.open()
    field = page.get_by_role("searchbox", name="Filter the schedules")
    eventually(field)
    field.fill("refused")
    expect(someone.row("freeze-guard")).to_be_visible()
    expect(someone.row("nightly-audit")).to_be_hidden()
    field.fill("nothing like this")
    expect(page.get_by_text("No schedule has all of: nothing, like, this.")).to_be_visible()
