"""Takes the docs' pictures from a running bot, so that they stay true: ``make screenshots``."""

from __future__ import annotations

import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from tests.browser import night  # noqa: E402
from tests.browser.browser import launch  # noqa: E402
from tests.browser.visit import ZONE  # noqa: E402
from tests.runtime.server import Server  # noqa: E402

IMAGES = ROOT / "docs" / "images"


class Camera:
    """Opens pages as ``web:admin`` and keeps pictures of them."""

    def __init__(self, browser: Browser, server: Server):
        self._browser = browser
        self._server = server

    def look(self, path: str, *, width: int, height: int, dark: bool = False) -> Page:
        """A page in a window of that size."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            timezone_id=ZONE,
            locale="en-GB",
            reduced_motion="reduce",
        )
        url = self._server.url
        context.request.post(f"{url}/api/session", data={"token": self._server.admin_token})
        context.add_init_script("localStorage.setItem('signed-in', 'yes')")
        page = context.new_page()
        page.goto(url + path)
        return page

    def keep(self, page: Page, name: str) -> None:
        """Save what the window shows."""
        page.evaluate("document.activeElement?.blur()")
        page.screenshot(path=IMAGES / f"{name}.png")
        page.context.close()
        print(f"docs/images/{name}.png")


def panel(camera: Camera, name: str, *, width: int, height: int, dark: bool = False) -> None:
    """The morning after a bad night."""
    page = camera.look("/", width=width, height=height, dark=dark)
    page.get_by_role("img", name="queue-depth, 30 days").wait_for()
    camera.keep(page, name)


def adding(camera: Camera) -> None:
    """What an expression means, while it is typed."""
    page = camera.look("/", width=1000, height=800)
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("invoice-check")
    dialog.get_by_label("When").fill("0 9 L * *")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    dialog.get_by_label("Channel").fill("web:ops")
    dialog.get_by_label("What it does").fill("advisories in acme/api")
    dialog.get_by_label("Grants").fill("agent:run:research on acme/api")
    dialog.get_by_text("on the last day of the month").wait_for()
    camera.keep(page, "add")


def thread(camera: Camera) -> None:
    """Plain words: one that reads, and one that would write."""
    page = camera.look("/chat/", width=1100, height=820)
    page.get_by_role("textbox", name="Begin a thread").fill(
        "which advisories are open in acme/web?"
    )
    page.keyboard.press("Enter")
    page.locator(".receipt").wait_for()
    field = page.get_by_role("textbox", name="Say something in this thread")
    field.fill("please pause release-notes because we ship on Thursday")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Confirm").wait_for()
    page.get_by_text("running").wait_for(state="hidden")
    camera.keep(page, "thread")


def main() -> None:
    """Take every picture."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    server = night.start(random.Random(7))
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            camera = Camera(browser, server)
            panel(camera, "panel", width=1280, height=1010)
            panel(camera, "panel-dark", width=1280, height=1010, dark=True)
            panel(camera, "panel-phone", width=390, height=844)
            adding(camera)
            thread(camera)
            browser.close()
    finally:
        server.close()


if __name__ == "__main__":
    main()
