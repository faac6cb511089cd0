import json
from typing import Any

import pytest

from bot.objects import Reply
from config_do.documents import Documents
from config_do.routes import answer
from tests.support.sql import MemorySql


@pytest.fixture
def documents() -> Documents:
    documents = Documents(MemorySql())
    documents.swap("org", 0, {"a": 1})
    return documents


def put(documents: Documents, body: Any, tier: str = "org") -> Reply:
    text = body if isinstance(body, str) else json.dumps(body)
    return answer(documents, "PUT", f"/documents/{tier}", text)


def test_a_document_is_read_with_its_version(documents: Documents):
    reply = answer(documents, "GET", "/documents/org", None)
    assert (reply.status, json.loads(reply.body)) == (200, {"version": 1, "entries": {"a": 1}})


def test_the_version_that_stands_costs_a_304_without_a_body(documents: Documents):
    assert answer(documents, "GET", "/documents/org?version=1", None) == Reply(304)
    assert answer(documents, "GET", "/documents/org?version=0", None).status == 200
    assert answer(documents, "GET", "/documents/new?version=0", None).status == 304


def test_a_swap_answers_200_or_409_with_the_version(documents: Documents):
    won = put(documents, {"expectedVersion": 1, "changes": {"a": 2}})
    lost = put(documents, {"expectedVersion": 1, "changes": {"a": 3}})
    assert [(won.status, won.body), (lost.status, lost.body)] == [
        (200, '{"version":2}'),
        (409, '{"version":2}'),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "{}",
        {"expectedVersion": 1},
        {"expectedVersion": 1, "changes": []},
        {"expectedVersion": "1", "changes": {"a": 2}},
        {"expectedVersion": True, "changes": {"a": 2}},
        {"expectedVersion": -1, "changes": {"a": 2}},
        {"expectedVersion": 1.0, "changes": {"a": 2}},
        {"expectedVersion": 1, "changes": {"a": 2}, "force": True},
        {"expectedVersion": 1, "changes": {"": 2}},
        '{"expectedVersion": 1, "changes": {"a": NaN}}',
        '{"expectedVersion": 1, "changes": {"a": 1e999}}',
        '{"expectedVersion": 1, "changes": {"a": "\\ud83d"}}',
        '{"expectedVersion": 1, "changes": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"expectedVersion": 1, "changes": {"a": ' + "9" * 5_000 + "}}",
    ],
)
def test_a_malformed_swap_is_400_and_writes_nothing(documents: Documents, body: Any):
    reply = put(documents, body)
    assert (reply.status, json.loads(reply.body)["code"]) == (400, "bad_request")
    assert documents.read("org").entries == '{"a":1}'


def test_a_swap_over_a_limit_is_422(documents: Documents):
    reply = put(documents, {"expectedVersion": 1, "changes": {"a": "x" * 70_000}})
    assert (reply.status, json.loads(reply.body)["code"]) == (422, "document_too_large")
    assert documents.version("org") == 1


def test_upkeep_of_a_standing_schedule_has_room_beyond_the_limit(documents: Documents):
    most = {"schedules.a": "x" * 65_534}
    assert put(documents, {"expectedVersion": 1, "changes": most}).status == 200
    body = {"expectedVersion": 2, "changes": {"schedules.a": "x" * 73_000}}
    assert put(documents, body).status == 422
    assert put(documents, {**body, "upkeep": True}).status == 200


@pytest.mark.parametrize("tier", ["Org", "_org", "a" * 129, "a b", "a%00", "org%0a", "a%2Fb"])
def test_what_is_no_tier_is_400(documents: Documents, tier: str):
    assert answer(documents, "GET", f"/documents/{tier}", None).status == 400


def test_a_tier_may_name_a_person(documents: Documents):
    assert put(documents, {"expectedVersion": 0, "changes": {}}, "user:web:a.b_c@d-e").status == 200
    assert answer(documents, "GET", "/documents/user%3Aweb%3Aa.b_c%40d-e", None).body == (
        '{"version":1,"entries":{}}'
    )


@pytest.mark.parametrize("path", ["/", "/documents", "/documents/org/a", "/other/org"])
def test_there_is_no_other_route(documents: Documents, path: str):
    assert answer(documents, "GET", path, None).status == 404


def test_there_is_no_other_method(documents: Documents):
    assert answer(documents, "DELETE", "/documents/org", None).status == 405


def test_a_reply_crosses_as_one_json_string(documents: Documents):
    read = answer(documents, "GET", "/documents/org", None)
    assert json.loads(read.crossing()) == {"status": 200, "body": json.loads(read.body)}
    assert json.loads(Reply(304).crossing()) == {"status": 304, "body": None}
