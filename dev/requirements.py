"""Print what the tests' virtualenv needs: the Worker's packages and the development ones."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())

for requirement in [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]:
    print(requirement)
