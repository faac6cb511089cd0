"""What a failed call tells, over a platform that is written down."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from bot.cloudflare.http import Fetch
from bot.ports import Fault
from tests.support.drive import run

SECRET = "T0/B0/s3cret"
URL = f"https://user:pw@Hooks.slack.test:8443/commands/{SECRET}?token={SECRET}#{SECRET}"


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def fetch(url: str, **_: Any) -> Any:
        raise error

    signal = SimpleNamespace(timeout=lambda ms: None)
    monkeypatch.setitem(sys.modules, "js", SimpleNamespace(AbortSignal=signal))
    monkeypatch.setitem(sys.modules, "workers", SimpleNamespace(fetch=fetch))


@pytest.mark.parametrize("said", ["Network connection lost.", f"Fetch API cannot load: {URL}"])
def test_a_fault_names_the_host_and_nothing_else_of_the_address(
    said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing(monkeypatch, TypeError(said))
    with pytest.raises(Fault) as raised:
        run(Fetch().send("POST", URL))
    logging.getLogger("test").error("broke", exc_info=raised.value)
    assert str(raised.value).startswith("POST hooks.slack.test: ")
    for told in (str(raised.value), caplog.text):
        assert "s3cret" not in told
        assert "pw" not in told


@pytest.mark.parametrize("url", ["not an address s3cret", "http://[s3cret", ""])
def test_an_address_that_cannot_be_read_is_not_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, TypeError("Invalid URL"))
    with pytest.raises(Fault, match="GET an address: Invalid URL") as raised:
        run(Fetch().send("GET", url))
    assert "s3cret" not in str(raised.value)
