"""Writes the one table of texts (``bot.words``) to ``web/generated/texts.js`` for the pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from bot.words import STATE_TEXTS, TEXTS  # noqa: E402


def module() -> str:
    """The module's source: states and codes with their sentences."""
    tables = {"STATES": STATE_TEXTS, "CODES": {code: text.title for code, text in TEXTS.items()}}
    return "".join(
        f"export const {name} = {json.dumps(table, indent=2, ensure_ascii=False)};\n"
        for name, table in tables.items()
    )


if __name__ == "__main__":
    target = ROOT / "web" / "generated" / "texts.js"
    target.parent.mkdir(exist_ok=True)
    target.write_text(module(), encoding="utf-8")
