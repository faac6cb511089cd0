from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.strictjson import MAX_DEPTH, deeper_than, loads

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@given(values, st.integers(0, 4))
def test_the_depth_is_the_texts_own_whatever_its_strings_hold(value: Any, levels: int) -> None:
    for ensure_ascii in (True, False):
        text = json.dumps(value, ensure_ascii=ensure_ascii)
        assert deeper_than(text, levels) == (depth_of(value) > levels)


@given(st.text(alphabet='[]{}",:\\ a1'), st.integers(0, 3))
def test_no_text_that_the_parser_would_follow_down_is_called_shallow(
    text: str, levels: int
) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        return
    assert deeper_than(text, levels) == (depth_of(value) > levels)


def test_the_deepest_text_is_read_and_one_deeper_is_not() -> None:
    loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match="nested"):
        loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 50_000, '["' + '\\"[' * 80_000])
def test_a_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the parser's own words
        loads(text)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', "NaN", "[Infinity]", '"\\ud800"', "", "{} {}"]
)
def test_what_two_readers_could_read_differently_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the parser's own words
        loads(text)


@given(values)
def test_everything_else_is_read_as_it_is(value: Any) -> None:
    assert loads(json.dumps(value)) == value


def test_counting_takes_linear_time() -> None:
    begun = time.perf_counter()
    deeper_than('[{"' * 100 + '\\"' * 250_000, 64)
    assert time.perf_counter() - begun < 2
