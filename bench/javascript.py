"""The floor: the same tick in plain JavaScript, in the same kind of workerd on this machine."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.runtime.server import NODE, ROOT

RUN = Path(__file__).resolve().parent / "floor" / "run.mjs"


class Floor:
    """A running floor."""

    def __init__(self, url: str) -> None:
        self._url = url

    def store(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._post("/rows", rows)

    def tick(self, now_ms: int) -> dict[str, Any]:
        return self._post(f"/tick?now={now_ms}")

    def quiet(self) -> None:
        """Wait until no run lives."""
        while self._post("/live")["n"]:
            time.sleep(0.05)

    def _post(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(self._url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


@contextmanager
def floor() -> Iterator[Floor]:
    process = subprocess.Popen(
        [str(NODE), str(RUN)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        ready, _, url = process.stdout.readline().strip().partition(" ")
        assert ready == "ready", "the floor did not start"
        yield Floor(url)
    finally:
        process.terminate()
        process.wait(30)
