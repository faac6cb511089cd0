"""Worlds of the tests that run code of src/ under an entrypoint of their own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runtime.server import ROOT, WORLDS, Server

PACKAGES = ("bot", "config_do", "schedule_do")


def build_world(name: str, folder: Path) -> Path:
    """Lay `worlds/NAME` out in `folder`, with the project's packages beside its entry module."""
    root = folder / name
    shutil.copytree(WORLDS / name, root)
    for package in PACKAGES:
        shutil.copytree(
            ROOT / "src" / package,
            root / "src" / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return root


def until(truth: Callable[[], Any], seconds: float = 30) -> Any:
    """What `truth` answers as soon as it is true. Fails when that takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not (answer := truth()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)
    return answer


class FaultThereError(Exception):
    """A port of the world raised a Fault, with these words."""


class ObjectsWorld:
    """The world `objects`: runs one of its functions, and opens the objects' HTTP door."""

    def __init__(self, server: Server):
        self.server = server

    def do(self, name: str, *args: Any) -> Any:
        answer = self.server.post("/do", [name, args])
        assert answer.status == 200, answer.text
        told = answer.json()
        if "fault" in told:
            raise FaultThereError(told["fault"])
        return told["value"]

    def door(self, binding: str, name: str) -> HttpObject:
        return HttpObject(self.server, binding, name)


class HttpObject:
    """A namespace of one object, reached over HTTP through its `fetch`."""

    def __init__(self, server: Server, binding: str, name: str):
        self._server = server
        self.path = f"/object/{binding}/{name}"

    def getByName(self, name: str) -> HttpObject:  # noqa: N802
        return self

    async def handle(self, method: str, path: str, body: str | None) -> str:
        answer = self._server.request(method, self.path + path, data=body)
        return f'{{"status":{answer.status},"body":{answer.text or "null"}}}'
