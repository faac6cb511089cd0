"""The local runtime behaves as production does, and keeps its options' and controls' promises."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.runtime.server import NODE, ROOT, WORLDS, Server, StartError

WORLD = WORLDS / "platform"
EVERY_MINUTE = "* * * * *"
FAILING = "0 6 * * MON"

StartServer = Callable[..., Server]


@pytest.fixture(scope="module")
def ticking(start_server: StartServer) -> Server:
    return start_server(WORLD, no_tick=False)


@pytest.fixture(scope="module")
def world(start_server: StartServer, ticking: Server) -> Server:
    return start_server(
        WORLD,
        vars={"ALSO_IN_FILE": "file", "CRON_TOKEN": "", "QUOTED": """{"a": "it's"}"""},
    )


@pytest.fixture(autouse=True)
def _real_clock(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "world" in request.fixturenames:
        server: Server = request.getfixturevalue("world")
        if server.running:
            server.set_clock(None)


def ask(server: Server, route: str) -> Any:
    answer = server.get(f"/api/{route}")
    assert answer.status == 200, answer.text
    return answer.json()


def eventually(question: Callable[[], Any], seconds: float = 15) -> Any:
    """Return the first true answer to `question`; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)


class TestImportOfTheMainModule:
    def test_randomness_raises(self, world: Server) -> None:
        outcomes = ask(world, "import")["randomness"]
        assert outcomes.pop("random.Random") == "allowed", "a seed of one's own is no randomness"
        assert set(outcomes.values()) == {"OSError"}

    def test_the_clock_stands_near_1970(self, world: Server) -> None:
        assert ask(world, "import")["time"] < 60

    def test_randomness_works_in_a_request(self, world: Server) -> None:
        first, second = ask(world, "randomness"), ask(world, "randomness")
        assert all(first[name] != second[name] for name in first)

    def test_a_uuid_at_import_stops_the_start(self, tmp_path: Path) -> None:
        message = failed_start(tmp_path, "from uuid import uuid4\n\nID = uuid4()\n")
        assert "os.urandom: no randomness outside a request" in message
        assert 'File "/session/metadata/entry.py", line 4' in message

    def test_a_raw_js_object_in_a_module_global_stops_the_start(self, tmp_path: Path) -> None:
        message = failed_start(tmp_path, "import js\n\nHEADERS = js.Object.new()\n")
        assert "entry.HEADERS is a raw JavaScript object in a module global" in message

    def test_an_import_error_stops_the_start_with_its_traceback(self, tmp_path: Path) -> None:
        message = failed_start(tmp_path, "import nowhere_to_be_found\n")
        assert 'File "/session/metadata/entry.py", line 2' in message
        assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in message

    def test_a_syntax_error_stops_the_start_with_its_place(self, tmp_path: Path) -> None:
        message = failed_start(tmp_path, "def broken(:\n")
        assert 'File "/session/metadata/entry.py", line 2' in message
        assert "SyntaxError" in message


def failed_start(root: Path, source: str) -> str:
    (root / "src").mkdir()
    (root / "src" / "entry.py").write_text(f'__all__ = ["Default"]\n{source}')
    (root / "wrangler.jsonc").write_text(
        json.dumps(
            {
                "name": "broken",
                "main": "src/entry.py",
                "compatibility_date": "2026-10-01",
                "compatibility_flags": ["python_workers"],
            }
        )
    )
    with pytest.raises(StartError) as raised:
        Server.start(root)
    return str(raised.value)


class TestFiles:
    def test_vendored_packages_come_before_our_own(self, world: Server) -> None:
        files = ask(world, "files")
        vendored, own = "/session/metadata/python_modules", "/session/metadata"
        assert files["path"].index(vendored) < files["path"].index(own)
        assert files["vendored"] == f"{vendored}/annotated_types/__init__.py"

    def test_the_source_is_read_only(self, world: Server) -> None:
        files = ask(world, "files")
        assert files["worker"] == "/session/metadata/app/imported.py"
        assert files["writable"] is False

    def test_pth_files_are_processed(self, world: Server) -> None:
        assert ask(world, "files")["pth"] is True

    def test_zones_come_from_the_vendored_tzdata(self, world: Server) -> None:
        assert ask(world, "zone") == "2026-07-01T12:00:00+02:00"

    def test_static_files_are_served_except_where_the_worker_comes_first(
        self, world: Server
    ) -> None:
        assert "a static page" in world.get("/page").text
        assert "never served" not in world.get("/api/now").text


class TestCalls:
    def test_fetch_takes_the_request_alone_and_a_failure_is_a_bare_500(self, world: Server) -> None:
        answer = world.get("/api/fail")
        assert (answer.status, answer.text) == (500, "Internal Server Error")
        eventually(lambda: "RuntimeError: a secret of the inside" in world.stderr)

    def test_scheduled_gets_three_positional_arguments(self, world: Server) -> None:
        assert world.fire(EVERY_MINUTE, 1_000).text == "ok"
        assert ask(world, "seen")["scheduled"][-1] == {
            "arguments": 3,
            "rest": [None, None],
            "cron": EVERY_MINUTE,
            "time": 1_000,
        }

    def test_wait_until_runs_a_coroutine(self, world: Server) -> None:
        before = ask(world, "wait")["waited"]
        eventually(lambda: ask(world, "seen")["waited"] > before)

    def test_an_object_answers_by_rpc_and_by_fetch(self, world: Server) -> None:
        assert ask(world, "object?name=calls") == {
            "handled": {"method": "PUT", "path": "/documents/org", "body": None},
            "marked": 1,
            "fetched": {"object": True, "url": "http://object/inside"},
        }

    def test_a_missing_method_is_a_type_error(self, world: Server) -> None:
        error = ask(world, "missing-method")["error"]
        assert error == "TypeError: Method nothing_like_it does not exist"


class TestWorkflows:
    def test_a_flow_runs_to_its_end(self, world: Server) -> None:
        ask(world, "flow-start?name=runs&nap=1%20second")
        done = eventually(lambda: self.finished(world, "runs"))
        assert done["output"] == {"first": 1, "second": 2}

    def test_a_flow_can_be_paused_resumed_and_terminated(self, world: Server) -> None:
        ask(world, "flow-start?name=ends&nap=1%20hour")
        eventually(lambda: ask(world, "flow?name=ends")["__LOCAL_DEV_STEP_OUTPUTS"])
        ask(world, "flow?name=ends&do=pause")
        eventually(lambda: ask(world, "flow?name=ends")["status"] == "paused")
        ask(world, "flow?name=ends&do=resume")
        eventually(lambda: ask(world, "flow?name=ends")["status"] != "paused")
        ask(world, "flow?name=ends&do=terminate")
        eventually(lambda: ask(world, "flow?name=ends")["status"] == "terminated")

    @staticmethod
    def finished(server: Server, name: str) -> Any:
        status = ask(server, f"flow?name={name}")
        return status if status["status"] == "complete" else None


class TestControls:
    def test_the_clock_is_set_and_runs_on(self, world: Server) -> None:
        assert world.set_clock("2031-05-06T07:08:09+02:00").startswith("2031-05-06T05:08:09")
        set_to = 1_935_810_489
        first = ask(world, "now")["now"]
        assert set_to <= first < set_to + 60
        assert ask(world, "now")["now"] > first

    def test_null_sets_the_real_clock(self, world: Server) -> None:
        world.set_clock("2031-01-01T00:00:00Z")
        world.set_clock(None)
        assert abs(ask(world, "now")["now"] - time.time()) < 60

    @pytest.mark.parametrize(
        "body", ['{"now": "soon"}', '{"now": 5}', "{}", "[]", "null", "no json"]
    )
    def test_a_bad_time_is_refused_and_changes_nothing(self, world: Server, body: str) -> None:
        answer = world.request("POST", "/__local/clock", data=body)
        assert answer.status == 400
        assert answer.headers["content-type"] == "application/problem+json"
        assert abs(ask(world, "now")["now"] - time.time()) < 60

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.test"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Host": "evil.test"},
            {"Host": "127.0.0.1.evil.test", "Origin": "http://127.0.0.1.evil.test"},
        ],
        ids=str,
    )
    def test_a_page_of_another_host_controls_nothing(
        self, world: Server, headers: dict[str, str]
    ) -> None:
        before = len(ask(world, "seen")["scheduled"])
        body = json.dumps({"now": "2031-01-01T00:00:00Z"})
        clock = world.request("POST", "/__local/clock", data=body, headers=headers)
        fired = world.get(f"/cdn-cgi/local/scheduled?cron={quote(EVERY_MINUTE)}", headers=headers)
        assert [clock.status, fired.status] == [403, 403]
        assert clock.headers["content-type"] == "application/problem+json"
        assert abs(ask(world, "now")["now"] - time.time()) < 60
        assert len(ask(world, "seen")["scheduled"]) == before

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
    def test_every_name_of_loopback_controls_it(self, world: Server, host: str) -> None:
        port = world.url.rpartition(":")[2]
        headers = {"Host": f"{host}:{port}", "Origin": f"http://{host}:{port}"}
        body = json.dumps({"now": None})
        answer = world.request("POST", "/__local/clock", data=body, headers=headers)
        assert answer.status == 200, answer.text

    def test_a_fired_event_carries_the_set_clock_s_time(self, world: Server) -> None:
        world.set_clock("2031-01-01T00:00:00Z")
        world.fire(EVERY_MINUTE)
        fired_at = ask(world, "seen")["scheduled"][-1]["time"]
        assert 0 <= fired_at - 1_924_992_000_000 < 60_000

    def test_a_cron_that_the_configuration_lacks_is_refused(self, world: Server) -> None:
        answer = world.fire("1 2 3 4 5")
        assert answer.status == 400
        assert EVERY_MINUTE in answer.json()["detail"]

    def test_what_scheduled_raises_is_the_answer(self, world: Server) -> None:
        answer = world.fire(FAILING)
        assert answer.status == 500
        assert "LookupError: nothing on Mondays" in answer.text


class TestOptions:
    def test_variables_come_from_the_file_then_the_configuration(self, world: Server) -> None:
        names = "FROM_CONFIG,ALSO_IN_FILE,QUOTED,CRON_TOKEN"
        assert ask(world, f"vars?names={names}") == {
            "FROM_CONFIG": "config",
            "ALSO_IN_FILE": "file",
            "QUOTED": """{"a": "it's"}""",
            "CRON_TOKEN": "",
        }

    def test_missing_secrets_are_generated_and_the_admin_s_token_printed(
        self, world: Server
    ) -> None:
        names = "ADMINS,INGRESS_TOKENS,INTERNAL_KEY,SESSION_KEY"
        made = ask(world, f"vars?names={names}")
        assert made["ADMINS"] == "http:admin,web:admin"
        assert json.loads(made["INGRESS_TOKENS"]) == {"admin": world.admin_token}
        assert len({made["INTERNAL_KEY"], made["SESSION_KEY"], world.admin_token}) == 3

    def test_one_line_says_that_it_answers(self, world: Server) -> None:
        assert [line for line in world.stdout if "ready" in line] == [f"ready {world.url}"]

    def test_an_unknown_option_is_refused_with_the_usage(self) -> None:
        run = subprocess.run(
            [NODE, ROOT / "dev" / "run.mjs", "--nonsense"], capture_output=True, text=True
        )
        assert run.returncode == 1
        assert "--no-tick" in run.stderr


class TestState:
    def test_it_survives_a_kill_and_a_restart_on_another_port(
        self, start_server: StartServer
    ) -> None:
        server = start_server(WORLD, clock="2030-01-01T00:00:00Z")
        token = server.admin_token
        ask(server, "note?text=kept")
        ask(server, "object?name=kept")
        ask(server, "flow-start?name=kept&nap=3%20seconds")
        eventually(lambda: ask(server, "flow?name=kept")["__LOCAL_DEV_STEP_OUTPUTS"])

        server.kill9()
        server.restart()

        assert server.admin_token == token
        assert {"text": "kept", "author": None} in ask(server, "note?text=more")
        assert ask(server, "object?name=kept")["marked"] == 3, "one by hand, one by the flow, this"
        assert ask(server, "now")["now"] > 1_893_456_000, "the given clock is set again"
        # The local engine does not go on by itself; pausing and resuming makes it.
        ask(server, "flow?name=kept&do=pause")
        ask(server, "flow?name=kept&do=resume")
        done = eventually(lambda: TestWorkflows.finished(server, "kept"))
        assert done["output"] == {"first": 2, "second": 4}, "a finished step is not run again"

    def test_migrations_are_applied_once_and_wrangler_agrees(
        self, start_server: StartServer
    ) -> None:
        server = start_server(WORLD)
        assert ask(server, "migrations") == ["0001_notes.sql", "0002_more.sql"]
        server.restart()
        notes = ask(server, "note?text=x")
        assert [note["author"] for note in notes] == ["migration", None]
        server.stop()
        listed = run_tool(
            *["npx", "wrangler", "d1", "migrations", "list", "DB", "--local"],
            *["--persist-to", str(server.state)],
            cwd=WORLD,
        )
        assert "No migrations to apply" in listed


def run_tool(*command: str, cwd: Path = ROOT) -> str:
    """Run a command with the project's Node and return what it prints."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": path, "WRANGLER_SEND_METRICS": "false"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


class TestDeploy:
    def test_a_dry_run_uploads_source_and_packages_and_nothing_else(self, tmp_path: Path) -> None:
        printed = run_tool("npm", "run", "deploy:dry-run", "--", "--outdir", str(tmp_path))
        assert "--dry-run: exiting now." in printed
        source = ROOT / "src"
        uploaded = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.py")}
        vendored = {path for path in uploaded if path.parts[0] == "python_modules"}
        assert uploaded - vendored == {path.relative_to(source) for path in source.rglob("*.py")}
        assert Path("python_modules/pydantic/__init__.py") in vendored
        size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
        assert size < 16 * 1024 * 1024, "the platform's limit is 64 MiB; ours is about 8"


class TestEnd:
    @pytest.fixture
    def server(self) -> Iterator[Server]:
        server = Server.start(WORLD)
        yield server
        server.close()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_it_and_all_its_children(
        self, server: Server, number: signal.Signals
    ) -> None:
        family = descendants(server.process.pid)
        assert any("workerd" in command for command in family.values())
        server.process.send_signal(number)
        assert server.process.wait(10) == 0
        assert [pid for pid in family if Path(f"/proc/{pid}").exists()] == []

    def test_workerd_does_not_outlive_a_killed_node(self, server: Server) -> None:
        family = descendants(server.process.pid)
        server.process.kill()
        server.process.wait(10)
        eventually(lambda: not alive(family))

    def test_closing_its_input_ends_it_when_told_so(self, server: Server) -> None:
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(10) == 0

    def test_a_port_of_one_s_choice_and_an_input_that_is_closed(self, tmp_path: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            *[NODE, ROOT / "dev" / "run.mjs", f"--port={port}", f"--root={WORLD}"],
            *[f"--state={tmp_path}", "--no-tick", "--no-demo"],
        ]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            assert next(line for line in lines if line.startswith("ready")) == (
                f"ready http://127.0.0.1:{port}\n"
            )
            assert process.poll() is None
        finally:
            process.terminate()
            process.communicate(timeout=10)


def descendants(pid: int) -> dict[int, str]:
    """Return the command of each process below `pid`."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            found |= descendants(child)
    return found


def alive(family: dict[int, str]) -> list[int]:
    return [pid for pid in family if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class TestTick:
    def test_without_no_tick_the_minute_fires_by_itself(self, ticking: Server) -> None:
        events = eventually(lambda: ask(ticking, "seen")["scheduled"], seconds=75)
        assert events[0]["cron"] == EVERY_MINUTE
        assert events[0]["time"] % 60_000 < 10_000

    @pytest.mark.parametrize(
        ("cron", "fires", "not_then"),
        [
            ("* * * * *", "2026-11-30T06:07:00Z", None),
            ("*/10 * * * *", "2026-11-30T06:20:00Z", "2026-11-30T06:25:00Z"),
            ("0 6 * * MON", "2026-11-30T06:00:00Z", "2026-11-29T06:00:00Z"),
            ("0 6 * * 1", "2026-11-29T06:00:00Z", "2026-11-30T06:00:00Z"),
            ("0 0 1 * SUN", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"),
            ("5-10/5,30 22 * JAN,FEB *", "2026-02-11T22:10:00Z", "2026-02-11T22:09:00Z"),
        ],
    )
    def test_a_cron_fires_as_cloudflare_reads_it(
        self, cron: str, fires: str, not_then: str | None
    ) -> None:
        script = f"""
            import {{ parseCron }} from {json.dumps((ROOT / "dev" / "cron.mjs").as_uri())};
            const fires = parseCron({json.dumps(cron)});
            const times = {json.dumps([fires, not_then])};
            console.log(JSON.stringify(times.map((t) => t !== null && fires(new Date(t)))));
        """
        run = subprocess.run(
            [NODE, "--input-type=module", "--eval", script],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(run.stdout) == [True, False]
