"""Being signed in, no longer being so, and not being allowed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.visit import Bot, Visitor, eventually

BOB = {
    "actor": "web:bob",
    "csrf": "x",
    "expires_at": "2099-01-01T00:00:00Z",
    "grants": ["schedule:read", "schedule:write"],
}
ELSEWHERE = {False: BOB, True: None}
"""What the page is told of the browser's session where somebody else took it over."""


def end_session(someone: Visitor) -> None:
    """What seven days do."""
    someone.context.clear_cookies()
    someone.expected.add(401)


def test_a_session_that_ended_is_asked_for_once_and_nothing_typed_is_lost(
    bot: Bot, visit: Visit, size: str
) -> None:
    someone = visit(bot, size=size)
    page = someone.open()
    page.get_by_role("button", name="Add a schedule").click()
    form = page.get_by_role("dialog", name="Add a schedule")
    fields = {"Name": "kept", "When": "0 3 * * *", "Channel": "web:ops", "What it does": "whoami"}
    for label, text in fields.items():
        form.get_by_label(label, exact=label == "Name").fill(text)
    end_session(someone)
    form.get_by_role("button", name="Add", exact=True).click()
    ended = page.get_by_role("dialog", name="Your session has ended")
    eventually(ended)
    expect(ended).to_have_count(1)
    someone.check()
    ended.get_by_label("Token").fill(bot.token)
    ended.get_by_role("button", name="Sign in").click()
    expect(ended).to_be_hidden()
    # The press that met the end goes on by itself.
    eventually(someone.row("kept"))
    assert bot.schedules()["kept"]["created_by"] == "web:admin"


def test_the_question_can_be_put_off_and_is_not_asked_again(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open()
    eventually(page.get_by_role("heading", level=1))
    end_session(someone)
    someone.hurry()
    ended = page.get_by_role("dialog", name="Your session has ended")
    eventually(ended)
    ended.get_by_role("button", name="Not now").click()
    eventually(page.get_by_text("You are signed out"))
    # What needs the session says so by itself.
    page.get_by_role("button", name="Add a schedule").click()
    form = page.get_by_role("dialog", name="Add a schedule")
    form.get_by_label("When").fill("0 3 * * *")
    eventually(form.get_by_text("a browser session"))
    expect(ended).to_be_hidden()
    someone.check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sign in").click()
    ended.get_by_label("Token").fill(bot.token)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You are signed out")).to_be_hidden()
    bot.add("later", "whoami", cron="0 3 * * *")
    someone.hurry()
    eventually(someone.row("later"))


def test_a_draft_in_chat_outlives_the_session_and_a_reload(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/chat/")
    field = page.get_by_role("textbox", name="Begin a thread")
    field.fill("whoami")
    end_session(someone)
    page.keyboard.press("Enter")
    ended = page.get_by_role("dialog", name="Your session has ended")
    eventually(ended)
    page.keyboard.press("Escape")
    expect(ended).to_be_hidden()
    expect(field).to_have_value("whoami")
    page.reload()
    page.get_by_label("Token").fill(bot.token)
    page.keyboard.press("Enter")
    expect(field).to_have_value("whoami")


@pytest.mark.parametrize("noticed", [False, True], ids=["unnoticed", "asked"])
def test_signing_in_elsewhere_in_the_browser_is_enough(
    bot: Bot, visit: Visit, noticed: bool
) -> None:
    someone = visit(bot)
    page = someone.open()
    eventually(page.get_by_role("heading", level=1))
    end_session(someone)
    if noticed:
        someone.hurry()
        eventually(page.get_by_role("dialog", name="Your session has ended"))
    someone.sign_in()
    bot.add("shared", "whoami", cron="0 3 * * *")
    someone.hurry()
    eventually(someone.row("shared"))
    # Another sign-in has another csrf: the page takes it up by itself.
    someone.expected.add(403)
    page.get_by_role("button", name="Pause shared").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    eventually(page.get_by_role("button", name="Resume shared"))


@pytest.mark.parametrize("noticed", [False, True], ids=["unnoticed", "asked"])
def test_what_one_person_pressed_is_not_sent_as_another(
    bot: Bot, visit: Visit, noticed: bool
) -> None:
    someone = visit(bot)
    page = someone.open()
    writes: list[str] = []
    page.on("request", lambda sent: writes.append(sent.url) if sent.method == "POST" else None)
    page.get_by_role("button", name="Add a schedule").click()
    form = page.get_by_role("dialog", name="Add a schedule")
    fields = {"Name": "kept", "When": "0 3 * * *", "Channel": "web:ops", "What it does": "whoami"}
    for label, text in fields.items():
        form.get_by_label(label, exact=label == "Name").fill(text)
    if noticed:
        end_session(someone)
    else:
        someone.sign_in()
        someone.expected.add(403)
    page.route("**/api/session", lambda route: route.fulfill(json=BOB))
    page.route("**/api/sign-in", lambda route: route.fulfill(json={"session": ELSEWHERE[noticed]}))
    form.get_by_role("button", name="Add", exact=True).click()
    if noticed:
        page.get_by_label("Token").fill("bob's")
        page.keyboard.press("Enter")
    expect(form).to_be_hidden()
    if noticed:
        # The page was loaded anew, and this browser has no session in truth.
        eventually(page.get_by_role("heading", name="Standing Orders"))
        page.unroute_all()
        page.get_by_label("Token").fill(bot.token)
        page.keyboard.press("Enter")
    else:
        expect(page.get_by_title("You act as this actor")).to_have_text("web:bob")
        page.unroute_all()
        page.reload()
    page.get_by_role("button", name="Add a schedule").click()
    expect(form.get_by_label("Name", exact=True)).to_have_value("kept")
    assert [url for url in writes if url.endswith("/admin/schedules")] == [
        f"{bot.url}/admin/schedules"
    ]
    assert "kept" not in bot.schedules()


def test_signing_out_shows_the_way_in(bot: Bot, visit: Visit) -> None:
    someone = visit(bot, signed_in=False)
    page = someone.open()
    page.get_by_label("Token").fill(bot.token)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").click()
    eventually(page.get_by_label("Token"))
    page.reload()
    eventually(page.get_by_label("Token"))
    assert someone.context.cookies() == []


def test_a_person_without_the_grant_is_told_which_one_is_missing(bot: Bot, visit: Visit) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    page = someone.page
    session = BOB | {"grants": ["schedule:read"]}
    told = {"session": session, "access": False}
    page.route("**/api/sign-in", lambda route: route.fulfill(json=told))
    someone.open()
    fire = page.get_by_role("button", name="Fire nightly")
    eventually(fire)
    expect(fire).to_have_attribute("title", "You do not hold schedule:fire.")
    fire.click(force=True)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Add a schedule")).to_have_attribute(
        "aria-disabled", "true"
    )
    someone.check()


def test_a_bot_that_does_not_answer_is_said_to_and_taken_up_again(bot: Bot, visit: Visit) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    someone.expected.add(503)
    page = someone.page
    down = '{"code":"store_unavailable","title":"A store did not answer","detail":"Try again."}'
    page.route("**/admin/**", lambda route: route.fulfill(status=503, body=down))
    someone.open()
    eventually(page.get_by_role("heading", name="The schedules cannot be read."))
    someone.check()
    page.unroute("**/admin/**")
    page.get_by_role("button", name="Try again").click()
    eventually(someone.row("nightly"))
    page.route("**/admin/**", lambda route: route.fulfill(status=503, body=down))
    someone.hurry()
    eventually(page.get_by_text("not fresh: Try again."))
    expect(someone.row("nightly")).to_be_visible()
    page.unroute("**/admin/**")
    someone.hurry()
    expect(page.get_by_text("not fresh")).to_be_hidden()
