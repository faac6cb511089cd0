"""No pattern that reads text from outside takes time that grows with the square of the text.

A matcher that backtracks does so where two repeats in a row can share out the same characters in
many ways and what follows them fails. Each pattern of ``src`` is taken apart and looked at for
that. One that is searched for begins anywhere, which is a repeat before it.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from bot.channels import markdown

SRC = Path(__file__).resolve().parents[2] / "src"
ALPHABET = frozenset([*map(chr, range(128)), "é", "\u2028", "\u200b", "\u3000", "٥", "＠"])
SEARCHING = {"search", "sub", "subn", "finditer", "findall", "split"}
LONG = 50
"""Repeats that end before this are over soon."""


@dataclass(frozen=True)
class Char:
    """One character of a set, which has to be there."""

    of: frozenset[str]


@dataclass(frozen=True)
class Many:
    """Characters of a set, as many as there are."""

    of: frozenset[str]


END = "the end of the text"
MAY_FAIL = "a look around"


def chars(op: str, value: Any, flags: int) -> frozenset[str] | None:
    """The set of a node that takes one character; None for other nodes."""
    if op == "ANY":
        return ALPHABET if flags & re.DOTALL else ALPHABET - {"\n"}
    if op == "NOT_LITERAL":
        return ALPHABET - {chr(value)}
    if op == "IN":
        negated = str(value[0][0]) == "NEGATE"
        found = frozenset(c for c in ALPHABET for each in value if _is_in(c, each, flags))
        return ALPHABET - found if negated else found
    return frozenset(c for c in ALPHABET if _same(c, value, flags)) if op == "LITERAL" else None


def _same(char: str, code: int, flags: int) -> bool:
    return char == chr(code) or bool(flags & re.I and char.lower() == chr(code).lower())


def _is_in(char: str, node: Any, flags: int) -> bool:
    op, value = str(node[0]), node[1]
    if op == "LITERAL":
        return _same(char, value, flags)
    if op == "RANGE":
        cases = {char, char.lower(), char.upper()} if flags & re.I else {char}
        return any(len(c) == 1 and value[0] <= ord(c) <= value[1] for c in cases)
    if op == "CATEGORY":
        letter = {"SPACE": "s", "WORD": "w", "DIGIT": "d"}[str(value).rpartition("_")[2]]
        pattern = f"\\{letter.upper() if '_NOT_' in str(value) else letter}"
        return re.match(pattern, char, flags & re.ASCII) is not None
    return False


def ways(nodes: Sequence[Any], flags: int) -> list[list[Any]]:
    """The ways through a pattern, each a row of ``Char``, ``Many`` and what may fail."""
    rows: list[list[Any]] = [[]]
    for node in nodes:
        op, value = str(node[0]), node[1]
        one = chars(op, value, flags)
        if one is not None:
            steps = [[Char(one)]]
        elif op == "SUBPATTERN":
            steps = ways(value[3], flags)
        elif op == "BRANCH":
            steps = [row for each in value[1] for row in ways(each, flags)]
        elif op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            steps = _repeated(value, flags)
        elif op == "AT":
            steps = [[_anchor(str(value), flags)]]
        else:
            steps = [[MAY_FAIL]]
        rows = [[*row, *step] for row in rows for step in steps]
        assert len(rows) < 5_000
    return rows


def _repeated(repeat: tuple[int, Any, Any], flags: int) -> list[list[Any]]:
    low, high, inner = repeat
    body = ways(inner, flags)
    if high == 0:
        return [[]]
    if high != parser.MAXREPEAT and high < LONG:
        return [*body, []] if low == 0 else body
    if all(len(row) == 1 and isinstance(row[0], Char) for row in body):
        many = Many(frozenset().union(*(row[0].of for row in body)))
        return [[Char(many.of), many]] if low else [[many]]
    # A repeat of several things: one after another shows what they share.
    twice = [[*first, *second] for first in body for second in body]
    return twice if low else [*twice, []]


def _anchor(at: str, flags: int) -> Any:
    if at in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
        inside = at == "AT_BEGINNING" and flags & re.MULTILINE
        return Char(frozenset("\n")) if inside else Char(frozenset())
    return END if at == "AT_END_STRING" else MAY_FAIL


def shared(row: Sequence[Any]) -> bool:
    """Whether two repeats of a row can share characters, and what follows may fail."""
    for start, first in enumerate(row):
        if not isinstance(first, Many):
            continue
        between: list[frozenset[str]] = []
        for at, step in enumerate(row[start + 1 :], start + 1):
            if isinstance(step, Char):
                between.append(step.of)
            if isinstance(step, Many):
                both = first.of & step.of
                if both and all(both & each for each in between) and _may_fail(row[at + 1 :], step):
                    return True
    return False


def _may_fail(rest: Sequence[Any], after: Many) -> bool:
    return any(
        isinstance(step, Char) or step == MAY_FAIL or (step == END and after.of != ALPHABET)
        for step in rest
    )


def is_slow(pattern: str, flags: int = 0, *, searched: bool = True, whole: bool = False) -> bool:
    """Whether a pattern can take quadratic time; ``whole``: it must match up to the end."""
    compiled = re.compile(pattern, flags)
    before = [Many(ALPHABET)] if searched else []
    after = [END] if whole else []
    rows = ways(list(parser.parse(pattern, compiled.flags)), compiled.flags)
    return any(shared([*before, *row, *after]) for row in rows if not _has_way_out(row, rows))


def _has_way_out(row: Sequence[Any], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a row that fails goes on as another one, which takes all that is left."""
    outs = [[*row[: at + 1], END] for at, step in enumerate(row) if step == Many(ALPHABET)]
    return any(out in rows for out in outs)


@pytest.mark.parametrize(
    ("pattern", "slow"),
    [
        (r"^#{1,6}[ \t]+([^\n]*\S)", True),  # as headings were once read
        (r"^#{1,6}[ \t]+(\S[^\n]*)", False),
        (r"(a|ab)*(a|b)*c", True),
        (r"a+a+b", True),
        (r"a+.a+b", True),
        (r"a+ba+c", True),  # the search begins anew at each a
        (r"\s*end", True),
        (r"\A\s*end", False),
        (r"\[([^\]]*)\]", True),  # and so at each bracket
        (r"\[([^\[\]]*)\]", False),
        (r"(\w+\s?)*!", True),
        (r"a*", False),
        (r"(?s)a.*\Z", False),
        (r"(?s)a.*?(?:b|\Z)", False),
        (r"(?s)a.*b(?:c.*)?\Z", True),
    ],
)
def test_what_is_slow_is_told_from_what_is_not(pattern: str, slow: bool) -> None:
    assert is_slow(pattern, re.MULTILINE) is slow


BOUNDED = {
    "bot.dispatch.handback._WRITTEN": "reads what the bot wrote, which matches at its first fence",
}
"""Slow patterns, and why no text from outside makes them so."""


def patterns() -> Iterator[Any]:
    """Every compiled pattern of the modules' own, and how it is used."""
    for file in sorted(SRC.rglob("*.py")):
        source = file.read_text()
        name = ".".join(file.relative_to(SRC).with_suffix("").parts)
        if "re.compile(" not in source:
            continue
        module = importlib.import_module(name.removesuffix(".__init__"))
        used: dict[str, set[str]] = {}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.setdefault(node.value.id, set()).add(node.attr)
        for known, value in vars(module).items():
            own = f"\n{known} = re.compile(" in source and f"{name}.{known}" not in BOUNDED
            if isinstance(value, re.Pattern) and own:
                uses = used.get(known, {"search"})
                yield pytest.param(value, uses, id=f"{name}.{known}")


@pytest.mark.parametrize(("pattern", "uses"), list(patterns()))
def test_no_pattern_is_slow(pattern: re.Pattern[str], uses: set[str]) -> None:
    searched = bool(uses & SEARCHING)
    whole = "fullmatch" in uses
    assert not is_slow(pattern.pattern, pattern.flags, searched=searched, whole=whole)


def test_a_line_of_blanks_after_a_hash_is_no_heading() -> None:
    text = "a\n#" + " " * 20_000 + "\nb"
    assert [span.text for span in markdown.read(text)] == [text]
    assert [span.style for span in markdown.read("# one \t \n## two")] == ["bold", "plain", "bold"]
