"""Fill python_modules/ with the packages that the Worker runs.

The list is [project].dependencies of pyproject.toml, transitive pins included. The wheels are the
ones for Pyodide's platform, taken from the ordinary package index: no special index, no build.
Nothing is done when the list and this script are what they were the last time.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "python_modules"
STAMP = ROOT / ".cache" / "vendor.stamp"

WHEELS = [
    "--only-binary=:all:",
    "--implementation=cp",
    "--python-version=3.14",
    "--platform=pyemscripten_2026_0_wasm32",
    "--platform=any",
    "--abi=cp314",
    "--abi=none",
]

# What a Worker never imports: tests, compiled files of another Python, and package metadata, which
# none of our packages reads at run time.
UNUSED = ["**/tests", "**/__pycache__", "*.dist-info", "bin", "**/*.pyi"]


def requirements() -> list[str]:
    """Return the pinned requirements of the Worker, as pyproject.toml lists them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return sorted(project["dependencies"])


def stamp(pins: list[str]) -> str:
    """Return a fingerprint of all that decides what python_modules/ holds."""
    script = Path(__file__).read_text()
    return hashlib.sha256("\n".join([*pins, script]).encode()).hexdigest()


def prune(folder: Path) -> None:
    """Delete what the Worker never imports, so that the bundle stays small."""
    for pattern in UNUSED:
        for path in list(folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def main() -> None:
    pins = requirements()
    wanted = stamp(pins)
    if TARGET.is_dir() and STAMP.is_file() and STAMP.read_text() == wanted:
        return
    fresh = ROOT / ".cache" / "vendor.new"
    shutil.rmtree(fresh, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-compile", "--target", str(fresh), *WHEELS, *pins], check=True)
    prune(fresh)
    shutil.rmtree(TARGET, ignore_errors=True)
    fresh.rename(TARGET)
    STAMP.write_text(wanted)
    print(f"vendored {len(pins)} packages into {TARGET.name}/")


if __name__ == "__main__":
    main()
