"""Runs the local runtime for tests: real workerd, one process group a server, HTTP helpers."""

from __future__ import annotations

import http.client
import json as jsonlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
WORLDS = Path(__file__).resolve().parent / "worlds"
NODE = ROOT / "node_modules" / ".bin" / "node"
START_SECONDS = 120


class StartError(RuntimeError):
    """The runtime ended before it answered; the message holds its output."""


@dataclass(frozen=True)
class Answer:
    """An HTTP response. Header names are looked up in any case."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return jsonlib.loads(self.body)


class Server:
    """A running local runtime. Its state outlives `stop`, `kill9` and `restart`, not `close`."""

    def __init__(
        self,
        root: Path | str = ROOT,
        *,
        vars: Mapping[str, str] | None = None,  # noqa: A002
        state: Path | str | None = None,
        no_tick: bool = True,
        demo: bool = False,
        clock: str | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="runtime-"))
        self.state = Path(state) if state else self._scratch / "state"
        self._clock = clock
        self._command = [
            *[str(NODE), str(ROOT / "dev" / "run.mjs"), "--port=0", "--until-stdin-closes"],
            *[f"--root={root}", f"--state={self.state}", f"--vars={self._vars_file(vars or {})}"],
            *(["--no-tick"] if no_tick else []),
            *([] if demo else ["--no-demo"]),
            *options,
        ]
        self.url = ""
        self.stdout: list[str] = []
        self.stderr: list[str] = []

    @classmethod
    def start(cls, root: Path | str = ROOT, **options: Any) -> Server:
        """Start a server on the project in `root` and wait until it answers.

        Options: `vars` (a mapping, as in .dev.vars; missing secrets are generated), `state` (a
        folder; default: one that `close` removes), `no_tick` (default True), `demo` (default
        False), `clock` (ISO 8601, set again at each restart), `options` (more of the command line).
        Raises StartError with the output when the runtime ends instead.
        """
        server = cls(root, **options)
        try:
            return server.restart()
        except BaseException:
            server.close()
            raise

    def restart(self) -> Server:
        """Start again on the same state, after stopping what still runs."""
        self.stop()
        self.stdout, self.stderr = [], []
        self.process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        ready = threading.Event()
        for stream, lines in (
            (self.process.stdout, self.stdout),
            (self.process.stderr, self.stderr),
        ):
            threading.Thread(target=_collect, args=(stream, lines, ready), daemon=True).start()
        if not ready.wait(START_SECONDS) or self.url_line is None:
            self.kill9()
            raise StartError(f"the runtime did not start:\n{self.log_tail(200)}")
        self.url = self.url_line.removeprefix("ready ")
        if self._clock is not None:
            self.set_clock(self._clock)
        return self

    @property
    def url_line(self) -> str | None:
        return next((line for line in list(self.stdout) if line.startswith("ready ")), None)

    @property
    def admin_token(self) -> str:
        """The generated token of `http:admin`, as the runtime printed it."""
        prefix = "admin token "
        return next(line for line in self.stdout if line.startswith(prefix)).removeprefix(prefix)

    @property
    def running(self) -> bool:
        return hasattr(self, "process") and self.process.poll() is None

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        data: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        timeout: float = 60,
    ) -> Answer:
        """Send one request, and follow no redirect. `token` is sent as a bearer."""
        sent = dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if json is not None:
            data = jsonlib.dumps(json)
            sent.setdefault("content-type", "application/json")
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=timeout)
        try:
            connection.request(
                method, path, body=data.encode() if isinstance(data, str) else data, headers=sent
            )
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> Answer:
        return self.request("POST", path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> Answer:
        return self.request("PUT", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.request("DELETE", path, **options)

    def set_clock(self, now: str | None) -> str:
        """Set the clock that the Python code sees (ISO 8601; None: the real time)."""
        answer = self.post("/__local/clock", {"now": now})
        assert answer.status == 200, answer.text
        return answer.json()["now"]

    def fire(self, cron: str, time_ms: int | None = None) -> Answer:
        """Fire `scheduled`, and wait for its end: 200, or 500 with what it raised."""
        query = {"cron": cron} | ({} if time_ms is None else {"time": str(time_ms)})
        return self.get(f"/cdn-cgi/local/scheduled?{urlencode(query, quote_via=quote)}")

    def stop(self) -> int | None:
        """Stop with SIGTERM and return the exit status."""
        return self._end(signal.SIGTERM)

    def kill9(self) -> None:
        """Kill the whole process group, workerd too, without any warning."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """Stop, and remove what this object made on disk."""
        self.stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def log_tail(self, lines: int = 60) -> str:
        """Return the end of what the runtime printed, stdout first."""
        return "\n".join([*self.stdout[-lines:], *self.stderr[-lines:]])

    def _end(self, number: signal.Signals) -> int | None:
        if not hasattr(self, "process"):
            return None
        if self.running:
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
        status = self.process.wait(30)
        # What is left in the group is dying: its port and files must be free when this returns.
        deadline = time.monotonic() + 10
        while _group_lives(self.process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        return status

    def _vars_file(self, values: Mapping[str, str]) -> Path:
        path = self._scratch / "vars"
        quotes = {name: "`" if "'" in value else "'" for name, value in values.items()}
        path.write_text("".join(f"{n}={quotes[n]}{v}{quotes[n]}\n" for n, v in values.items()))
        return path


def _collect(stream: IO[str], lines: list[str], ready: threading.Event) -> None:
    for line in stream:
        lines.append(line.rstrip("\n"))
        if line.startswith("ready "):
            ready.set()
    ready.set()


def _group_lives(group: int) -> bool:
    """Tell whether a process of the group still runs; one that waits to be reaped does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, its_group = stat.read_text().rsplit(")", 1)[1].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False
