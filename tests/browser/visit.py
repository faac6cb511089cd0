"""A person in front of a page, and what must hold of every page they see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Response,
    Route,
    expect,
)

from tests.browser.browser import HERE
from tests.runtime.bot import Bot as RuntimeBot
from tests.runtime.bot import ms
from tests.runtime.server import Server

ZONE = "Europe/Berlin"
SIZES = {"wide": (1280, 800), "phone": (390, 844)}
AXE = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Bot(RuntimeBot):
    """A running bot whose clock the test moves."""

    def __init__(self, server: Server):
        super().__init__(server)
        self.url = server.url

    @property
    def now(self) -> datetime:
        """The bot's time: it runs on from where it was set."""
        return datetime.fromisoformat(self.get("/admin/ticks").headers["x-bot-time"])

    def add(self, name: str, text: str = "whoami", **row: Any) -> dict[str, Any]:
        """Add a schedule: every minute in ``web:ops`` unless ``row`` says otherwise."""
        usual = {"cron": "* * * * *", "channel": "web:ops", "text": text}
        return super().add(name, **{**usual, **row})

    def pass_time(self, **length: int) -> None:
        """Move the clock on, and fire the minute tick as the cron would."""
        self.server.set_clock((self.now + timedelta(**length)).isoformat())
        self.cron_tick()

    def claim_without_run(self, name: str, minutes_ago: int = 5) -> None:
        """Leave the row as a bot leaves it that died between its claim and its admission."""
        at = ms(self.now.isoformat())
        due = at - at % 60_000 - minutes_ago * 60_000
        claimed = {"lastFiredAt": due + 400, "lastClaimedAt": due + 400, "lastDueAt": due}
        row = {**self.row(name), "createdAt": due - 60_000, **claimed}
        self.write({f"schedules.{name}": row})


class Visitor:
    """One person's browser. ``close`` says what went wrong on the way: it must be nothing.

    ``expected`` are the statuses of answers that the test provokes: a browser logs each answer
    of 400 or more as an error by itself.
    """

    def __init__(self, context: BrowserContext, bot: Bot):
        self.context = context
        self.bot = bot
        self.page: Page = context.new_page()
        self.expected: set[int] = set()
        self.errors: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(f"thrown: {error}"))
        self.page.on("response", self._response)
        self.page.on("request", lambda request: self._same_host(request.url))

    def sign_in(self) -> None:
        """Sign in as ``web:admin`` past the form."""
        answer = self.context.request.post(
            f"{self.bot.url}/api/session", data={"token": self.bot.token}
        )
        assert answer.ok, answer.text()
        self.context.add_init_script("localStorage.setItem('signed-in', 'yes')")

    def open(self, path: str = "/") -> Page:
        """Go to a page."""
        self.page.goto(self.bot.url + path)
        return self.page

    def row(self, name: str) -> Locator:
        """A schedule's row in the table."""
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("link", name=name))

    def check(self) -> None:
        """What axe finds wrong on the page as it stands, in both colour schemes: nothing."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        self._axe(RULES)
        self.page.emulate_media(color_scheme="dark")
        self._axe(["color-contrast"])
        self.page.emulate_media(color_scheme="light")

    def _axe(self, rules: list[str]) -> None:
        options = {"runOnly": rules, "resultTypes": ["violations"]}
        found = self.page.evaluate("options => axe.run(document, options)", options)
        told = [
            f"{each['id']}: {node['html'][:200]}: {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]
        assert not told, "\n".join(told)

    def fits(self) -> None:
        """The page is no wider than its window."""
        wide = self.page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide[0] <= wide[1], wide

    def hurry(self) -> None:
        """Have the page ask for everything now, as it does when its network is back."""
        self.page.evaluate("dispatchEvent(new Event('online'))")

    def close(self) -> None:
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.close()
        assert not self.errors, "\n".join(self.errors)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        # Answers are judged by _response, with their status.
        if "Failed to load resource" not in message.text:
            self.errors.append(f"{message.type}: {message.text}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.errors.append(f"{response.status}: {response.request.method} {response.url}")

    def _same_host(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.bot.url).netloc:
            self.errors.append(f"a request left for {url[:200]}")


def eventually(locator: Locator, seconds: float = 10) -> None:
    """It comes to be seen: live is ten seconds at most."""
    expect(locator).to_be_visible(timeout=seconds * 1000)


def faked(page: Page, path: str, change: Callable[[Any], Any]) -> None:
    """Let the API's answers to ``path`` (a glob) through, changed."""

    def answer(route: Route) -> None:
        response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        route.fulfill(response=response, json=change(response.json()))

    page.route(f"**{path}", answer)
