"""Print what the tests' virtualenv needs: the Worker's packages and a development group."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())

GROUP = PROJECT["dependency-groups"][sys.argv[1] if len(sys.argv) > 1 else "dev"]

for requirement in [*PROJECT["project"]["dependencies"], *GROUP]:
    print(requirement)
