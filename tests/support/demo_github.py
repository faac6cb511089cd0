"""The demo GitHub as a process on loopback, and an ``HttpClient`` that really speaks HTTP."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.agent.github import GitHub
from bot.ports import Fault, HttpReply, Settings

ROOT = Path(__file__).resolve().parent.parent.parent
NODE = ROOT / "node_modules" / ".bin" / "node"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class UrllibHttp:
    """``HttpClient`` over urllib: blocking, without redirects and proxies."""

    def __init__(self):
        self._opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        timeout_s: float = 20.0,
    ) -> HttpReply:
        data = None if body is None else body.encode()
        request = urllib.request.Request(url, data, dict(headers or {}), method=method)
        try:
            with self._opener.open(request, timeout=timeout_s) as reply:
                return _reply(reply)
        except urllib.error.HTTPError as error:
            with error:
                return _reply(error)
        except OSError as error:
            raise Fault(str(error)) from error


def _reply(reply: Any) -> HttpReply:
    headers = {name.lower(): value for name, value in reply.headers.items()}
    return HttpReply(reply.status, headers, reply.read().decode())


class DemoGithub:
    """A running ``dev/demo_github.mjs``; ends with ``stop`` or with this process."""

    def __init__(self, *options: str):
        node = str(NODE) if NODE.exists() else "node"
        self._process = subprocess.Popen(
            [node, str(ROOT / "dev" / "demo_github.mjs"), "--until-stdin-closes", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the demo GitHub ended with status {self._process.wait(10)}")
        self.url, self.token = (json.loads(line)[key] for key in ("url", "token"))

    def __enter__(self) -> DemoGithub:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def settings(self) -> Settings:
        return Settings(github_api_url=self.url, github_token=self.token)

    def client(self) -> GitHub:
        """The bot's client over real HTTP."""
        return GitHub.of(UrllibHttp(), self.settings)

    def fail(self, path_prefix: str, **failure: Any) -> None:
        """A failure to come: status, headers, body, times, method, delay_ms, drop, after."""
        self.control("POST", "fail", {"path_prefix": path_prefix, **failure})

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the start or the last reset, oldest first."""
        return json.loads(self.control("GET", "requests"))

    def reset(self) -> None:
        """The seed again, no failures, no log."""
        self.control("POST", "reset")

    def stop(self) -> int:
        """End it as its owner would, and return its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
        return self._end()

    def close_stdin(self) -> int:
        """End it by letting go of it, and return its exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._end()

    def _end(self) -> int:
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()

    def control(self, method: str, name: str, body: Any = None) -> bytes:
        """One of its controls under ``/__demo/``."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/__demo/{name}", data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as reply:
            return reply.read()
