"""Worlds of the tests that run code of src/ under an entrypoint of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.runtime.server import ROOT, WORLDS

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
