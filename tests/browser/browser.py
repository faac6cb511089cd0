"""The tests' browser: Chromium out of an npm package, driven by Playwright."""

from __future__ import annotations

import ctypes.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Playwright

from tests.runtime.server import NODE, ROOT

HERE = Path(__file__).resolve().parent
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
)


def launch(playwright: Playwright) -> Browser:
    """Start the browser, headless. ``BROWSER_PATH`` names another one than the package's."""
    named = os.environ.get("BROWSER_PATH")
    if named:
        return playwright.chromium.launch(executable_path=named, args=FLAGS)
    folder = unpacked()
    env: dict[str, Any] = {**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")}
    if ctypes.util.find_library("nss3") is None:
        env["LD_LIBRARY_PATH"] = str(folder / "al2023" / "lib")
    return playwright.chromium.launch(executable_path=folder / "chromium", args=FLAGS, env=env)


def unpacked() -> Path:
    """The folder with the package's browser, unpacked once a version."""
    lock = json.loads((HERE / "package-lock.json").read_text())
    version = lock["packages"]["node_modules/@sparticuz/chromium"]["version"]
    folder = ROOT / ".cache" / f"chromium-{version}"
    if not (folder / "fonts.conf").exists():
        subprocess.run([NODE, HERE / "chromium.mjs", folder], check=True, cwd=HERE)
    return folder
