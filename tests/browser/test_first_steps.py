"""From nothing to a schedule that fired and a refused one that a person confirmed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.visit import Bot, eventually


def test_a_newcomer_gets_from_the_token_to_a_firing(bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(bot, size=size, signed_in=False)
    page = someone.open()
    expect(page.get_by_role("heading", name="Standing Orders")).to_be_visible()
    someone.check()
    someone.expected.add(401)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    eventually(page.get_by_role("alert"))
    expect(page.get_by_role("alert")).to_contain_text("not one of this bot's")
    someone.check()
    someone.expected.clear()
    page.get_by_label("Token").fill(bot.token)
    page.keyboard.press("Enter")
    eventually(page.get_by_role("heading", name="Three steps to the first standing order"))
    someone.check()
    someone.fits()

    page.get_by_role("button", name="Add a first one").click()
    dialog = page.get_by_role("dialog", name="Add a schedule")
    expect(dialog.get_by_label("Name")).to_have_value("first-look")
    expect(dialog.get_by_label("Name")).to_be_focused()
    eventually(dialog.get_by_text("every minute (UTC)"))
    someone.check()
    dialog.get_by_role("button", name="Add", exact=True).click()
    eventually(someone.row("first-look"))
    expect(dialog).to_be_hidden()
    expect(someone.row("first-look")).to_contain_text("not fired yet")

    bot.pass_time(minutes=1)
    eventually(someone.row("first-look").get_by_text("ok", exact=True))
    someone.check()
    page.get_by_role("link", name="first-look").click()
    eventually(page.get_by_role("heading", name="first-look"))
    page.get_by_role("button", name="Output").first.click()
    eventually(page.get_by_text("schedule:first-look", exact=True))
    eventually(page.locator(".markdown").get_by_text("first-look"))
    someone.check()
    someone.fits()


def test_a_refused_write_is_confirmed_by_hand_in_its_thread(
    bot: Bot, visit: Visit, size: str
) -> None:
    bot.add("victim", "schedule list", cron="0 3 * * *", grants=["schedule:read"])
    bot.add("freeze-guard", "schedule pause victim because the freeze begins")
    bot.pass_time(minutes=1)
    someone = visit(bot, size=size)
    page = someone.open()
    row = someone.row("freeze-guard")
    eventually(row.get_by_text("refused", exact=True))
    expect(row).to_contain_text("schedule_write")
    expect(page.get_by_role("heading", level=1)).to_contain_text("did not end well")
    page.get_by_role("link", name="freeze-guard").click()
    page.get_by_role("button", name="Output").first.click()
    page.get_by_role("link", name="web:ops/").click()

    eventually(page.get_by_text("a schedule may not write"))
    expect(page.locator(".handback code")).to_have_text(
        "schedule pause victim because the freeze begins"
    )
    someone.check()
    someone.fits()
    assert bot.schedules()["victim"]["enabled"]
    page.get_by_role("button", name="Confirm as web:admin").click()
    eventually(page.get_by_text("victim is paused because the freeze begins"))
    expect(page.get_by_role("button", name="Confirm as web:admin")).to_be_hidden()
    expect(page.locator(".handback")).to_contain_text("web:admin ran it.")
    assert bot.schedules()["victim"]["paused_reason"] == "the freeze begins"
    page.get_by_role("link", name="Schedules", exact=True).click()
    eventually(someone.row("victim").get_by_text("the freeze begins"))
