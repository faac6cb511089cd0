"""Fixtures of the runtime tests: servers that live for the session, and their logs on a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.runtime.server import Server

_servers: list[Server] = []


@pytest.fixture(scope="session")
def start_server() -> Iterator[Callable[..., Server]]:
    """Give `Server.start`; every server that it started is closed when the session ends."""

    def start(*args: Any, **options: Any) -> Server:
        server = Server.start(*args, **options)
        _servers.append(server)
        return server

    yield start
    for server in _servers:
        server.close()
    _servers.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Show the end of the servers' logs with a test that failed."""
    report = yield
    if report.failed:
        for server in _servers:
            report.sections.append((f"log of the server at {server.url}", server.log_tail()))
    return report
