"""The protocol's messages and answers, as bytes of an HTTP body would carry them."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.mcp_wire import (
    Trouble,
    base_headers,
    events,
    header_value,
    mirror,
    mirrored,
    result_of,
    session_id,
    stateless_headers,
    stateless_params,
)
from bot.ports import HttpReply

JSON = {"content-type": "application/json; charset=utf-8"}
SSE = {"content-type": "text/event-stream"}


def answer(body: Any, status: int = 200, headers: dict[str, str] = JSON) -> HttpReply:
    return HttpReply(status, headers, body if isinstance(body, str) else json.dumps(body))


def response(number: int = 7, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, **more}


class TestResults:
    def test_json(self):
        assert result_of(answer(response(result={"tools": []})), 7) == {"tools": []}

    def test_a_batch(self):
        batch = [response(6, result={"no": 1}), response(result={"yes": 1})]
        assert result_of(answer(batch), 7) == {"yes": 1}

    def test_events_between_which_others_stand(self):
        stream = (
            ": ping\n\nid: 1\ndata:\n\n"
            'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
            'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n'
            'event: message\r\ndata: {"jsonrpc":"2.0","id":7,\r\ndata: "result":{"a":1}}\r\n\r\n'
        )
        assert result_of(answer(stream, headers=SSE), 7) == {"a": 1}

    def test_a_last_event_that_is_not_ended_counts(self):
        stream = 'data: {"jsonrpc":"2.0","id":7,"result":{}}'
        assert result_of(answer(stream, headers=SSE), 7) == {}

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "<html>",
            "[]",
            "null",
            "[" * 5000,
            response(8, result={}),
            response(result=[]),
            response(result=None),
            response("7", result={}),  # type: ignore[arg-type]
            '{"id": 7, "id": 7, "result": {}}',
        ],
    )
    def test_anything_else_is_trouble(self, body: Any):
        assert isinstance(result_of(answer(body), 7), Trouble)

    def test_an_error_says_why_in_one_line(self):
        error = {"code": -32602, "message": "Unknown\ntool: \x1b[31mx"}
        trouble = result_of(answer(response(error=error)), 7)
        assert isinstance(trouble, Trouble)
        assert trouble.code == -32602
        assert trouble.said == "Unknown tool: [31mx"
        assert "Unknown" not in trouble.why

    @pytest.mark.parametrize(
        ("status", "word"), [(401, "secret"), (302, "moved"), (429, "often"), (500, "500")]
    )
    def test_a_status_says_why(self, status: int, word: str):
        trouble = result_of(answer("", status), 7)
        assert isinstance(trouble, Trouble)
        assert word in trouble.why

    def test_a_question_in_the_middle_is_trouble(self):
        assert isinstance(
            result_of(answer(response(result={"resultType": "input_required"})), 7), Trouble
        )


class TestEras:
    @pytest.mark.parametrize(
        ("error", "stateless"),
        [
            ({"code": -32022, "data": {"supported": ["2026-07-28"]}}, True),
            ({"code": -32022, "data": {"supported": ["2027-01-01"]}}, False),
            ({"code": -32602, "data": {"supported": ["2024-11-05"]}}, False),
            ({"code": -32020}, True),
            ({"code": -32601}, True),
            ({"code": -32602}, False),
            ({"code": "x", "data": {"supported": "2026-07-28"}}, False),
        ],
    )
    def test_a_refused_handshake_tells_the_era(self, error: Any, stateless: bool):
        trouble = result_of(answer(response(error={"message": "no", **error}), 400), 7)
        assert isinstance(trouble, Trouble)
        assert trouble.wants_stateless is stateless

    def test_an_error_without_an_id_counts_where_the_status_says_so(self):
        error = {"jsonrpc": "2.0", "error": {"code": -32020, "message": "x"}}
        trouble = result_of(answer(error, 400), 7)
        assert isinstance(trouble, Trouble) and trouble.wants_stateless

    def test_a_request_without_a_session_says_everything_itself(self):
        params = stateless_params({"name": "echo", "arguments": {}})
        meta = params["_meta"]
        headers = stateless_headers("tools/call", params)
        assert headers == {
            "mcp-protocol-version": meta["io.modelcontextprotocol/protocolVersion"],
            "mcp-method": "tools/call",
            "mcp-name": "echo",
        }


class TestHeaders:
    @pytest.mark.parametrize(
        ("value", "header"),
        [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", "=?base64??="),
            (42, "42"),
            (True, "true"),
        ],
    )
    def test_values_as_the_specification_writes_them(self, value: Any, header: str):
        assert header_value(value) == header

    @given(st.text(st.characters(codec="utf-8"), max_size=30))
    @settings(deadline=None)
    def test_no_value_breaks_out_of_its_header(self, value: str):
        header = header_value(value)
        assert header.isascii() and header.isprintable() and header == header.strip()
        if header != value:
            coded = header.removeprefix("=?base64?").removesuffix("?=")
            assert base64.b64decode(coded).decode() == value

    def test_a_secret_is_a_bearer(self):
        assert base_headers("s")["authorization"] == "Bearer s"
        assert "authorization" not in base_headers(None)

    def test_arguments_are_repeated_where_the_schema_says_so(self):
        inner = {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "Deep"}}}
        schema = {"properties": {"a": {"type": "string", "x-mcp-header": "Region"}, "o": inner}}
        headers = mirrored(schema)
        assert headers == {"mcp-param-region": ("a",), "mcp-param-deep": ("o", "b")}
        assert mirror(headers, {"a": "eu", "o": {"b": 3}}) == {
            "mcp-param-region": "eu",
            "mcp-param-deep": "3",
        }
        assert mirror(headers, {"a": None, "o": 5}) == {}

    @pytest.mark.parametrize(
        "schema",
        [
            {"x-mcp-header": "Root"},
            {"properties": {"a": {"type": "number", "x-mcp-header": "N"}}},
            {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
            {"properties": {"a": {"type": "string", "x-mcp-header": "a\r\nb"}}},
            {"properties": {"a": {"type": "string", "x-mcp-header": 5}}},
            {"properties": {n: {"type": "string", "x-mcp-header": n} for n in ("A", "a")}},
            {"items": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}},
            {"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]},
        ],
    )
    def test_a_schema_that_says_so_wrongly_is_refused(self, schema: Any):
        assert mirrored(schema) is None


@pytest.mark.parametrize(
    ("given", "taken"), [("abc-1", "abc-1"), ("", None), ("a b", None), ("ü", None)]
)
def test_a_session_id_is_visible_ascii(given: str, taken: str | None):
    assert session_id(HttpReply(200, {"mcp-session-id": given}, "")) == taken


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)))
@settings(deadline=None)
def test_events_are_read_back(lines: list[str]):
    wanted = [line for line in lines if line]
    for end in ("\n", "\r\n", "\r"):
        stream = "".join(f"data: {line}{end}{end}" for line in wanted)
        assert list(events(stream)) == wanted
