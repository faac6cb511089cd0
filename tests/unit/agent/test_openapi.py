"""Reading an OpenAPI document into operations: what is kept, what is left out, what is refused."""

import json
from copy import deepcopy
from typing import Any

import pytest

from bot.agent.openapi import (
    MAX_DOCUMENT_BYTES,
    MAX_OPERATIONS,
    MAX_STORED,
    OPERATIONS,
    Operation,
    Skill,
    read_document,
    stored,
)
from bot.words import Code, Refused
from tests.support.openapi_server import DOCUMENT

URL = "https://todo.example.com/api/openapi.json"


def read(
    document: Any = DOCUMENT, *, url: str = URL, writes: bool = True, private_ok: bool = False
) -> Skill | Refused:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_document(text, url, writes=writes, private_ok=private_ok)


def skill(document: Any = DOCUMENT, **options: Any) -> Skill:
    made = read(document, **options)
    assert isinstance(made, Skill), made
    return made


def with_operation(operation: Any, *, path: str = "/x", method: str = "get", **more: Any) -> Any:
    """A document of this one operation."""
    return {"openapi": "3.0.3", "paths": {path: {method: operation}}, **more}


def one(operation: Any, **options: Any) -> Operation:
    """The only operation of a document."""
    return skill(with_operation(operation, **options)).operations[0]


def parameter(name: str = "a", place: str = "query", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": "string"}, **more}


def why_not(operation: Any, **options: Any) -> str:
    """Why the only operation of a document is left out."""
    refused = read(with_operation(operation, **options))
    assert isinstance(refused, Refused) and refused.code is Code.BAD_DOCUMENT
    return refused.detail


class TestWhatIsKept:
    def test_every_operation_with_its_place_and_schema(self):
        made = skill()
        assert made.title == "Todos"
        assert [(each.name, each.method, each.base + each.path) for each in made.operations] == [
            ("listTodos", "GET", "https://todo.example.com/v1/todos"),
            ("addTodo", "POST", "https://todo.example.com/v1/todos"),
            ("getTodo", "GET", "https://todo.example.com/v1/todos/{id}"),
            ("deleteTodo", "DELETE", "https://todo.example.com/v1/todos/{id}"),
            ("moved", "GET", "https://todo.example.com/v1/moved"),
            ("long", "GET", "https://todo.example.com/v1/long"),
        ]
        assert made.left_out == ()
        todo = {"type": "object", "required": ["text"]}
        text = {"type": "string"}
        assert made.operations[1].schema_ == {
            "type": "object",
            "properties": {
                "body": {
                    **todo,
                    "properties": {
                        "text": text,
                        "parent": {**todo, "properties": {"text": text, "parent": {}}},
                    },
                }
            },
            "required": ["body"],
            "additionalProperties": False,
        }

    def test_reading_alone_unless_the_owner_allowed_writes(self):
        made = skill(writes=False)
        assert {each.method for each in made.operations} == {"GET"}
        assert made.left_out == ("POST /todos: it writes", "DELETE /todos/{id}: it writes")

    def test_it_is_read_back_as_it_was_stored(self):
        operations = skill().operations
        assert OPERATIONS.validate_json(stored(operations)) == operations

    def test_the_hash_is_of_the_document(self):
        assert skill().hash == skill().hash != skill(json.dumps(DOCUMENT, indent=1)).hash

    def test_an_operation_without_an_id_is_named_after_its_path(self):
        assert one({}).name == "get_/x"

    def test_what_an_operation_says_goes_over_its_path(self):
        document = with_operation({"parameters": [parameter(required=True)]})
        document["paths"]["/x"]["parameters"] = [parameter(), parameter("b")]
        assert [
            (each.name, each.required) for each in skill(document).operations[0].parameters
        ] == [
            ("a", True),
            ("b", False),
        ]

    def test_two_parameters_of_one_name_have_two_arguments(self):
        made = one(
            {
                "parameters": [
                    parameter("id", "path", required=True),
                    parameter("id"),
                    parameter("a b"),
                ]
            },
            path="/{id}",
        )
        assert [each.argument for each in made.parameters] == ["id", "query_id", "a_b"]

    def test_a_parameter_named_body_stands_beside_the_body(self):
        content = {"application/json": {"schema": {"type": "object"}}}
        made = one({"parameters": [parameter("body")], "requestBody": {"content": content}})
        assert made.body == "request_body"

    def test_headers_that_are_ours_are_no_arguments(self):
        names = ["Authorization", "Host", "Cookie", "X-Forwarded-For", "CF-Ray", "X-Color"]
        made = one({"parameters": [parameter(name, "header") for name in names]})
        assert [each.name for each in made.parameters] == ["X-Color"]

    def test_references_are_followed(self):
        shared = {"parameters": {"p": {"$ref": "#/components/parameters/q"}, "q": parameter()}}
        document = with_operation({"parameters": [{"$ref": "#/components/parameters/p"}]})
        assert skill({**document, "components": shared}).operations[0].parameters[0].name == "a"

    @pytest.mark.parametrize("media", ["application/vnd.api+json", "application/*", "*/*"])
    def test_a_body_of_any_json_is_sent(self, media: str):
        made = one({"requestBody": {"content": {"text/xml": {}, media: {"schema": {}}}}})
        assert made.body_type == (media if "*" not in media else "application/json")


class TestWhereItLies:
    @pytest.mark.parametrize(
        ("servers", "base"),
        [
            (None, "https://todo.example.com"),
            ([], "https://todo.example.com"),
            ([{"url": "/"}], "https://todo.example.com"),
            ([{"url": "v2/"}], "https://todo.example.com/api/v2"),
            ([{"url": "https://api.example.org/v1"}], "https://api.example.org/v1"),
            ([{"url": "//api.example.org"}], "https://api.example.org"),
            (
                [{"url": "https://{r}.example.org", "variables": {"r": {"default": "eu"}}}],
                "https://eu.example.org",
            ),
        ],
    )
    def test_the_first_server_as_the_document_says(self, servers: Any, base: str):
        document = with_operation({}, **({} if servers is None else {"servers": servers}))
        assert skill(document).operations[0].base == base

    @pytest.mark.parametrize(
        "url",
        [
            "http://api.example.org",
            "https://127.0.0.1",
            "https://169.254.169.254/latest",
            "https://metadata.google.internal",
            "https://user@api.example.org",
            "https://{region}.example.org",
            "https://api.example.org:22",
            "ftp://api.example.org",
            "https://[::1]/",
            "https://[",
            "https://api.example.org/?key=1",
            5,
        ],
    )
    def test_any_other_address_is_refused(self, url: Any):
        refused = read(with_operation({}, servers=[{"url": url}]))
        assert isinstance(refused, Refused)
        assert refused.code in (Code.BAD_URL, Code.BAD_DOCUMENT)

    def test_a_server_of_ones_own_is_judged_too(self):
        good = {"servers": [{"url": "https://other.example.org"}]}
        assert one(good).base == "https://other.example.org"
        assert "address" in why_not({"servers": [{"url": "https://10.0.0.1"}]})

    def test_the_local_runtime_takes_local_servers(self):
        url = "http://127.0.0.1:8000/openapi.json"
        made = skill(url=url, private_ok=True)
        assert made.operations[0].base == "http://127.0.0.1:8000/v1"
        assert isinstance(read(url=url), Refused)


class TestWhatIsLeftOut:
    @pytest.mark.parametrize(
        "operation",
        [
            {"parameters": [parameter(place="cookie", required=True)]},
            {"parameters": [parameter(style="pipeDelimited", required=True)]},
            {"parameters": [parameter("b", "path")]},
            {"parameters": [{"$ref": "https://x.example.com/p.json"}]},
            {"parameters": [{"$ref": "#/nowhere"}]},
            {"parameters": ["odd"]},
            {"requestBody": {"required": True, "content": {"text/csv": {}}}},
        ],
    )
    def test_what_cannot_be_called(self, operation: Any):
        assert "GET /x" in why_not(operation)

    def test_a_path_whose_parameters_are_not_said(self):
        assert "agree" in why_not({}, path="/{id}")

    def test_an_optional_parameter_of_an_unknown_kind_alone(self):
        made = one({"parameters": [parameter(place="cookie"), parameter("b")]})
        assert [each.name for each in made.parameters] == ["b"]

    def test_what_does_not_fit(self):
        paths = {f"/p{n}": {"get": {}} for n in range(MAX_OPERATIONS + 5)}
        made = skill({"openapi": "3.1.0", "paths": paths})
        assert len(made.operations) == MAX_OPERATIONS
        assert len(made.left_out) == 5

    def test_what_would_take_too_much_room(self):
        many = [{"$ref": f"#/components/parameters/p{n}"} for n in range(60)]
        shared = {f"p{n}": parameter(f"p{n}", description="x" * 280) for n in range(60)}
        paths = {f"/p{n}": {"get": {"parameters": many}} for n in range(MAX_OPERATIONS)}
        made = skill({"openapi": "3.1.0", "paths": paths, "components": {"parameters": shared}})
        assert made.left_out
        assert len(stored(made.operations)) <= MAX_STORED + MAX_OPERATIONS

    def test_what_has_too_many_parameters(self):
        many = [parameter(f"p{n}") for n in range(61)]
        assert "too many parameters" in why_not({"parameters": many})

    def test_what_comes_after_the_first_hundreds(self):
        odd = {"parameters": [parameter(place="cookie", required=True)]}
        paths = {f"/p{n}": {"get": odd} for n in range(2_000)}
        assert isinstance(
            read({"openapi": "3.1.0", "paths": {**paths, "/x": {"get": {}}}}), Refused
        )


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        "document",
        [
            "",
            "openapi: 3.0.0",
            "[]",
            "null",
            "[" * 100_000,
            {},
            {"openapi": "2.0", "paths": {"/x": {"get": {}}}},
            {"swagger": "2.0", "paths": {"/x": {"get": {}}}},
            {"openapi": 3.1, "paths": {"/x": {"get": {}}}},
            {"openapi": "3.1.0"},
            {"openapi": "3.1.0", "paths": {}},
            {"openapi": "3.1.0", "paths": []},
            {"openapi": "3.1.0", "paths": {"x": {"get": {}}}},
            {"openapi": "3.1.0", "paths": {"/x": {"get": []}}},
            {"openapi": "3.1.0", "paths": {"/x": {"trace": {}}}},
            {"openapi": "3.1.0", "paths": {"/x": {"$ref": "#/paths/~1x"}}},
            '{"openapi": "3.1.0", "openapi": "3.1.0"}',
        ],
    )
    def test_what_is_no_document_that_can_be_used(self, document: Any):
        refused = read(document)
        assert isinstance(refused, Refused)
        assert refused.code is Code.BAD_DOCUMENT
        assert refused.detail.endswith(".")

    def test_one_that_is_too_big(self):
        document = deepcopy(DOCUMENT)
        document["info"]["description"] = "ü" * (MAX_DOCUMENT_BYTES // 2)
        refused = read(json.dumps(document, ensure_ascii=False))
        assert isinstance(refused, Refused) and "512 KiB" in refused.detail

    def test_one_that_only_writes_says_how_to_allow_it(self):
        refused = read(with_operation({}, method="post"), writes=False)
        assert isinstance(refused, Refused) and "writes" in refused.detail
