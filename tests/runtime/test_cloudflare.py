"""The platform's adapters in real workerd."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from tests.runtime.server import Server
from tests.runtime.world import FaultThereError, ObjectsWorld, build_world, until


@pytest.fixture(scope="module")
def world(
    start_server: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> ObjectsWorld:
    root = build_world("objects", tmp_path_factory.mktemp("world"))
    return ObjectsWorld(start_server(root))


class TestD1:
    @pytest.fixture(autouse=True)
    def _empty(self, world: ObjectsWorld):
        world.do("sql", ["DELETE FROM notes"])

    def test_a_statement_tells_its_rows_and_its_changes(self, world: ObjectsWorld):
        assert world.do("sql", ["INSERT INTO notes VALUES (?, ?, ?)", "a", 2**52, None]) == [
            [[], 1]
        ]
        assert world.do("sql", ["SELECT * FROM notes WHERE word IS ?", None]) == [
            [[{"id": "a", "n": 2**52, "word": None}], 0]
        ]
        again = ["INSERT INTO notes (id) VALUES (?) ON CONFLICT DO NOTHING", "a"]
        assert world.do("sql", again) == [[[], 0]]

    def test_a_batch_is_all_or_nothing(self, world: ObjectsWorld):
        insert = "INSERT INTO notes (id) VALUES (?)"
        assert [changes for _, changes in world.do("sql", [insert, "a"], [insert, "b"])] == [1, 1]
        with pytest.raises(FaultThereError, match="UNIQUE constraint failed"):
            world.do("sql", [insert, "c"], [insert, "a"])
        assert world.do("sql", ["SELECT COUNT(*) AS n FROM notes"])[0][0] == [{"n": 2}]

    def test_an_empty_batch_is_nothing(self, world: ObjectsWorld):
        assert world.do("sql") == []

    def test_a_broken_statement_is_a_fault(self, world: ObjectsWorld):
        with pytest.raises(FaultThereError, match="no such table"):
            world.do("sql", ["SELECT * FROM absent"])

    def test_a_word_of_an_enum_binds_as_a_string(self, world: ObjectsWorld):
        assert world.do("bind_word") == [{"word": "running", "none": None}]


class TestIdsAndClock:
    def test_ids_and_secrets_are_fresh_and_well_formed(self, world: ObjectsWorld):
        first, second, secret, now_ms = world.do("draw")
        assert first != second
        assert re.fullmatch(r"[a-z0-9]{20}", first)
        assert re.fullmatch(r"[A-HJKMNP-TV-Z2-9]{12}", secret)
        assert abs(now_ms - time.time() * 1000) < 60_000


class TestWaitUntil:
    def test_deferred_work_runs_after_the_answer(self, world: ObjectsWorld):
        world.do("defer", "deferred", False)
        until(lambda: world.do("sql", ["SELECT 1 FROM notes WHERE id = 'deferred'"])[0][0])

    def test_deferred_work_that_breaks_is_logged(self, world: ObjectsWorld):
        world.do("defer", "deferred and broken", True)
        until(lambda: "ValueError: deferred work broke" in world.server.log_tail(500))


class Outside(BaseHTTPRequestHandler):
    """An outside world on loopback."""

    release = Event()

    def do_GET(self):
        match self.path.partition("?")[0]:
            case "/moved":
                self._answer(302, b"", {"Location": "/elsewhere"})
            case "/slow":
                self.release.wait(20)
            case "/stuck":
                self._answer(200, b"half", length=8)
                self.release.wait(20)
            case "/huge":
                self._answer(200, b"x" * (4 * 1024 * 1024 + 1))
            case "/not-utf8":
                self._answer(200, b"\xff\xfeok")
            case _:
                self._answer(404, b"nothing here", {"X-Seen": self.headers["x-sent"]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self._answer(201, body[::-1], {"X-Type": self.headers["content-type"]})

    def _answer(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str | None] | None = None,
        length: int | None = None,
    ):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any):
        pass


@pytest.fixture(scope="module")
def outside() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Outside.release.set()
    server.shutdown()
    server.server_close()


class TestFetch:
    def test_a_request_carries_its_headers_and_tells_the_answer(
        self, world: ObjectsWorld, outside: str
    ):
        reply = world.do("send", "GET", f"{outside}/x", {"headers": {"X-Sent": "yes"}})
        assert (reply["status"], reply["text"]) == (404, "nothing here")
        assert reply["headers"]["x-seen"] == "yes"

    def test_a_body_goes_as_it_is(self, world: ObjectsWorld, outside: str):
        options = {"headers": {"content-type": "application/json"}, "body": '{"a":1}'}
        reply = world.do("send", "POST", outside, options)
        assert (reply["status"], reply["text"]) == (201, '}1:"a"{')
        assert reply["headers"]["x-type"] == "application/json"

    def test_a_redirect_is_not_followed(self, world: ObjectsWorld, outside: str):
        reply = world.do("send", "GET", f"{outside}/moved", {})
        assert (reply["status"], reply["headers"]["location"]) == (302, "/elsewhere")

    @pytest.mark.parametrize("path", ["/slow", "/stuck"])
    def test_no_whole_answer_in_time_is_a_fault(self, world: ObjectsWorld, outside: str, path: str):
        with pytest.raises(FaultThereError, match=r"GET 127\.0\.0\.1: .*(timeout|aborted)"):
            world.do("send", "GET", f"{outside}{path}?token=s3cret", {"timeout_s": 0.2})

    def test_a_fault_does_not_tell_the_query(self, world: ObjectsWorld, outside: str):
        with pytest.raises(FaultThereError) as fault:
            world.do("send", "GET", f"{outside}/huge?token=s3cret", {})
        assert "over 4 MiB" in str(fault.value)
        assert "s3cret" not in str(fault.value)

    def test_a_refused_connection_is_a_fault(self, world: ObjectsWorld):
        with pytest.raises(FaultThereError, match=r"GET 127\.0\.0\.1: "):
            world.do("send", "GET", "http://127.0.0.1:1/", {})

    def test_text_that_is_not_utf8_is_read_with_marks(self, world: ObjectsWorld, outside: str):
        assert world.do("send", "GET", f"{outside}/not-utf8", {})["text"] == "��ok"


class TestReadAtMost:
    @pytest.mark.parametrize("size", [0, 1, 999])
    def test_a_body_below_the_limit_is_read_whole(self, world: ObjectsWorld, size: int):
        assert world.server.request("POST", "/size", data=b"x" * size).json() == {"value": size}

    def test_a_long_body_is_cut(self, world: ObjectsWorld):
        read = world.server.request("POST", "/size", data=b"x" * 3_000_000).json()["value"]
        assert 1000 <= read < 200_000


class TestWorkflows:
    def notes(self, world: ObjectsWorld, run_id: str) -> int:
        [[rows, _]] = world.do("sql", ["SELECT n FROM notes WHERE id = ?", run_id])
        return rows[0]["n"] if rows else 0

    def test_an_id_starts_one_run_however_often_it_is_started(self, world: ObjectsWorld):
        assert world.do("engine", "status", "once") == "absent"
        for ids in (["once"], ["once", "other"], ["once"]):
            world.do("engine", "start", ids)
        until(lambda: self.notes(world, "once") and self.notes(world, "other"))
        assert world.do("engine", "status", "once") == "alive"
        assert self.notes(world, "once") == 1

    def test_a_run_is_stopped_and_stopping_again_is_nothing(self, world: ObjectsWorld):
        world.do("engine", "start", ["stopped"])
        until(lambda: self.notes(world, "stopped"))
        for _ in range(2):
            world.do("engine", "stop", "stopped")
            assert world.do("engine", "status", "stopped") == "ended"
        world.do("engine", "stop", "never-started")

    def test_starting_no_runs_is_nothing(self, world: ObjectsWorld):
        world.do("engine", "start", [])

    def test_an_id_that_the_platform_refuses_is_a_fault(self, world: ObjectsWorld):
        with pytest.raises(FaultThereError, match="invalid id"):
            world.do("engine", "start", ["no good!"])

    def test_resuming_a_run_that_never_was_is_a_fault(self, world: ObjectsWorld):
        with pytest.raises(FaultThereError, match="not_found"):
            world.do("engine", "resume", "never-started")

    def test_a_run_whose_process_died_is_resumed_and_its_finished_step_stays_done(
        self, world: ObjectsWorld
    ):
        world.do("engine", "start", ["killed"])
        until(lambda: self.notes(world, "killed"))
        world.server.kill9()
        world.server.restart()
        assert world.do("engine", "status", "killed") == "alive"
        world.do("engine", "resume", "killed")
        assert world.do("engine", "status", "killed") == "alive"
        assert self.notes(world, "killed") == 1
