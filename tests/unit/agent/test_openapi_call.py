"""Calling a skill's operations: the request that arguments make, and what comes back."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.openapi import Operation, Skill, read_document, stored
from bot.agent.openapi_call import Request, fetch_skill, request_of, tools_of
from bot.ports import Fault, HttpReply
from bot.words import Code, Refused
from tests.support.demo_github import UrllibHttp
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.openapi_server import OpenApiServer
from tests.unit.agent.owner import Owner

URL = "https://todo.example.com/openapi.json"


def operation(path: str = "/x", method: str = "get", **said: Any) -> Operation:
    document = {"openapi": "3.1.0", "paths": {path: {method: said}}}
    made = read_document(json.dumps(document), URL, writes=True, private_ok=False)
    assert isinstance(made, Skill), made
    return made.operations[0]


def parameter(name: str = "a", place: str = "query", kind: Any = None, **more: Any) -> Any:
    return {"name": name, "in": place, "schema": kind or {}, **more}


def request(made: Operation, **args: Any) -> Request:
    answer = request_of(made, args)
    assert isinstance(answer, Request), answer
    return answer


def url(made: Operation, **args: Any) -> str:
    return request(made, **args).url.removeprefix("https://todo.example.com")


def refused(made: Operation, **args: Any) -> str:
    answer = request_of(made, args)
    assert isinstance(answer, Refused) and answer.code is Code.BAD_VALUE
    return answer.detail


class TestRequests:
    def test_a_path_carries_its_values_escaped(self):
        made = operation(
            "/a/{x}/b.{y}", parameters=[parameter("x", "path"), parameter("y", "path")]
        )
        assert url(made, x="ä/b ?#", y="json") == "/a/%C3%A4%2Fb%20%3F%23/b.json"
        assert url(made, x=5, y=True) == "/a/5/b.true"
        assert url(made, x=["1", "2"], y="a") == "/a/1,2/b.a"

    @pytest.mark.parametrize("value", ["..", ".", "", None, {"a": [1]}, [["x"]]])
    def test_no_value_climbs_out_of_its_path(self, value: Any):
        made = operation("/a/{x}/b", parameters=[parameter("x", "path")])
        assert "argument" in refused(made, x=value)

    def test_values_that_make_a_dot_segment_together_are_refused(self):
        made = operation("/a/{x}{y}/b", parameters=[parameter("x", "path"), parameter("y", "path")])
        assert refused(made, x=".", y=".")

    @given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
    @settings(deadline=None)
    def test_every_value_stays_one_segment(self, value: str):
        made = operation("/a/{x}/b", parameters=[parameter("x", "path")])
        answer = request_of(made, {"x": value})
        if isinstance(answer, Request):
            parts = urlsplit(answer.url)
            assert parts.netloc == "todo.example.com"
            assert len(parts.path.split("/")) == 4
            assert (parts.query, parts.fragment) == ("", "")

    @pytest.mark.parametrize(
        ("more", "value", "query"),
        [
            ({}, "x y&z=1", [("a", "x y&z=1")]),
            ({}, False, [("a", "false")]),
            ({}, 1.5, [("a", "1.5")]),
            ({}, ["x", 2], [("a", "x"), ("a", "2")]),
            ({}, [], []),
            ({"explode": False}, ["x", "y"], [("a", "x,y")]),
            ({}, {"k": "v", "l": 1}, [("k", "v"), ("l", "1")]),
            ({"explode": False}, {"k": "v"}, [("a", "k,v")]),
            ({"style": "deepObject"}, {"k": "v"}, [("a[k]", "v")]),
            ({"content": {"application/json": {}}}, {"k": [1]}, [("a", '{"k": [1]}')]),
        ],
    )
    def test_a_query_is_written_as_the_document_says(self, more: Any, value: Any, query: Any):
        made = operation(parameters=[parameter(**more)])
        assert parse_qsl(urlsplit(request(made, a=value).url).query) == query

    def test_an_argument_goes_by_its_own_name(self):
        made = operation(parameters=[parameter("filter[a b]")])
        assert url(made, filter_a_b_="1") == "/x?filter%5Ba%20b%5D=1"

    def test_a_header_carries_its_value(self):
        made = operation(parameters=[parameter("X-Color", "header")])
        assert request(made, **{"X-Color": "deep blue"}).headers["x-color"] == "deep blue"

    @pytest.mark.parametrize("value", ["a\r\nb: c", "", " x", "ü", "\x00", {"a": 1}])
    def test_no_value_breaks_out_of_its_header(self, value: Any):
        made = operation(parameters=[parameter("X-Color", "header")])
        assert refused(made, **{"X-Color": value})

    def test_a_body_is_json_of_the_documents_kind(self):
        content = {"application/merge-patch+json": {"schema": {"type": "object"}}}
        made = operation(method="patch", requestBody={"content": content})
        sent = request(made, body={"text": "ü"})
        assert json.loads(sent.body or "") == {"text": "ü"}
        assert sent.headers["content-type"] == "application/merge-patch+json"
        assert request(made).body is None

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            ({}, "missing"),
            ({"a": "x", "b": "y"}, "no argument 'b'"),
            ({"a": "\ud800"}, "half a character"),
        ],
    )
    def test_what_is_wrong_with_arguments_is_said(self, args: Any, said: str):
        assert said in refused(operation(parameters=[parameter(required=True)]), **args)

    def test_a_body_that_is_missing_or_long_is_refused(self):
        body = {"required": True, "content": {"application/json": {}}}
        made = operation(method="post", requestBody=body)
        assert "missing" in refused(made)
        assert "long" in refused(made, body="x" * 100_001)


def added(house: TestHouse, made: Skill, *, writes: bool, name: str = "todos") -> Owner:
    house.db.sql(
        "INSERT INTO skills (owner, name, url, writes, created_at, operations)"
        " VALUES ('web:alice', ?, ?, ?, 0, ?)",
        name,
        URL,
        int(writes),
        stored(made.operations),
    )
    return Owner(house)


@pytest.fixture
def server() -> Iterator[OpenApiServer]:
    with OpenApiServer() as made:
        yield made


@pytest.fixture
def house() -> TestHouse:
    return make_house(http=UrllibHttp(), settings={"allow_private_addresses": True})


def fetched(house: TestHouse, address: str, *, writes: bool = True) -> Skill | Refused:
    return run(fetch_skill(house, address, writes=writes))


def owner(house: TestHouse, server: OpenApiServer, *, writes: bool) -> Owner:
    made = fetched(house, server.document_url, writes=writes)
    assert isinstance(made, Skill)
    return added(house, made, writes=writes)


class TestOverHttp:
    def test_reading(self, house: TestHouse, server: OpenApiServer):
        alice = owner(house, server, writes=False)
        result = alice.call("todos__getTodo", id="1")
        assert (json.loads(result.text), result.ok, result.untrusted) == (
            {"text": "water the plants"},
            True,
            True,
        )
        assert json.loads(alice.ok("todos__listTodos", done=True, tag=["a", "b"]))["query"] == [
            ["done", "true"],
            ["tag", "a"],
            ["tag", "b"],
        ]

    def test_nothing_that_writes_is_offered_unless_it_was_allowed(
        self, house: TestHouse, server: OpenApiServer
    ):
        names = {name for name in owner(house, server, writes=False).tools() if "__" in name}
        assert names == {f"todos__{each}" for each in ("listTodos", "getTodo", "moved", "long")}

    def test_a_row_that_was_tampered_with_offers_no_writes_either(
        self, house: TestHouse, server: OpenApiServer
    ):
        made = fetched(house, server.document_url, writes=True)
        assert isinstance(made, Skill)
        assert "todos__addTodo" not in added(house, made, writes=False).tools()

    def test_a_write_is_made_once_and_marked(self, house: TestHouse, server: OpenApiServer):
        alice = owner(house, server, writes=True)
        first = alice.call("todos__addTodo", key="k", body={"text": "buy tea"})
        assert alice.call("todos__addTodo", key="k", body={"text": "buy tea"}) == first
        assert json.loads(first.text) == {"id": "2"}
        posts = [each for each in server.asked if each.method == "POST"]
        assert [each.headers["idempotency-key"] for each in posts] == ["k"]

    def test_an_empty_answer_says_so(self, house: TestHouse, server: OpenApiServer):
        assert (
            owner(house, server, writes=True).ok("todos__deleteTodo", id="1") == "(an empty answer)"
        )

    def test_an_error_is_one(self, house: TestHouse, server: OpenApiServer):
        result = owner(house, server, writes=False).call("todos__getTodo", id="nine")
        assert not result.ok and result.untrusted
        assert result.text.startswith("Status 404.\n")

    def test_a_redirect_is_not_followed(self, house: TestHouse, server: OpenApiServer):
        assert "not followed" in owner(house, server, writes=False).no("todos__moved")
        assert server.calls() == [("GET", "/v1/moved")]

    def test_a_long_answer_is_cut(self, house: TestHouse, server: OpenApiServer):
        assert "30,000 more" in owner(house, server, writes=False).ok("todos__long")

    def test_a_server_that_went_down_says_so(self, house: TestHouse, server: OpenApiServer):
        alice = owner(house, server, writes=False)
        tool = alice.tools()["todos__getTodo"]
        server.close()
        assert "did not answer" in alice.no(tool, id="1")

    def test_the_address_is_judged_again_before_each_call(self, server: OpenApiServer):
        local = make_house(http=UrllibHttp(), settings={"allow_private_addresses": True})
        made = fetched(local, server.document_url)
        assert isinstance(made, Skill)
        strict = make_house(http=UrllibHttp())
        assert (
            added(strict, made, writes=False).no("todos__getTodo", id="1").startswith(Code.BAD_URL)
        )
        assert server.calls() == []


class TestFetching:
    def test_asks_once_and_for_json(self, house: TestHouse, server: OpenApiServer):
        assert isinstance(fetched(house, server.document_url), Skill)
        (asked,) = server.asked
        assert (asked.method, asked.headers["accept"]) == ("GET", "application/json")
        assert "authorization" not in asked.headers

    @pytest.mark.parametrize(
        ("reply", "code"),
        [
            (Fault("down"), Code.NO_ANSWER),
            (HttpReply(404, {}, ""), Code.NO_ANSWER),
            (HttpReply(500, {}, ""), Code.NO_ANSWER),
            (HttpReply(301, {"location": "https://10.0.0.1/doc.json"}, ""), Code.BAD_DOCUMENT),
            (HttpReply(200, {}, "<html>"), Code.BAD_DOCUMENT),
        ],
    )
    def test_what_does_not_come_is_said(self, reply: HttpReply | Fault, code: Code):
        house = make_house()
        house.http.replies.append(reply)
        answer = fetched(house, URL)
        assert isinstance(answer, Refused) and answer.code is code
        assert len(house.http.sent) == 1


def test_an_image_is_named_and_not_shown():
    house = make_house()
    house.http.reply("\ufffdPNG", headers={"content-type": "image/png"})
    (tool,) = tools_of("pics", (operation(operationId="get"),), writes=False, taken=set())
    assert Owner(house).ok(tool) == "(image/png, not shown)"
