from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.values import Request, int_query, json_response, read_query, read_request
from bot.words import Code, Refused

text = st.text(st.characters(exclude_categories=("Cs", "Cc")))


@given(st.dictionaries(text.filter(bool), text))
def test_a_query_reads_back_what_was_encoded(query: dict[str, str]) -> None:
    assert read_query(urlencode(query)) == query


@pytest.mark.parametrize(
    "raw", ["a=%", "a=%zz", "a=%C3%28", "%ff=1", "a=%00", "a=%0a", "a=%ED%A0%80"]
)
def test_a_query_that_cannot_be_decoded_is_malformed(raw: str) -> None:
    refusal = read_query(raw)
    assert isinstance(refusal, Refused)
    assert refusal.code is Code.BAD_REQUEST


@pytest.mark.parametrize("raw", ["a=1&a=2", "a=1&%61=2", "a&a"])
def test_a_repeated_key_is_malformed_however_it_is_spelt(raw: str) -> None:
    refusal = read_query(raw)
    assert isinstance(refusal, Refused)
    assert "more than once" in refusal.detail


def test_a_query_keeps_plus_signs_that_were_encoded() -> None:
    assert read_query("from=2026-01-01T00%3A00%2B02%3A00&cron=0+3+*+*+*&empty=") == {
        "from": "2026-01-01T00:00+02:00",
        "cron": "0 3 * * *",
        "empty": "",
    }


def test_a_request_has_lower_case_header_names_and_a_host() -> None:
    request = read_request("get", "http://127.0.0.1:8787/a%2Fb?x=1", [("X-Key", "K")], b"")
    assert isinstance(request, Request)
    assert (request.method, request.path, request.scheme) == ("GET", "/a%2Fb", "http")
    assert request.host == "127.0.0.1:8787"
    assert request.headers["x-key"] == "K"


@pytest.mark.parametrize("value", ["0", "51", "-1", "1.5", "", "ten", "１０", "9" * 30])
def test_a_number_out_of_its_range_is_refused(value: str) -> None:
    request = Request("GET", "/", {"n": value})
    refusal = int_query(request, "n", default=3, low=1, high=50)
    assert isinstance(refusal, Refused)
    assert refusal.code is Code.BAD_VALUE


def test_a_number_within_its_range_is_taken_and_a_missing_one_is_the_default() -> None:
    assert int_query(Request("GET", "/", {"n": "50"}), "n", default=3, low=1, high=50) == 50
    assert int_query(Request("GET", "/"), "n", default=3, low=1, high=50) == 3


def test_json_leaves_as_utf_8() -> None:
    response = json_response({"text": "né ✅"}, 201, {"etag": '"1"'})
    assert response.status == 201
    assert response.body.decode() == '{"text":"né ✅"}'
    assert response.headers["content-type"].startswith("application/json")
    assert response.headers["etag"] == '"1"'
