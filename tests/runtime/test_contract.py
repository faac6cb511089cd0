"""The contract's own sentences, asked of a running bot from outside: doors, errors, surfaces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.runtime.bot import Bot, at_once, ms, stored
from tests.runtime.server import Answer, Server
from tests.runtime.world import until

TOKENS = {"admin": "token-of-admin", "ci": "token-of-ci", "zoe": "clé-de-zoé-☃"}
CRON_TOKEN, INTERNAL_KEY = "token-of-cron", "clé-interne"
KIB = 1024


@pytest.fixture(scope="module")
def server(start_server: Callable[..., Server]) -> Server:
    return start_server(
        clock="2026-09-01T03:00:00Z",
        vars={
            "INGRESS_TOKENS": json.dumps(TOKENS, ensure_ascii=False),
            "ADMINS": "http:admin,web:admin",
            "CRON_TOKEN": CRON_TOKEN,
            "INTERNAL_KEY": INTERNAL_KEY,
        },
    )


@pytest.fixture(scope="module")
def session(server: Server) -> dict[str, str]:
    return Bot(server, TOKENS["admin"]).session


@pytest.fixture
def bot(server: Server) -> Bot:
    """The administrator of a bot without schedules."""
    bot = Bot(server, TOKENS["admin"])
    bot.clear()
    return bot


def bearer(token: str) -> dict[str, Any]:
    """The header as UTF-8 bytes, since a secret may hold any character."""
    return {"authorization": f"Bearer {token}".encode()}


def problem(answer: Answer) -> tuple[int, str]:
    """Status and code of an error, which is a whole problem document."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"code", "title", "detail", "status"} <= set(body)
    assert body["status"] == answer.status
    assert "Traceback" not in answer.text
    return answer.status, body["code"]


def in_chat_form(name: str, text: str, channel: str = "web:general") -> str:
    return f'schedule add {name} "0 9 * * *" in {channel}: {text}'


ROUTES = [
    ("POST", "/ingress"),
    ("POST", "/admin/schedules/tick"),
    ("GET", "/admin/schedules"),
    ("POST", "/admin/schedules"),
    ("GET", "/admin/schedules/nightly"),
    ("DELETE", "/admin/schedules/nightly"),
    ("POST", "/admin/schedules/nightly/fire"),
    ("POST", "/admin/schedules/nightly/pause"),
    ("POST", "/admin/schedules/nightly/resume"),
    ("GET", "/admin/schedules/nightly/firings"),
    ("GET", "/admin/schedules/preview?cron=0+9+*+*+*"),
    ("GET", "/admin/ticks"),
    ("POST", "/admin/command"),
    ("GET", "/admin/config/org"),
    ("PUT", "/admin/config/org"),
    ("GET", "/admin/runs"),
    ("GET", "/admin/runs/some-run"),
    ("DELETE", "/api/session"),
    ("GET", "/api/channels"),
    ("GET", "/api/threads"),
    ("GET", "/api/threads/some-thread"),
    ("POST", "/api/chat"),
    ("GET", "/api/jobs"),
    ("POST", "/api/jobs"),
    ("DELETE", "/api/jobs?id=some-job"),
    ("GET", "/jobs?userId=web:alice"),
    ("POST", "/jobs"),
    ("DELETE", "/jobs"),
    ("POST", "/api/job-run"),
    ("GET", "/api/events"),
]
NEEDS = {
    ("GET", "/admin/schedules"): "schedule:read",
    ("POST", "/admin/schedules"): "schedule:write",
    ("DELETE", "/admin/schedules/nightly"): "schedule:write",
    ("POST", "/admin/schedules/nightly/pause"): "schedule:write",
    ("GET", "/admin/ticks"): "schedule:read",
    ("GET", "/admin/config/org"): "config:read",
    ("PUT", "/admin/config/org"): "config:write",
    ("GET", "/admin/runs"): "run:read",
}


class TestDoors:
    def test_only_health_is_open(self, server: Server):
        health = server.get("/healthz")
        assert health.status == 200
        assert health.json()["ok"] is True
        assert set(health.json()["tick"]) == {"last", "lag_s"}

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_a_stranger_is_401_by_every_route(self, server: Server, method: str, path: str):
        assert problem(server.request(method, path)) == (401, "unauthorized")
        wrong = {**bearer("wrong"), "x-internal-key": "wrong"}
        assert problem(server.request(method, path, headers=wrong)) == (401, "unauthorized")

    @pytest.mark.parametrize(
        "value",
        [b"", b"Bearer", b"Bearer ", b"Basic dG9rZW4=", b"Bearer t\xc3\xb6k", b"Bearer \xff"],
    )
    def test_whatever_is_no_token_is_401(self, server: Server, value: bytes):
        answer = server.get("/admin/schedules", headers={"authorization": value})  # type: ignore[dict-item]
        assert problem(answer) == (401, "unauthorized")

    def test_a_credential_opens_its_own_doors_alone(self, server: Server, session: dict[str, str]):
        admin = bearer(TOKENS["admin"])
        internal = {"x-internal-key": INTERNAL_KEY.encode()}
        assert server.get("/api/channels", headers=admin).status == 401
        assert server.get("/jobs?userId=web:alice", headers=admin).status == 401
        assert server.get("/admin/schedules", headers=internal).status == 401  # type: ignore[arg-type]
        assert server.get("/jobs?userId=web:alice", headers=session).status == 401

    def test_secrets_are_compared_as_bytes(self, server: Server):
        internal: Any = {"x-internal-key": INTERNAL_KEY.encode()}
        assert server.get("/jobs?userId=web:alice", headers=internal).status == 200
        said = server.post("/admin/command", {"text": "whoami"}, headers=bearer(TOKENS["zoe"]))
        assert said.json()["text"] == "http:zoe"

    def test_cron_fires_and_does_nothing_else(self, server: Server):
        cron = bearer(CRON_TOKEN)
        assert server.post("/admin/schedules/tick", headers=cron).status == 200
        for (method, path), action in NEEDS.items():
            answer = server.request(method, path, headers=cron)
            assert problem(answer) == (403, "forbidden")
            assert action in answer.json()["detail"]
        assert server.post("/admin/schedules/nightly/fire", headers=cron).status == 404

    def test_whoami_is_the_actor_and_its_grants_one_a_line(self, bot: Bot):
        program = Bot(bot.server, TOKENS["ci"])
        assert program.command("whoami")["text"] == "http:ci", "programs have no floor"
        said = {"channel": "web:general", "text": "whoami"}
        run = bot.server.post("/api/chat", said, headers=program.session).json()["run_id"]
        floor = ["schedule:read", "job:write", "run:read", "agent:run:research"]
        assert bot.ended(run)["output"].splitlines() == ["web:ci", *floor]
        assert bot.command("whoami")["text"].splitlines() == ["http:admin", "all"]


MALFORMED = [
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"nobody asked": 1}',
    b'{"text": 5, "name": 5, "token": 5, "changes": 5}',
    b'{"text": "a", "text": "b"}',
    b'{"text": "\\ud800"}',
    b'{"text": NaN}',
    b"[" * 50_000,
]


class TestErrors:
    @pytest.mark.parametrize("body", MALFORMED, ids=lambda body: repr(body[:30]))
    def test_a_malformed_body_is_400(self, server: Server, session: dict[str, str], body: bytes):
        admin = bearer(TOKENS["admin"])
        for method, path, headers in [
            ("POST", "/ingress", admin),
            ("POST", "/admin/command", admin),
            ("POST", "/admin/schedules", admin),
            ("PUT", "/admin/config/org", admin),
            ("POST", "/api/session", {}),
            ("POST", "/api/chat", session),
        ]:
            answer = server.request(method, path, data=body, headers=headers)
            assert problem(answer) == (400, "bad_request"), path

    def test_over_256_kib_is_413_and_256_kib_is_not(self, server: Server):
        room = 256 * KIB - len(b'{"text":""}')
        for letters, status in ((room, 422), (room + 1, 413)):
            body = b'{"text":"' + b"x" * letters + b'"}'
            answer = server.request("POST", "/ingress", data=body, headers=bearer(TOKENS["ci"]))
            assert answer.status == status

    def test_methods_and_addresses(self, bot: Bot):
        admin, server = bearer(TOKENS["admin"]), bot.server
        answer = server.put("/admin/schedules", {}, headers=admin)
        assert problem(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, HEAD, POST"
        assert problem(server.get("/admin/nothing", headers=admin)) == (404, "not_found")
        head = server.request("HEAD", "/admin/schedules", headers=admin)
        assert (head.status, head.body) == (200, b"")

    def test_names_come_percent_encoded(self, bot: Bot):
        bot.add("nightly-audit")
        assert bot.get("/admin/schedules/nightly%2Daudit").json()["name"] == "nightly-audit"
        for path in ("a%2Fb", "N%C3%A9", "%F0%9F%98%80"):
            assert problem(bot.get(f"/admin/schedules/{path}")) == (404, "no_schedule")
        for path in ("%zz", "%ff", "a%00b"):
            assert bot.get(f"/admin/schedules/{path}").status in (400, 404)

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/admin/schedules/preview", 400),
            ("/admin/schedules/preview?cron=0+9+*+*+*&n=51", 422),
            ("/admin/schedules/preview?cron=0+9+*+*+*&n=0", 422),
            ("/admin/schedules/preview?cron=0+9+*+*+*&from=soon", 422),
            ("/admin/schedules/preview?cron=0+9+*+*+*&zone=Mars", 422),
            ("/admin/schedules/preview?cron=0+9+*+*+*&from=2026-12-01T09:00:00%2B01:00", 200),
            ("/admin/schedules/keep-alive/firings?limit=-1", 422),
            ("/admin/schedules/keep-alive/firings?before=never", 422),
            ("/admin/runs?state=asleep", 422),
            ("/admin/runs?limit=many", 422),
            ("/admin/runs/no-such-run", 404),
            ("/admin/config/No-Tier", 404),
        ],
    )
    def test_a_query_that_is_refused(self, bot: Bot, path: str, status: int):
        assert bot.get(path).status == status

    def test_a_document_is_swapped_under_its_version(self, bot: Bot):
        def put(version: Any, changes: Any) -> Answer:
            body = {"expectedVersion": version, "changes": changes}
            return bot.server.put("/admin/config/org", body, token=bot.token)

        version = bot.document()["version"]
        won = put(version, {"note": "a"})
        assert (won.status, won.json()["version"]) == (200, version + 1)
        for stale in (version, version + 2, -1):
            lost = put(stale, {"note": "b"})
            assert problem(lost)[0] in ((409,) if stale >= 0 else (400, 409, 422))
        assert put(version, {"note": "b"}).json()["version"] == version + 1
        assert bot.document()["entries"]["note"] == "a"
        for wrong in (str(version), None, True, 1.5):
            assert problem(put(wrong, {"note": "b"})) == (400, "bad_request")
        assert problem(put(version + 1, {"zone": "Mars"})) == (422, "bad_zone")
        assert problem(put(version + 1, {"a key": 1})) == (422, "bad_key")


class TestSurfaces:
    """One command, one meaning and one code: JSON, `/admin/command`, the web chat, `/ingress`."""

    @pytest.fixture
    def add(self, bot: Bot) -> Callable[..., list[tuple[str, str | None]]]:
        """Add the same schedule in four ways, and tell how each ended."""

        def add(
            text: str, channel: str = "web:general", name: str = "row"
        ) -> list[tuple[str, str | None]]:
            made = bot.try_add(f"{name}-1", channel=channel, text=text)
            typed = bot.command(in_chat_form(f"{name}-2", text, channel))
            chat = {"channel": "web:general", "text": in_chat_form(f"{name}-3", text, channel)}
            said = bot.server.post("/api/chat", chat, headers=bot.session)
            run = bot.ended(said.json()["run_id"]) if said.status == 202 else {"state": "refused"}
            sent = bot.post("/ingress", {"text": in_chat_form(f"{name}-4", text, channel)}).json()
            return [
                ("ok" if made.status == 201 else "refused", made.json().get("code")),
                (typed["outcome"], typed.get("code")),
                (run["state"], run.get("code") or said.json().get("code")),
                (sent.get("state", "refused"), sent.get("code")),
            ]

        return add

    @pytest.mark.parametrize("text", ["", " \n ", "x" * 4_001, "a\0b"], ids=lambda t: repr(t[:4]))
    def test_a_text_that_is_empty_or_too_long(self, add: Callable[..., Any], text: str):
        assert add(text) == [("refused", "bad_text")] * 4

    def test_a_text_of_four_thousand_characters(self, add: Callable[..., Any], bot: Bot):
        assert add("x" * 4_000) == [("ok", None)] * 4
        assert [len(bot.row(f"row-{way}")["text"]) for way in (1, 2, 3, 4)] == [4_000] * 4

    def test_a_channel_that_cannot_open_a_thread(self, add: Callable[..., Any]):
        assert add("whoami", channel="http:ci") == [("refused", "channel_cannot_open_thread")] * 4

    def test_what_chat_clients_make_of_quotes_and_dashes(self, bot: Bot):
        said = (
            "schedule add nightly–audit “0 9 * * 1–5” in web:ops thread standing\u00a0"
            "zone Europe/Berlin window 2h grants agent:ship on acme/api, run:read: "
            "don’t “stop” — ok"
        )
        assert bot.chat(said)["state"] == "ok"
        row = bot.row("nightly-audit")
        assert (row["cron"], row["channel"], row["thread"]) == (
            "0 9 * * 1-5",
            "web:ops",
            "standing",
        )
        assert (row["zone"], row["window"]) == ("Europe/Berlin", "2h")
        assert row["grants"] == ["agent:ship on acme/api", "run:read"]
        assert row["text"] == "don’t “stop” — ok", "what follows the colon is as it was written"

    def test_the_header_ends_at_a_colon_with_white_space(self, bot: Bot):
        assert (
            bot.command('schedule add one "0 9 * * *" in web:ops:\nfirst: second')["outcome"]
            == "ok"
        )
        assert (bot.row("one")["channel"], bot.row("one")["text"]) == ("web:ops", "first: second")
        refused = bot.command('schedule add two "0 9 * * *" in web:ops:first')
        assert refused["code"] == "bad_command"
        assert "schedule add NAME" in refused["text"], "with the usage"

    @pytest.mark.parametrize(
        ("text", "usage"),
        [
            ("schedule", "schedule add NAME"),
            ("schedul list", "schedule list"),
            ("schedule list more", "schedule list"),
            ("schedule preview 0 9 * * *", 'schedule preview "CRON" [zone ZONE]'),
            ("config set zone", "config set KEY VALUE"),
            ("", "help [COMMAND]"),
        ],
    )
    def test_a_malformed_command_answers_with_the_nearest_usage(
        self, bot: Bot, text: str, usage: str
    ):
        told = bot.command(text)
        assert (told["outcome"], told["code"]) == ("refused", "bad_command")
        assert usage in told["text"]


class TestSession:
    def test_the_cookie_is_out_of_reach_of_pages(self, server: Server):
        answer = server.post("/api/session", {"token": TOKENS["ci"]})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert answer.json()["actor"] == "web:ci"
        for wrong in ("", "wrong", CRON_TOKEN, INTERNAL_KEY):
            assert server.post("/api/session", {"token": wrong}).status == 401

    def test_a_write_without_its_csrf_defence_is_refused(
        self, server: Server, session: dict[str, str]
    ):
        said = {"channel": "web:general", "text": "whoami"}
        bare = {"cookie": session["cookie"]}
        assert problem(server.post("/api/chat", said, headers=bare)) == (403, "bad_csrf")
        foreign = {**session, "origin": "https://elsewhere.example"}
        assert problem(server.post("/api/chat", said, headers=foreign)) == (403, "bad_csrf")
        own = {**session, "origin": server.url}
        assert server.post("/api/chat", said, headers=own).status == 202
        assert server.get("/api/channels", headers=bare).status == 200, "reading needs none"

    def test_a_forged_cookie_is_nobody(self, server: Server, session: dict[str, str]):
        forged = {"cookie": session["cookie"][:-2] + "xx"}
        assert problem(server.get("/api/channels", headers=forged)) == (401, "unauthorized")

    def test_a_thread_is_read_by_its_key_encoded_or_not(self, bot: Bot, session: dict[str, str]):
        said = {"channel": "web:general", "text": "whoami"}
        answer = bot.server.post("/api/chat", said, headers=session).json()
        bot.ended(answer["run_id"])
        for key in (quote(answer["thread"], safe=""), answer["thread"]):
            read = bot.server.get(f"/api/threads/{key}", headers=session)
            assert read.status == 200, key
            assert [m["text"] for m in read.json()["messages"]] == ["whoami", "web:admin\nall"]


class TestAtOnce:
    def test_adds_of_different_names_are_all_stored(self, bot: Bot):
        answers = at_once([lambda n=n: bot.try_add(f"row-{n}") for n in range(10)])
        assert [answer.status for answer in answers] == [201] * 10

    def test_of_adds_of_one_name_one_is_stored(self, bot: Bot):
        answers = at_once([lambda: bot.try_add("same")] * 5)
        codes = sorted(answer.json().get("code", "stored") for answer in answers)
        assert codes == ["schedule_exists"] * 4 + ["stored"]

    def test_an_add_while_ticks_write_the_document(self, bot: Bot):
        bot.write_rows(
            {"name": f"due-{n}", "made": "2026-09-01T02:00:00Z", "cron": "* * * * *"}
            for n in range(3)
        )
        works = [lambda n=n: bot.try_add(f"new-{n}").status for n in range(4)]
        ticks = [bot.tick] * 4
        assert at_once([*works, *ticks])[:4] == [201] * 4

    def test_presses_of_fire_dispatch_a_missed_minute_once(self, bot: Bot):
        bot.server.set_clock("2026-09-02T04:01:00Z")
        claim = {"lastFiredAt": ms("2026-09-02T04:00:02Z"), "lastDueAt": ms("2026-09-02T04:00:00Z")}
        row = stored("missed", made="2026-09-01T00:00:00Z", cron="0 4 * * *", **claim)
        bot.write({"schedules.missed": row})
        last = bot.last("missed")
        assert last is not None and last["state"] == "claimed_not_started"
        assert bot.tick()["due"] == 0, "a claim is not tried again by itself"

        answers = at_once([lambda: bot.fire("missed")] * 5)

        assert [answer.status for answer in answers] == [202] * 5
        due = [run for run in bot.runs(name="missed") if run["due_at"] is not None]
        assert [run["due_at"] for run in due] == ["2026-09-02T04:00:00+00:00"]
        assert (due[0]["trigger"], due[0]["by"]) == ("refire", "http:admin")
        assert bot.row("missed")["lastDueAt"] == claim["lastDueAt"]


class TestFirings:
    def test_pages_lose_nothing_that_happened_within_one_second(self, bot: Bot):
        bot.add("busy")
        fired = {bot.fire("busy").json()["run_id"] for _ in range(4)}
        until(lambda: len(bot.firings("busy")) == 4)
        seen: list[str] = []
        page = bot.firings("busy", limit=1)
        while page and len(seen) < 10:
            seen.append(page[0]["run_id"])
            page = bot.firings("busy", limit=1, before=page[0]["claimed_at"])
        assert (len(seen), set(seen)) == (4, fired)
