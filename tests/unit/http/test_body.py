from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.body import StrictBody, read_body
from bot.http.values import MAX_BODY
from bot.words import Code, Refused


class Order(StrictBody):
    name: str
    count: int = 1
    tags: list[str] | None = None
    changes: dict[str, Any] | None = None


class Nothing(StrictBody):
    pass


def refusal(raw: bytes, model: type[StrictBody] = Order) -> Refused:
    read = read_body(model, raw)
    assert isinstance(read, Refused), read
    return read


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"nonsense",
        b"{'name': 'x'}",
        b'{"name": NaN}',
        b'{"name": "x", "count": Infinity}',
        b'{"name": "x"} {}',
        b'\xff\xfe{"name": "x"}',
        '{"name": "x"}'.encode("utf-16"),
        b'{"name": "a", "name": "b"}',
        b'{"name": "x", "changes": {"a": {"b": 1, "b": 2}}}',
        b'{"name": "x", "changes": {"a": "\\ud800"}}',
        b'{"name": "x", "count": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 40_000,
    ],
)
def test_what_is_not_json_is_malformed(raw: bytes) -> None:
    found = refusal(raw)
    assert found.code is Code.BAD_REQUEST
    assert found.detail == "The body is not JSON."


@pytest.mark.parametrize("raw", [b"[]", b"null", b"1", b'"name"', b"true"])
def test_json_that_is_no_object_is_malformed(raw: bytes) -> None:
    assert refusal(raw) == Refused(Code.BAD_REQUEST, "The body is JSON, but not an object.")


@given(st.binary(max_size=200))
def test_no_body_raises(raw: bytes) -> None:
    assert isinstance(read_body(Order, raw), (Order, Refused))


def test_a_body_over_its_limit_is_too_large_and_one_at_it_is_not() -> None:
    def padded(size: int) -> bytes:
        return b'{"name":"' + b"x" * (size - 11) + b'"}'

    assert len(padded(MAX_BODY)) == 256 * 1024
    assert isinstance(read_body(Order, padded(MAX_BODY)), Order)
    assert refusal(padded(MAX_BODY + 1)).code is Code.TOO_LARGE


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"{}", "name is missing"),
        (b"", "name is missing"),
        (b'{"name": 1}', "name: input should be a valid string"),
        (b'{"name": null}', "name: input should be a valid string"),
        (b'{"name": "x", "count": "2"}', "count: input should be a valid integer"),
        (b'{"name": "x", "count": true}', "count: input should be a valid integer"),
        (b'{"name": "x", "count": 1.5}', "count: input should be a valid integer"),
        (b'{"name": "x", "tags": "y"}', "tags: input should be a valid list"),
        (b'{"name": "x", "tags": ["y", 2]}', "tags.1: input should be a valid string"),
        (b'{"name": "x", "changes": []}', "changes: input should be a valid dictionary"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_wrong(raw: bytes, named: str) -> None:
    found = refusal(raw)
    assert found.code is Code.BAD_REQUEST
    assert named in found.detail
    assert "\n" not in found.detail


def test_unknown_fields_are_named_and_so_are_the_known_ones() -> None:
    detail = refusal(b'{"name": "x", "nmae": 1, "Name": 2}').detail
    assert "'nmae'" in detail
    assert "'Name'" in detail
    assert "name, count, tags, changes" in detail


def test_a_body_that_takes_nothing_says_so() -> None:
    assert "takes no fields" in refusal(b'{"a": 1}', Nothing).detail
    assert read_body(Nothing, b" \n") == Nothing()


def test_many_problems_are_counted_and_a_long_name_is_cut() -> None:
    fields = ", ".join(f'"{"x" * 5000}{n}": 1' for n in range(9))
    detail = refusal(f'{{"name": "x", {fields}}}'.encode()).detail
    assert "and 4 more" in detail
    assert len(detail) < 1000
