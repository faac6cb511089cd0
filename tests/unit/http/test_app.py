from __future__ import annotations

import logging
from typing import Any

import pytest

from bot.authz.policy import ROUTES as POLICY
from bot.authz.policy import Door, Need
from bot.http.app import ROUTES, handle, match
from bot.http.values import Request, Response, json_response
from bot.http.visit import Route, Visit
from bot.ports import Fault
from bot.words import Code, Refused
from tests.support.drive import run
from tests.unit.http.client import Client, office

ROOT = "token-of-root"


def test_an_unknown_address_is_not_found() -> None:
    client = office()
    for path in ("/", "/admin", "/admin/schedules/a/b/c", "/admin/schedules/", "//", "/Healthz"):
        answer = client.get(path)
        assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/healthz", "GET, HEAD"),
        ("/ingress", "POST"),
        ("/admin/schedules", "GET, HEAD, POST"),
        ("/admin/schedules/tick", "DELETE, GET, HEAD, POST"),
        ("/admin/schedules/nightly", "DELETE, GET, HEAD"),
        ("/admin/config/org", "GET, HEAD, PUT"),
    ],
)
@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "BREW"])
def test_a_method_that_an_address_does_not_take_is_told_which_it_does(
    path: str, allow: str, method: str
) -> None:
    answer = office().send(method, path)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allow


def test_static_segments_come_before_named_ones() -> None:
    def pattern(method: str, path: str) -> Any:
        matched = match(ROUTES, method, path)
        assert not isinstance(matched, (Refused, frozenset))
        return matched.route.pattern, dict(matched.params)

    assert pattern("GET", "/admin/schedules/preview") == ("/admin/schedules/preview", {})
    assert pattern("POST", "/admin/schedules/tick") == ("/admin/schedules/tick", {})
    named = "/admin/schedules/{name}"
    assert pattern("DELETE", "/admin/schedules/preview") == (named, {"name": "preview"})
    assert pattern("GET", "/admin/schedules/tick") == (named, {"name": "tick"})


def test_named_segments_are_decoded_after_the_path_is_split() -> None:
    matched = match(ROUTES, "GET", "/api/threads/web%3Ageneral%2Fabc")
    assert not isinstance(matched, (Refused, frozenset))
    assert matched.params == {"key": "web:general/abc"}


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e",
        "..",
        "%00",
        "nightly%00",
        "%",
        "%ff",
        "%2F..%2Fconfig",
        "x" * 20_000,
        "%C3%BC",
        "'%20OR%201=1--",
        "{name}",
    ],
)
@pytest.mark.parametrize(
    ("method", "after"), [("GET", ""), ("DELETE", ""), ("POST", "/fire"), ("POST", "/pause")]
)
def test_a_hostile_name_is_only_a_name_that_is_not_there(
    name: str, method: str, after: str
) -> None:
    client = office().signed_in(ROOT)
    request = Request(
        method, f"/admin/schedules/{name}{after}", {}, {**_lower(client.headers)}, b""
    )
    response = run(handle(client.house, request))
    assert response.status == 404
    assert len(response.body) < 2_000
    assert client.house.config.get().version == 0


def _lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def test_head_is_a_get_without_a_body() -> None:
    client = office()
    get, head = client.get("/healthz"), client.send("HEAD", "/healthz")
    assert (head.status, head.body) == (get.status, b"")
    assert head.headers == get.headers
    assert client.send("HEAD", "/admin/runs").body == b""


def test_every_answer_may_be_neither_kept_nor_sniffed() -> None:
    client = office()
    for path in ("/healthz", "/nowhere", "/admin/runs", "/healthz?a&a", "/healthz?%ff"):
        answer = client.get(path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_query_that_cannot_be_read_is_malformed_before_anything_else() -> None:
    answer = office().get("/nowhere?a=1&a=2")
    assert (answer.status, answer.code) == (400, "bad_request")


def visit(route: Route, policy: Any, **house: Any) -> Response:
    request = Request(route.method, route.pattern)
    return run(handle(office(**house).house, request, routes=[route], policy=policy))


async def _unreached(visited: Visit, body: Any) -> Response | Refused:
    raise AssertionError("the handler was reached")


def test_a_route_that_the_policy_does_not_name_is_denied_to_everybody() -> None:
    for method in ("GET", "POST"):
        response = visit(Route(method, "/new", _unreached), {})
        assert response.status == 403
        assert b'"forbidden"' in response.body


def test_a_stores_fault_is_a_503_and_says_nothing_of_it() -> None:
    async def handler(visited: Visit, body: Any) -> Response | Refused:
        raise Fault("D1_ERROR: no such table: secrets at line 7")

    response = visit(Route("GET", "/x", handler), {("GET", "/x"): Need(door=Door.OPEN)})
    assert response.status == 503
    assert b"store_unavailable" in response.body
    assert b"D1_ERROR" not in response.body


def test_a_defect_is_a_500_whose_trace_is_in_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(visited: Visit, body: Any) -> Response | Refused:
        raise KeyError("secret detail")

    with caplog.at_level(logging.ERROR):
        response = visit(Route("GET", "/x", handler), {("GET", "/x"): Need(door=Door.OPEN)})
    assert response.status == 500
    assert b'"internal"' in response.body
    assert b"secret detail" not in response.body
    assert b"Traceback" not in response.body
    (record,) = [each for each in caplog.records if each.name == "bot.http"]
    assert record.__dict__["action"] == "http_error"
    assert "secret detail" in caplog.text


def test_a_fault_while_the_grants_are_read_is_a_503() -> None:
    async def hook(point: str) -> None:
        if point == "config.read":
            raise Fault("down")

    answer = office(pause=hook).bearer("token-of-ci").get("/admin/runs")
    assert (answer.status, answer.code) == (503, "store_unavailable")


def reads(token: str, method: str, path: str) -> int:
    """How often a request reads the org document before its handler."""
    points: list[str] = []

    async def hook(point: str) -> None:
        points.append(point)

    async def handler(visited: Visit, body: Any) -> Response | Refused:
        await visited.grants() if method == "POST" else None
        return json_response({})

    client = office(pause=hook, settings={"admins": frozenset({"http:root"})}).bearer(token)
    client.house.config.put({"grants.http:ci": ["schedule:fire"]})
    need = Need("schedule:fire") if path == "/granted" else Need()
    run(
        handle(
            client.house,
            Request(method, path, {}, _lower(client.headers)),
            routes=[Route(method, path, handler)],
            policy={(method, path): need},
        )
    )
    return points.count("config.read")


def test_the_org_document_is_read_once_and_only_for_who_may_be_granted_something() -> None:
    assert reads("token-of-ci", "GET", "/granted") == 1
    assert reads("token-of-ci", "POST", "/granted") == 1
    assert reads("token-of-ci", "POST", "/door") == 1
    assert reads("token-of-ci", "GET", "/door") == 0
    assert reads("token-of-cron", "POST", "/granted") == 0
    assert reads("token-of-root", "POST", "/granted") == 0


def test_the_body_is_looked_at_only_after_the_caller() -> None:
    client = office()
    large = b"x" * (256 * 1024 + 1)
    for path in ("/admin/schedules", "/admin/command", "/ingress"):
        assert client.post(path, body=large).status == 401
        assert client.post(path, body=b"{").status == 401
    assert client.bearer("token-of-ci").post("/admin/schedules", body=large).status == 403


@pytest.mark.parametrize(
    "path",
    ["/admin/schedules", "/admin/command", "/admin/schedules/tick", "/admin/schedules/x/fire"],
)
def test_a_body_over_256_kib_is_too_large_wherever_it_is_sent(path: str) -> None:
    answer = office().signed_in(ROOT).post(path, body=b"x" * (256 * 1024 + 1))
    assert (answer.status, answer.code) == (413, "too_large")


@pytest.mark.parametrize(
    ("method", "path"),
    [(route.method, route.pattern) for route in ROUTES if route.body is not None],
)
@pytest.mark.parametrize(
    "raw", [b"{", b"[]", b"null", b'{"x": 1, "x": 2}', b"\xff", b'{"nosuch": 1}']
)
def test_a_malformed_body_is_a_400_on_every_json_route(method: str, path: str, raw: bytes) -> None:
    client = office()
    door = POLICY[(method, path)].door
    if door is Door.INTERNAL:
        entered = Client(client.house, {"X-Internal-Key": "key-of-internal"})
    else:
        entered = client.bearer("token-of-ci") if path == "/ingress" else client.signed_in(ROOT)
    path = path.replace("{name}", "nightly").replace("{tier}", "org")
    answer = entered.send(method, path, body=raw)
    assert (answer.status, answer.code) == (400, Code.BAD_REQUEST)
    assert ("nosuch" in answer.json["detail"]) == (b"nosuch" in raw)
