"""The pages hold no script, no style and no way to make markup that their own rules would stop."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "public").rglob("*.html"))
MODULES = sorted((ROOT / "web").rglob("*.js"))
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerously|\beval\b|new Function"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_names_its_scripts_and_styles_and_holds_none(page: Path) -> None:
    text = page.read_text()
    scripts = re.findall(r"<script[^>]*>([^<]*)</script>", text)
    sources = re.findall(r'<script[^>]* src="([^"]+)"', text)
    assert len(scripts) == len(sources) == 2
    assert scripts == ["", ""]
    assert all(source.startswith("/assets/") for source in sources)
    assert not re.search(r"<style| style=| on\w+=|https?:", text)


def test_no_module_makes_markup_out_of_a_text() -> None:
    assert MODULES
    made = [module.name for module in MODULES if MARKUP.search(module.read_text())]
    assert made == []


def test_no_module_names_another_host() -> None:
    named = re.compile(r"[\"'`(]https?://(?![`\"')])")
    assert [module.name for module in MODULES if named.search(module.read_text())] == []
