"""Names and answers that were written to do harm are words on a page, and no more."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_chat import answers, say
from tests.browser.visit import Bot, eventually, faked

MARKUP = (
    '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    '<svg/onload="window.hit=1"><iframe srcdoc="<script>parent.hit=1</script>"></iframe>'
    "<style>body{display:none}</style><a href='javascript:window.hit=1'>a</a>"
)
MARKDOWN = """# A heading

**bold** and `code` and <b onmouseover="window.hit=1">html</b>

[a link](javascript:window.hit=1) [data](data:text/html,<script>window.hit=1</script>)
[good](https://example.com/?q=%22onload) ![image](https://evil.example/track.png)

<https://evil.example/auto> <script>window.hit=1</script>

- [x] done
- <details open ontoggle=window.hit=1>

| a | b |
|---|---|
| 1 | <img src=//evil.example/x onerror=window.hit=1> |

```html
<script>window.hit=1</script>
```
"""
LONG = "w" * 4000
RIGHT_TO_LEFT = "safe \u202etxt.exe\u2066 \u200fשלום\u200e end"
MENTION = "<!channel> @everyone <@U042> @here"


def is_harmless(page: Page) -> None:
    assert page.evaluate("window.hit") is None
    assert page.locator("#app img, #app script, #app iframe, #app style, #app object").count() == 0
    targets = page.eval_on_selector_all("#app a", "all => all.map(each => each.href)")
    assert all(each.startswith(("http://127.0.0.1", "https://")) for each in targets), targets
    handlers = page.evaluate(
        "[...document.querySelectorAll('#app *')].filter(each =>"
        " each.getAttributeNames().some(name => name.startsWith('on'))).length"
    )
    assert handlers == 0


def test_what_a_person_says_is_shown_as_it_was_typed(bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(bot, size=size)
    page = someone.open("/chat/")
    said = page.locator(".message.person .plain")
    for n, text in enumerate([MARKUP, RIGHT_TO_LEFT, MENTION, LONG[:3900]]):
        say(page, f"config get {text}")
        expect(said).to_have_count(n + 1)
        expect(said.last).to_have_text(f"config get {text}")
        eventually(answers(page).nth(n))
    is_harmless(page)
    someone.fits()


HIDING = "say \u202eseussi\u202c\u2060 to\u00ad\U000e0041\ufe0f\u2028\ue000\u200b\u3164 all"
WRITTEN = (
    r"say \u{202E}seussi\u{202C}\u{2060} to\u{AD}\u{E0041}\u{FE0F}\u{2028}\u{E000}"
    r"\u{200B}\u{3164} all"
)


def test_what_a_button_would_run_hides_nothing(bot: Bot, visit: Visit, size: str) -> None:
    asked = f'schedule add helper "0 3 * * *" in web:ops: {HIDING}'
    bot.add("plain", "whoami", cron="0 3 * * *")
    bot.write({"schedules.plain": {**bot.row("plain"), "text": asked}})
    run = bot.told(bot.fire("plain").json()["run_id"])
    assert run["code"] == "schedule_write"
    someone = visit(bot, size=size, permissions=["clipboard-read", "clipboard-write"])
    page = someone.open("/#/plain")
    eventually(page.locator("pre.asked"))
    assert WRITTEN in page.locator("pre.asked").inner_text()
    page.goto(f"{bot.url}/chat/#{quote(run['thread'], safe='')}")
    shown = page.locator(".handback pre")
    eventually(shown)
    assert WRITTEN in shown.inner_text()
    page.get_by_role("button", name="Copy").click()
    eventually(page.get_by_text("The command is copied."))
    assert HIDING in page.evaluate("navigator.clipboard.readText()")
    someone.fits()
    someone.check()


def test_an_answer_is_markdown_without_any_of_its_markup(bot: Bot, visit: Visit, size: str) -> None:
    someone = visit(bot, size=size)
    page = someone.page
    say(someone.open("/chat/"), "whoami")
    eventually(answers(page))

    def change(told: Any) -> Any:
        text = "\n\n".join([MARKDOWN, MARKUP, RIGHT_TO_LEFT, MENTION, LONG])
        told["messages"][-1]["text"] = text
        return told | {"title": MARKUP}

    faked(page, "/api/threads/*", change)
    someone.hurry()
    body = page.locator(".markdown")
    eventually(body.get_by_text("A heading"))
    expect(body.get_by_role("heading", name="A heading")).to_be_visible()
    expect(body.get_by_text('<b onmouseover="window.hit=1">')).to_be_visible()
    expect(body.locator("pre code").first).to_have_text("<script>window.hit=1</script>")
    expect(body.get_by_role("cell", name="<img src=//evil")).to_be_visible()
    expect(body.get_by_role("link", name="good")).to_have_attribute(
        "rel", "noopener noreferrer nofollow ugc"
    )
    expect(body.get_by_role("link", name="image: image")).to_have_attribute(
        "href", "https://evil.example/track.png"
    )
    expect(body.get_by_role("link", name="a link")).to_have_count(0)
    is_harmless(page)
    someone.fits()
    someone.check()


def test_a_schedule_of_hostile_words_leaves_the_panel_whole(
    bot: Bot, visit: Visit, size: str
) -> None:
    bot.add("plain", "whoami", cron="0 3 * * *")
    row = bot.row("plain")
    reason = RIGHT_TO_LEFT + MENTION
    rows = {
        "schedules.plain": {
            **row,
            "text": f"config get {MARKUP}",
            "enabled": False,
            "pausedReason": reason,
        },
        # A row that no longer reads: whatever somebody wrote there is shown.
        f"schedules.{'n' * 150}": {"cron": MARKUP, "zone": RIGHT_TO_LEFT, "channel": LONG},
    }
    bot.write(rows)
    assert bot.fire("plain").status == 202
    someone = visit(bot, size=size)

    def change(listed: Any) -> Any:
        listed["schedules"][0]["name"] = MARKUP
        listed["schedules"][1] |= {"name": LONG, "describe": MARKUP}
        return listed

    faked(someone.page, "/admin/schedules", change)
    page = someone.open()
    eventually(someone.row("plain"))
    expect(page.get_by_role("link", name=MARKUP)).to_be_visible()
    is_harmless(page)
    someone.fits()
    someone.check()
    page.get_by_role("link", name="plain", exact=True).click()
    page.get_by_role("button", name="Output").first.click()
    eventually(page.locator(".run pre.asked"))
    expect(page.locator(".run pre.asked")).to_have_text(f"config get {MARKUP}")
    is_harmless(page)
    someone.fits()


def test_the_address_cannot_name_anything_but_a_schedule(bot: Bot, visit: Visit) -> None:
    someone = visit(bot)
    page = someone.open("/#/%3Cimg%20src=x%20onerror=window.hit=1%3E")
    eventually(page.get_by_text("There is no schedule of that name."))
    is_harmless(page)
    someone.expected.add(404)
    someone.open("/chat/#web:general%2F..%2F..%2Fadmin")
    eventually(page.get_by_text("There is no thread"))
    page.goto(f"{bot.url}/chat/#%E0%A4%A")
    eventually(page.get_by_role("heading", name="New thread"))
    is_harmless(page)


@pytest.mark.parametrize("path", ["/", "/chat/", "/assets/panel.js", "/css/base.css"])
def test_every_file_is_served_with_the_rules_that_keep_others_out(bot: Bot, path: str) -> None:
    answer = bot.server.get(path)
    assert answer.status == 200
    rules = answer.headers["content-security-policy"]
    assert "default-src 'none'" in rules
    assert "script-src 'self';" in rules
    assert "frame-ancestors 'none'" in rules
    assert "require-trusted-types-for 'script'" in rules
    assert "unsafe" not in rules
    assert answer.headers["x-content-type-options"] == "nosniff"
