"""What a person does to schedules on the panel: add, fire, pause, resume, remove."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.visit import Bot, eventually


def begin_to_add(page: Page) -> Locator:
    page.get_by_role("button", name="Add a schedule").click()
    return page.get_by_role("dialog", name="Add a schedule")


def test_what_is_typed_is_explained_before_it_is_added(bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(bot, size=size)
    someone.expected.add(422)
    dialog = begin_to_add(someone.open())
    when = dialog.get_by_label("When")
    when.fill("* * *")
    problem = dialog.get_by_role("alert")
    eventually(problem)
    expect(problem).to_contain_text("five fields")
    expect(when).to_have_attribute("aria-invalid", "true")
    expect(when).to_have_accessible_description(
        "Five cron fields: minute, hour, day, month, weekday. " + problem.inner_text()
    )
    someone.check()
    dialog.get_by_role("button", name="weekdays at 09:00").click()
    eventually(dialog.get_by_text("at 09:00 every weekday (UTC)"))
    expect(problem).to_be_hidden()
    dialog.get_by_label("Time zone").fill("Asia/Tokyo")
    eventually(dialog.get_by_text("at 09:00 every weekday (Asia/Tokyo)"))
    expect(dialog.get_by_role("listitem")).to_have_count(5)
    expect(dialog.get_by_role("listitem").first).to_contain_text("01:00")
    expect(dialog.get_by_role("listitem").first).to_contain_text("09:00 there")
    dialog.get_by_label("Name").fill("tokyo")
    dialog.get_by_label("Channel").fill("web:ops")
    dialog.get_by_label("What it does").fill("whoami")
    expect(dialog.get_by_text('schedule add tokyo "0 9 * * MON-FRI"')).to_have_text(
        'schedule add tokyo "0 9 * * MON-FRI" in web:ops zone Asia/Tokyo: whoami'
    )
    someone.fits()
    dialog.get_by_role("button", name="Add", exact=True).click()
    eventually(someone.row("tokyo"))
    assert bot.schedules()["tokyo"]["zone"] == "Asia/Tokyo"


REFUSED = [
    ("Name", "Not A Name", "is not a schedule's name"),
    ("Name", "taken", "exists"),
    ("When", "0 0 30 2 *", "never"),
    ("Time zone", "Mars/Base", "Mars/Base"),
    ("Channel", "web:nowhere", "There is no channel"),
    ("Grants", "fly:to on the/moon", "grant"),
    ("Window", "two hours", "is not a window"),
]


def test_a_refusal_stands_beside_its_field_and_keeps_the_rest(bot: Bot, visit: Visit) -> None:
    bot.add("taken", cron="0 3 * * *")
    someone = visit(bot)
    someone.expected |= {409, 422}
    page = someone.open()
    dialog = begin_to_add(page)

    def field(label: str) -> Locator:
        return dialog.get_by_label(label, exact=label == "Name")

    good = {"Name": "fine", "When": "0 3 * * *", "Channel": "web:ops", "What it does": "whoami"}
    empty = {"Time zone": "", "Grants": "", "Window": ""}
    for label, value, words in REFUSED:
        for name, text in {**good, **empty, label: value}.items():
            field(name).fill(text)
        dialog.get_by_role("button", name="Add", exact=True).click()
        expect(field(label)).to_have_attribute("aria-invalid", "true")
        expect(dialog.get_by_role("alert")).to_contain_text(words)
        expect(field("What it does")).to_have_value("whoami")
    # What was typed is there again after the dialog was closed.
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    begin_to_add(page)
    expect(field("Window")).to_have_value("two hours")
    assert list(bot.schedules())[-1] == "taken"


def test_a_schedule_is_paused_with_a_reason_resumed_and_removed(
    bot: Bot, visit: Visit, size: str
) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    someone = visit(bot, size=size)
    page = someone.open()
    page.get_by_role("button", name="Pause nightly").click()
    dialog = page.get_by_role("dialog", name="Pause nightly?")
    expect(dialog.get_by_label("Why")).to_be_focused()
    someone.check()
    page.keyboard.type("the freeze")
    page.keyboard.press("Enter")
    eventually(someone.row("nightly").get_by_text("the freeze"))
    expect(page.get_by_role("status").filter(has_text="nightly is paused.")).to_be_visible()
    assert bot.schedules()["nightly"]["paused_reason"] == "the freeze"
    page.get_by_role("button", name="Resume nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    eventually(page.get_by_role("button", name="Pause nightly"))
    page.get_by_role("link", name="nightly").click()
    page.get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog", name="Remove nightly?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Remove")).to_be_focused()
    page.get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    eventually(page.get_by_role("heading", name="Three steps to the first standing order"))
    assert bot.get("/admin/schedules/nightly").status == 404


def test_a_press_of_fire_says_what_it_does_and_keeps_the_slot(bot: Bot, visit: Visit) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    someone = visit(bot)
    page = someone.open()
    page.get_by_role("button", name="Fire nightly").click()
    dialog = page.get_by_role("dialog", name="Fire nightly once, now?")
    expect(dialog).to_contain_text("It runs as schedule:nightly with no grants")
    expect(dialog).to_contain_text("answers in web:ops")
    next_before = bot.schedules()["nightly"]["next"]
    dialog.get_by_role("button", name="Fire once").click()
    eventually(someone.row("nightly").get_by_text("by web:admin"))
    eventually(someone.row("nightly").get_by_text("ok", exact=True))
    last = bot.schedules()["nightly"]["last"]
    assert (last["trigger"], last["by"], last["due_at"]) == ("hand", "web:admin", None)
    assert bot.schedules()["nightly"]["next"] == next_before


def test_a_firing_that_never_started_is_fired_once_however_often_it_is_pressed(
    bot: Bot, visit: Visit, size: str
) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    bot.claim_without_run("nightly")
    someone = visit(bot, size=size)
    page = someone.open()
    waiting = page.get_by_role("region", name="Claimed, not started")
    eventually(waiting)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "1 firing was claimed and never started."
    )
    due = bot.schedules()["nightly"]["last"]["due_at"][11:16]
    button = waiting.get_by_role("button", name=f"Fire the {due} minute")
    expect(waiting).to_contain_text("at most once, however often")
    someone.check()
    button.dblclick()
    eventually(someone.row("nightly").get_by_text("ok", exact=True))
    expect(waiting).to_be_hidden()
    firings = bot.firings("nightly")
    assert [(each["trigger"], each["by"]) for each in firings] == [("refire", "web:admin")]


def test_two_people_who_press_fire_at_once_start_one_run(bot: Bot, visit: Visit) -> None:
    bot.add("nightly", "whoami", cron="0 3 * * *")
    bot.claim_without_run("nightly")
    both = [visit(bot), visit(bot)]
    buttons = [each.open().get_by_role("button", name="Fire the") for each in both]
    for button in buttons:
        eventually(button)
    for button in buttons:
        button.click(no_wait_after=True)
    for each in both:
        # The second press may come after the run: then it is one more firing, by hand.
        eventually(each.row("nightly").get_by_text("ok", exact=True))
    firings = bot.firings("nightly")
    assert [each["trigger"] for each in firings].count("refire") == 1


def test_the_whole_of_it_works_by_keyboard_alone(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open()
    eventually(page.get_by_role("heading", name="Three steps to the first standing order"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    add = page.get_by_role("button", name="Add a schedule")
    for _ in range(12):
        page.keyboard.press("Tab")
        if add.evaluate("each => each === document.activeElement"):
            break
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type("by-keys")
    page.keyboard.press("Tab")
    page.keyboard.type("0 3 * * *")
    for label in ("Channel", "What it does"):
        field = dialog.get_by_label(label)
        for _ in range(12):
            page.keyboard.press("Tab")
            if field.evaluate("each => each === document.activeElement"):
                break
        page.keyboard.type("web:ops" if label == "Channel" else "whoami")
    dialog.get_by_label("Name").focus()
    page.keyboard.press("Enter")
    eventually(someone.row("by-keys"))
    expect(add).to_be_focused()


def test_what_somebody_elsewhere_does_is_seen_without_a_reload(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open()
    eventually(page.get_by_role("heading", name="Three steps to the first standing order"))
    bot.add("elsewhere", "whoami")
    eventually(someone.row("elsewhere"))
    bot.pass_time(minutes=1)
    eventually(someone.row("elsewhere").get_by_text("ok", exact=True))
    bot.remove("elsewhere")
    someone.hurry()
    expect(someone.row("elsewhere")).to_be_hidden(timeout=10_000)
