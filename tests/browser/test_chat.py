"""The web chat: saying things, receipts, hand-backs, what runs meanwhile."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.visit import Bot, eventually, faked
from tests.runtime.world import until


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Begin a thread").or_(
        page.get_by_role("textbox", name="Say something in this thread")
    )


def say(page: Page, text: str) -> None:
    # A thread takes one turn at a time.
    expect(page.locator(".progress")).to_be_hidden()
    field = composer(page)
    field.fill(text)
    field.press("Enter")
    expect(field).to_have_value("")


def answers(page: Page) -> Locator:
    return page.locator(".message.bot")


def test_a_command_is_completed_sent_and_answered(bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(bot, size=size)
    page = someone.open("/chat/")
    field = composer(page)
    field.fill("who")
    options = page.get_by_role("option")
    expect(options).to_have_count(1)
    someone.check()
    field.press("Tab")
    expect(field).to_have_value("whoami ")
    expect(page.locator(".composer .hint")).to_have_text("whoami")
    field.press("Enter")
    eventually(answers(page))
    expect(answers(page)).to_contain_text("web:admin")
    expect(page.get_by_role("heading", name="whoami")).to_be_visible()
    someone.check()
    someone.fits()
    field = composer(page)
    field.press("ArrowUp")
    expect(field).to_have_value("whoami ")
    field.press("ArrowDown")
    expect(field).to_have_value("")


def test_suggestions_are_walked_by_keys_and_name_schedules(bot: Bot, visit: Visit) -> None:
    bot.add("alpha", "whoami", cron="0 3 * * *")
    bot.add("beta", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    page = someone.open("/chat/")
    field = composer(page)
    field.fill("schedule ")
    chosen = page.locator('[role="option"][aria-selected="true"]')
    expect(chosen).to_contain_text("schedule add")
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(chosen).to_contain_text("schedule fire")
    field.press("ArrowUp")
    expect(chosen).to_contain_text("schedule remove")
    field.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    field.fill("schedule pause b")
    expect(page.get_by_role("option")).to_have_count(1)
    page.get_by_role("option", name="beta").click()
    expect(field).to_have_value("schedule pause beta")
    expect(page.locator(".composer .hint")).to_contain_text("schedule pause NAME [because REASON]")
    expect(page.locator(".composer .hint")).to_contain_text("needs schedule:write")


def test_prose_that_reads_runs_with_a_receipt(bot: Bot, visit: Visit) -> None:
    bot.add("alpha", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "which schedules do we have?")
    eventually(page.locator(".receipt"))
    expect(page.locator(".receipt")).to_have_text("ran schedule list")
    expect(answers(page)).to_contain_text("alpha")
    someone.check()


def test_prose_that_writes_is_handed_back_and_confirmed_once(
    bot: Bot, visit: Visit, size: str
) -> None:
    bot.add("alpha", "whoami", cron="0 3 * * *")
    someone = visit(bot, size=size, permissions=["clipboard-read", "clipboard-write"])
    page = someone.open("/chat/")
    say(page, "please pause alpha because we ship today")
    confirm = page.get_by_role("button", name="Confirm")
    eventually(confirm)
    expect(page.locator(".handback code")).to_have_text(
        "schedule pause alpha because we ship today"
    )
    expect(page.locator(".handback")).to_contain_text("It can be confirmed once, for 10 min.")
    assert bot.schedules()["alpha"]["enabled"]
    someone.check()
    someone.fits()
    page.get_by_role("button", name="Copy").click()
    eventually(page.get_by_text("The command is copied."))
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "schedule pause alpha because we ship today"
    confirm.dblclick()
    eventually(page.get_by_text("alpha is paused because we ship today"))
    expect(confirm).to_be_hidden()
    expect(page.locator(".handback")).to_contain_text("Confirmed.")
    assert bot.schedules()["alpha"]["paused_reason"] == "we ship today"


def test_a_hand_back_grows_old(bot: Bot, visit: Visit) -> None:
    bot.add("alpha", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "please pause alpha because we ship today")
    eventually(page.get_by_role("button", name="Confirm"))
    bot.pass_time(minutes=11)
    someone.hurry()
    expect(page.get_by_role("button", name="Confirm")).to_be_hidden(timeout=12_000)
    expect(page.locator(".handback")).to_contain_text("not confirmed within ten minutes")


def test_the_newest_message_stays_in_sight_as_the_window_shrinks(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "help")
    eventually(answers(page).get_by_text("whoami").first)
    box = page.locator(".messages")
    measured = """box => [
      box.scrollHeight > box.clientHeight,
      Math.round(box.scrollHeight - box.scrollTop - box.clientHeight) <= 1,
    ]"""
    for width, height in ((900, 500), (390, 600), (390, 420)):
        page.set_viewport_size({"width": width, "height": height})
        until(lambda: box.evaluate(measured) == [True, True])


def test_a_wrong_command_answers_with_its_usage(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "schedule pause")
    eventually(answers(page))
    expect(answers(page)).to_contain_text("refused")
    expect(answers(page)).to_contain_text("bad_command")
    expect(answers(page)).to_contain_text("schedule pause NAME")


def test_a_thread_that_is_busy_shows_what_runs_and_can_be_cancelled(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.page
    say(someone.open("/chat/"), "whoami")
    eventually(answers(page))

    def busy(told: Any) -> Any:
        live = {
            "id": told["messages"][0]["run_id"],
            "actor": "web:admin",
            "source": "message",
            "name": None,
            "text": "whoami",
            "admitted_at": told["created_at"],
            "started_at": told["created_at"],
        }
        return told | {"live": live}

    faked(page, "/api/threads/*", busy)
    someone.hurry()
    eventually(page.get_by_text("Working on what web:admin said"))
    expect(page.get_by_text("The thread has a live run")).to_be_visible()
    field = composer(page)
    field.fill("more")
    field.press("Enter")
    expect(field).to_have_value("more")
    page.get_by_role("button", name="Cancel").click()
    eventually(page.get_by_text("has ended already"))
    someone.check()


def test_an_agent_shows_each_of_its_calls_as_it_works(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "agent:run research in acme/api: which advisories are open?")
    eventually(answers(page), 30)
    someone.check()


def test_threads_are_listed_by_channel(bot: Bot, visit: Visit, size: str) -> None:
    bot.add("speaks", "whoami")
    bot.pass_time(minutes=1)
    someone = visit(bot, size=size)
    page = someone.open("/chat/")
    page.get_by_role("link", name="ops").click()
    item = page.get_by_role("link", name="speaks").first
    eventually(item)
    item.click()
    eventually(answers(page).nth(1))
    expect(page.get_by_role("heading", name="speaks")).to_be_visible()
    someone.fits()
    if size == "phone":
        page.get_by_role("link", name="web:ops").click()
        expect(item).to_be_visible()
    page.get_by_role("link", name="Just you").click()
    eventually(
        page.get_by_text("Your jobs answer here, except").or_(
            page.get_by_role("link", name="Your jobs")
        )
    )
    someone.check()


def test_a_job_made_in_chat_is_on_the_panel_with_what_it_told(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/chat/")
    say(page, "job add stretch every 30m: remind me to stretch")
    eventually(answers(page))
    bot.pass_time(minutes=31)
    page.get_by_role("link", name="Schedules", exact=True).click()
    jobs = page.get_by_role("region", name="Your jobs")
    eventually(jobs.get_by_text("stretch", exact=True))
    eventually(jobs.get_by_role("heading", name="What they told you"), 15)
    someone.check()
    jobs.get_by_role("button", name="Delete stretch").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(jobs.get_by_text("stretch", exact=True)).to_be_hidden(timeout=10_000)
