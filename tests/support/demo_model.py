"""A running ``dev/demo_model.mjs``, for tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NODE = ROOT / "node_modules" / ".bin" / "node"


class DemoModel:
    """The demo model in a process of its own; ends with ``stop`` or with this process."""

    def __init__(self, *options: str):
        node = str(NODE) if NODE.exists() else "node"
        self._process = subprocess.Popen(
            [node, str(ROOT / "dev" / "demo_model.mjs"), "--until-stdin-closes", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the demo model ended with status {self._process.wait(10)}")
        told = json.loads(line)
        self.url, self.token, self.model = told["url"], told["token"], told["model"]

    def __enter__(self) -> DemoModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> int:
        """End it as its owner would, and return its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            return self._process.wait(10)
        finally:
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
