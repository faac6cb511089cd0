"""JSON from outside, read strictly and safely.

Python's parser recurses in C: under Pyodide a text of a few thousand open brackets does not
raise, it ends the interpreter. So the nesting is counted first, without recursion.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

MAX_DEPTH = 64
"""Levels of arrays and objects that a text from outside may have."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def loads(text: str, *, non_finite: bool = False) -> Any:
    """Read one JSON text. ``non_finite`` lets NaN and Infinity in, as floats.

    Raises ValueError for what is not JSON, nests deeper than ``MAX_DEPTH``, names a key twice
    in one object (two readers could take either), or holds NaN, Infinity or half a character.
    """
    if deeper_than(text, MAX_DEPTH):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    constants = float if non_finite else _no_constants
    data = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=constants)
    if not _whole(data):
        raise ValueError("half a character (a lone surrogate) stands in it")
    return data


def _whole(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def deeper_than(text: str, levels: int) -> bool:
    """Whether a text nests arrays and objects deeper than that; in linear time."""
    if text.count("[") + text.count("{") <= levels:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0][0]
        if sign in "[{":
            depth += 1
            if depth > levels:
                return True
        elif sign in "]}":
            depth -= 1
    return False


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key comes twice")
    return data


def _no_constants(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
