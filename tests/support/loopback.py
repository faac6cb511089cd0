"""A real HTTP server on loopback, in a thread of the test's process: the outside, for tests."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request as it came in; header names are lower-case, the query as it was sent."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Given:
    """An answer. ``held``: it is written, and the connection kept open until the server ends."""

    status: int = 200
    body: str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    held: bool = False


def given_json(value: Any, status: int = 200, **headers: str) -> Given:
    """A JSON answer."""
    return Given(status, json.dumps(value), {"content-type": "application/json", **headers})


class LoopbackServer:
    """Answers by ``answer``; ``asked`` lists what came in. ``silent``: no answer until it ends."""

    family: ClassVar[str] = "loopback"

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.silent = False
        self._ending = Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, asked: Asked) -> Given:
        """What to answer; a subclass says it."""
        raise NotImplementedError

    def close(self) -> None:
        """End it; what it still holds open breaks."""
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_for_end(self) -> None:
        """Block a handler's thread until the server ends."""
        self._ending.wait(60)


class _Handler(BaseHTTPRequestHandler):
    owner: LoopbackServer
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        asked = Asked(
            self.command,
            parts.path,
            tuple(parse_qsl(parts.query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(length).decode(),
        )
        self.owner.asked.append(asked)
        if self.owner.silent:
            self.owner.wait_for_end()
            self.close_connection = True
            return
        given = self.owner.answer(asked)
        raw = given.body if isinstance(given.body, bytes) else given.body.encode()
        self.send_response(given.status)
        for name, value in given.headers.items():
            self.send_header(name, value)
        if not given.held:
            self.send_header("content-length", str(len(raw)))
        else:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(raw)
        if given.held:
            self.wfile.flush()
            self.owner.wait_for_end()
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def closed_port() -> int:
    """A port of loopback on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
