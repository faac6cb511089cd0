"""Fixtures of the browser tests: one browser, two bots, and people in front of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import night
from tests.browser.browser import launch
from tests.browser.visit import SIZES, ZONE, Bot, Visitor
from tests.runtime.server import Server

_servers: list[Server] = []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def fresh_bot() -> Iterator[Bot]:
    server = Server.start(demo=True, clock=night.MORNING)
    _servers.append(server)
    yield Bot(server)
    server.close()


@pytest.fixture
def bot(fresh_bot: Bot) -> Bot:
    """A bot with nothing scheduled, on the morning of ``night.MORNING`` or later."""
    fresh_bot.clear()
    return fresh_bot


@pytest.fixture(scope="session")
def night_bot() -> Iterator[Bot]:
    """A bot with the month of ``night`` behind it."""
    server = night.start(random.Random(7))
    _servers.append(server)
    yield Bot(server)
    server.close()


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    """A window's size by name."""
    return request.param


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Somebody who comes to a bot: ``visit(bot)``, signed in unless ``signed_in=False``."""
    here: list[Visitor] = []

    def come(bot: Bot, *, size: str = "wide", signed_in: bool = True, **more: Any) -> Visitor:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, timezone_id=ZONE, locale="en-GB", **more
        )
        context.set_default_timeout(12_000)
        visitor = Visitor(context, bot)
        here.append(visitor)
        if signed_in:
            visitor.sign_in()
        return visitor

    yield come
    for visitor in here:
        visitor.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Show the end of the bots' logs with a test that failed."""
    report = yield
    if report.failed:
        for server in _servers:
            report.sections.append((f"log of the bot at {server.url}", server.log_tail()))
    return report
