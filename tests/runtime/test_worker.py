"""The Worker's entrypoint in real workerd: what the platform hands over, and what leaves."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import pytest

from tests.runtime.server import Answer, Server
from tests.runtime.world import build_world, until

LIMIT = 256 * 1024


@pytest.fixture(scope="module")
def server(start_server: Callable[..., Server]) -> Server:
    return start_server()


def put_in_chunks(server: Server, chunks: Iterable[bytes]) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"authorization": f"Bearer {server.admin_token}", "transfer-encoding": "chunked"}
    connection.request("PUT", "/admin/config/worker", chunks, headers, encode_chunked=True)
    response = connection.getresponse()
    answer = Answer(response.status, response.headers, response.read())
    connection.close()
    return answer


def change(size: int) -> bytes:
    """A body of `size` bytes that says no change that could be made."""
    head, tail = b'{"expectedVersion": 99, "changes": {"a": "', b'"}}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def test_a_body_over_256_kib_is_413(server: Server):
    path, token = "/admin/config/worker", server.admin_token
    over = server.request("PUT", path, data=change(LIMIT + 1), token=token)
    assert (over.status, over.json()["code"]) == (413, "too_large")
    assert server.request("PUT", path, data=change(LIMIT), token=token).status != 413


@pytest.mark.parametrize("path", ["/admin/config/worker", "/healthz", "/nowhere"])
def test_who_sends_far_too_much_before_looking_still_gets_the_answer(server: Server, path: str):
    over = server.request("PUT", path, data=change(7_000_000), token=server.admin_token)
    assert over.status == {"/admin/config/worker": 413, "/healthz": 405, "/nowhere": 404}[path]


def test_a_body_that_does_not_say_its_length_is_cut_off_at_the_same_size(server: Server):
    over = put_in_chunks(server, [change(LIMIT), b" "])
    assert (over.status, over.json()["code"]) == (413, "too_large")
    assert put_in_chunks(server, [change(1000)[:10], change(1000)[10:]]).status == 409


def test_headers_and_the_query_arrive(server: Server):
    path = "/admin/schedules/preview?cron=0%203%20*%20*%20*&n=1"
    assert server.get(path).status == 401
    assert len(server.get(path, token=server.admin_token).json()["next"]) == 1


def test_a_method_nobody_takes_is_405(server: Server):
    answer = server.request("PROPFIND", "/healthz")
    assert (answer.status, answer.json()["code"]) == (405, "method_not_allowed")


def test_head_is_a_get_without_its_body(server: Server):
    answer = server.request("HEAD", "/healthz")
    assert (answer.status, answer.body) == (200, b"")


def test_the_minute_event_is_a_tick(server: Server):
    def ticks() -> int:
        return server.get("/admin/ticks", token=server.admin_token).json()["h24"]["count"]

    before = ticks()
    assert server.fire("* * * * *").status == 200
    assert until(lambda: ticks() - before) == 1


def test_what_the_cron_event_did_is_on_the_console(server: Server):
    server.fire("* * * * *")
    until(lambda: "INFO bot.catalog ticked: tick {" in server.log_tail(500))


def test_what_breaks_is_a_500_without_a_trace_and_is_logged(
    start_server: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
):
    bare = start_server(build_world("bare", tmp_path_factory.mktemp("world")))
    answer = bare.get("/healthz")
    assert (answer.status, answer.json()["code"]) == (500, "internal")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in answer.text
    assert "Traceback" in bare.log_tail()
