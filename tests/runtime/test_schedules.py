"""Stored schedules on the real runtime: refusals, states, and what a tick makes of each row."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.runtime.bot import Bot, at_once, ms, stored
from tests.runtime.server import Answer, Server
from tests.runtime.world import until

TOKENS = {"admin": "token-of-admin", "ann": "token-of-ann"}
DAY = 86_400_000


class Gate:
    """A GitHub without advisories, that answers only while it is open."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                gate.opened.wait(30)
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(b"[]")

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.opened.set()
        self._server.shutdown()


@pytest.fixture(scope="module")
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.close()


@pytest.fixture(scope="module")
def server(start_server: Callable[..., Server], gate: Gate) -> Server:
    return start_server(
        vars={
            "INGRESS_TOKENS": json.dumps(TOKENS),
            "ADMINS": "http:admin,web:admin",
            "GITHUB_API_URL": gate.url,
            "GITHUB_TOKEN": "token-of-the-gate",
        }
    )


@pytest.fixture(scope="module")
def running_bot(server: Server) -> Bot:
    return Bot(server, TOKENS["admin"])


@pytest.fixture
def bot(running_bot: Bot, gate: Gate) -> Bot:
    """The bot without a schedule, an hour before the first is due."""
    gate.opened.set()
    running_bot.quiet()
    running_bot.clear()
    running_bot.server.set_clock("2026-09-01T03:00:00Z")
    return running_bot


@pytest.fixture
def ann(bot: Bot) -> Bot:
    """A person who may add schedules and read one repository, and no more."""
    bot.write({f"grants.{surface}:ann": ["schedule:write"] for surface in ("http", "web")})
    bot.write({"grants.http:ann": ["schedule:write", "agent:run:research on acme/api"]})
    return Bot(bot.server, TOKENS["ann"])


def problem(answer: Answer) -> tuple[int, str]:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == answer.status
    assert len(body["detail"]) > 10, "a sentence that says what to do"
    return answer.status, body["code"]


REFUSALS: dict[str, tuple[int, str, dict[str, Any]]] = {
    "a name that exists": (409, "schedule_exists", {"name": "taken"}),
    "a name that exists in other letters": (409, "schedule_exists", {"name": "TAKEN"}),
    "a name of the catalog": (409, "schedule_exists", {"name": "keep-alive"}),
    "a name with other characters": (422, "bad_name", {"name": "not_a_name"}),
    "a name that is too long": (422, "bad_name", {"name": "n" * 64}),
    "an hour out of range": (422, "bad_cron", {"cron": "0 24 * * *"}),
    "six fields": (422, "bad_cron", {"cron": "0 0 3 * * *"}),
    "an alias": (422, "bad_cron", {"cron": "@daily"}),
    "a date that never comes": (422, "never_fires", {"cron": "0 3 30 2 *"}),
    "an unknown zone": (422, "bad_zone", {"zone": "Mars/Olympus"}),
    "a window of nothing": (422, "bad_window", {"window": "0h"}),
    "a thread of another kind": (422, "bad_thread", {"thread": "sometimes"}),
    "no such channel": (422, "no_channel", {"channel": "web:nowhere"}),
    "no such surface": (422, "no_channel", {"channel": "pager:7"}),
    "a grant that cannot be read": (422, "bad_grant", {"grants": ["agent:run:research on"]}),
}


class TestAddRefuses:
    @pytest.fixture
    def bot(self, bot: Bot) -> Bot:
        bot.add("taken")
        return bot

    @pytest.mark.parametrize("case", REFUSALS)
    def test_with_the_same_code_on_every_surface(self, bot: Bot, case: str):
        status, code, wrong = REFUSALS[case]
        row = {"name": "new", "cron": "0 3 * * *", "channel": "web:ops", "text": "whoami"} | wrong
        before = bot.document()["version"]

        assert problem(bot.try_add(**row)) == (status, code)
        typed = bot.command(in_chat_form(**row))
        assert (typed["outcome"], typed["code"]) == ("refused", code)
        said = bot.chat(in_chat_form(**row))
        assert (said["state"], said["code"]) == ("refused", code)
        assert said["output"] == typed["text"], "the same words"
        assert bot.document()["version"] == before, "nothing was written"

    def test_the_field_of_the_cron_is_named(self, bot: Bot):
        detail = bot.try_add("new", cron="0 3 * 13 *").json()["detail"]
        assert "month" in detail

    def test_an_empty_text_and_one_that_is_too_long(self, bot: Bot):
        for text in ("", " \n ", "x" * 4_001):
            assert problem(bot.try_add("new", text=text)) == (422, "bad_text")

    def test_a_grant_that_the_author_does_not_hold(self, bot: Bot, ann: Bot):
        grants = ["agent:run:research on acme/api", "agent:ship on acme/api"]
        answer = ann.try_add("anns", grants=grants)
        assert problem(answer) == (422, "grant_not_held")
        assert "agent:ship on acme/api" in answer.json()["detail"]
        assert ann.try_add("anns", grants=grants[:1]).status == 201
        assert bot.row("anns")["createdBy"] == "http:ann"

    def test_whoever_may_not_write_schedules(self, bot: Bot):
        nobody = Bot(bot.server, TOKENS["ann"])
        bot.write({"grants.http:ann": None, "grants.web:ann": None})
        answer = nobody.try_add("anns")
        assert problem(answer) == (403, "forbidden")
        assert "schedule:write" in answer.json()["detail"]
        assert nobody.command(in_chat_form("anns"))["code"] == "forbidden"
        assert nobody.server.post("/admin/schedules", {}, token="wrong").status == 401

    def test_a_field_that_is_not_a_rows(self, bot: Bot):
        for field, value in (("colour", "red"), ("enabled", "no"), ("createdBy", "web:root")):
            answer = bot.try_add("new", **{field: value})
            assert problem(answer) == (400, "bad_request")
            assert field in answer.json()["detail"]

    def test_the_hundred_and_first(self, bot: Bot):
        names = [f"row-{number}" for number in range(100)]
        bot.clear()
        bot.write_rows({"name": name, "made": "2026-09-01T00:00:00Z"} for name in names[:99])
        added = at_once([lambda n=n: bot.try_add(f"last-{n}") for n in range(3)])
        assert sorted(answer.status for answer in added) == [201, 422, 422]
        assert problem(bot.try_add("one-more")) == (422, "too_many_schedules")
        bot.remove("row-0")
        assert bot.try_add("one-more").status == 201


def in_chat_form(
    name: str,
    cron: str = "0 3 * * *",
    channel: str = "web:ops",
    text: str = "whoami",
    **options: Any,
) -> str:
    grants = options.pop("grants", None)
    clauses = [f"{word} {value}" for word, value in options.items()]
    clauses += [f"grants {', '.join(grants)}"] if grants else []
    return f"schedule add {' '.join([name, json.dumps(cron), 'in', channel, *clauses])}: {text}"


class TestAdd:
    def test_repeats_the_row_in_one_sentence_with_its_zone_and_next_three_fires(self, bot: Bot):
        row = bot.add("morning", cron="30 8 * * 1-5", zone="Europe/Berlin", window="2h")
        assert (row["zone"], row["window"], row["thread"]) == ("Europe/Berlin", "2h", "new")
        assert "08:30" in row["describe"] and "Berlin" in row["describe"]
        assert row["next"] == [
            "2026-09-01T08:30:00+02:00",
            "2026-09-02T08:30:00+02:00",
            "2026-09-03T08:30:00+02:00",
        ]
        said = bot.command('schedule add other "30 8 * * *" in web:ops: whoami')["text"]
        assert "08:30" in said and "2026-09-01T08:30:00+00:00" in said

    def test_the_organisations_zone_is_the_default(self, bot: Bot):
        bot.command("config set zone Asia/Kolkata")
        assert bot.add("morning")["zone"] == "Asia/Kolkata"
        bot.command("config unset zone")
        assert bot.add("evening")["zone"] == "UTC"

    def test_a_name_that_is_used_again_is_a_new_row(self, bot: Bot):
        first = bot.add("nightly", cron="0 4 * * *")
        run_id = bot.tick("2026-09-01T04:00:01Z")["started"][0]["run_id"]
        bot.ended(run_id)
        assert bot.remove("nightly").status == 200
        bot.server.set_clock("2026-09-01T03:59:00Z")
        second = bot.add("nightly", cron="0 4 * * *")
        assert second["id"] != first["id"]
        assert bot.last("nightly") is None, "the old row's firing is not its"
        (started,) = bot.tick("2026-09-01T04:00:01Z")["started"]
        assert started["run_id"] != run_id


class TestDue:
    def test_an_hour_of_missed_ticks_is_one_run(self, bot: Bot):
        bot.add("minutely", cron="* * * * *")
        bot.tick("2026-09-01T04:00:02Z")
        tick = bot.tick("2026-09-01T05:00:30Z")
        assert tick["claimed"] == ["minutely"]
        run = bot.ended(tick["started"][0]["run_id"])
        assert run["due_at"] == "2026-09-01T05:00:00+00:00"
        last = bot.last("minutely")
        assert last is not None
        assert (last["state"], last["coalesced"]) == ("ok", 59)
        assert bot.tick("2026-09-01T05:00:59Z")["due"] == 0

    def test_a_minute_older_than_the_window_is_skipped_and_recorded(self, bot: Bot):
        bot.add("late", cron="0 4 * * *", window="2h")
        tick = bot.tick("2026-09-01T06:00:01Z")
        assert (tick["skipped"], tick["claimed"], tick["started"]) == (["late"], [], [])
        last = bot.last("late")
        assert last is not None
        assert (last["state"], last["run_id"]) == ("skipped_stale", None)
        assert last["due_at"] == "2026-09-01T04:00:00+00:00"
        assert [firing["state"] for firing in bot.firings("late")] == ["skipped_stale"]
        assert bot.tick("2026-09-01T06:01:00Z")["due"] == 0
        assert bot.tick("2026-09-02T05:59:00Z")["claimed"] == ["late"], "within its window"

    def test_a_row_that_no_longer_parses_is_paused_and_announced_once(self, bot: Bot):
        bot.add("good", cron="0 4 * * *")
        bad = stored("bad", made="2026-09-01T00:00:00Z", cron="0 4 * *", channel="web:ops")
        bot.write({"schedules.bad": bad, "schedules.worse": "not a row"})
        before = {thread["key"] for thread in bot.threads("web:ops")}

        tick = bot.tick("2026-09-01T04:00:01Z")

        assert (tick["claimed"], tick["broken"]) == (["good"], ["bad", "worse"])
        shown = bot.schedules()["bad"]
        assert not shown["enabled"] and "bad_cron" in shown["paused_reason"]
        assert bot.tick("2026-09-01T04:01:00Z")["broken"] == []
        titles = [t["title"] for t in bot.threads("web:ops") if t["key"] not in before]
        assert len(titles) == 1 and titles[0].startswith("The schedule bad cannot be read")
        assert bot.remove("bad").status == bot.remove("worse").status == 200

    def test_a_base_in_the_future_is_repaired_reported_and_not_silent(self, bot: Bot):
        bot.add("nightly", cron="0 4 * * *")
        future = ms("2026-09-01T03:00:00Z") + 300 * DAY
        bot.write({"schedules.nightly": {**bot.row("nightly"), "lastFiredAt": future}})
        tick = bot.tick("2026-09-01T03:30:00Z")
        assert (tick["repaired"], tick["due"]) == (["nightly"], 0)
        assert bot.tick("2026-09-01T04:00:01Z")["claimed"] == ["nightly"]

    def test_a_row_that_is_added_off_waits_for_its_resume(self, bot: Bot):
        bot.server.set_clock("2026-09-01T02:59:30Z")
        assert bot.add("off", cron="* * * * *", enabled=False)["enabled"] is False
        assert bot.tick("2026-09-01T03:00:30Z")["claimed"] == []
        assert bot.command("schedule resume off")["outcome"] == "ok"
        assert bot.tick("2026-09-01T03:01:30Z")["claimed"] == ["off"]

    def test_what_a_pause_missed_is_not_caught_up(self, bot: Bot):
        bot.add("closed")
        paused = bot.post("/admin/schedules/closed/pause", {"reason": "the office is closed"})
        assert paused.status == 200
        shown = bot.schedules()["closed"]
        assert (shown["enabled"], shown["paused_reason"]) == (False, "the office is closed")
        assert shown["next"] == []
        assert bot.tick("2026-09-01T04:00:01Z")["due"] == 0
        bot.server.set_clock("2026-09-01T05:30:00Z")
        assert bot.post("/admin/schedules/closed/resume").json()["enabled"]
        assert bot.tick("2026-09-01T05:31:00Z")["due"] == 0
        tick = bot.tick("2026-09-01T06:00:01Z")
        assert tick["claimed"] == ["closed"]
        last = bot.last("closed")
        assert last is not None and last["coalesced"] == 0


class TestAWritingText:
    def test_is_refused_at_admission_and_handed_back(self, bot: Bot):
        bot.add("kept", cron="0 9 * * *")
        bot.add("writer", cron="0 4 * * *", text="schedule remove kept", grants=["all"])

        tick = bot.tick("2026-09-01T04:00:01Z")

        assert (tick["claimed"], tick["started"]) == (["writer"], [])
        assert tick["refused"] == [{"name": "writer", "code": "schedule_write"}]
        last = bot.last("writer")
        assert last is not None
        assert (last["state"], last["code"]) == ("refused", "schedule_write")
        run = bot.told(last["run_id"])
        assert (run["state"], run["effect"], run["started_at"]) == ("refused", "write", None)
        assert run["delivery"] == "delivered"
        assert "\n```\nschedule remove kept\n```" in bot.thread(run["thread"])[-1]
        again = bot.told(bot.fire("writer").json()["run_id"])
        assert (again["state"], again["code"]) == ("refused", "schedule_write")
        assert "kept" in bot.schedules(), "nothing was executed, nor by a press of Fire"


class TestFire:
    def test_by_hand_runs_now_and_leaves_the_slot(self, bot: Bot):
        bot.add("by-hand", cron="0 4 * * *")
        bot.tick("2026-09-01T04:00:01Z")
        before = bot.row("by-hand")
        bot.server.set_clock("2026-09-01T04:10:00Z")
        fired = bot.fire("by-hand")
        assert fired.status == 202
        run = bot.ended(fired.json()["run_id"])
        assert (run["trigger"], run["by"], run["due_at"]) == ("hand", "http:admin", None)
        assert run["actor"] == "schedule:by-hand"
        slot = ("lastFiredAt", "lastDueAt", "lastRunId")
        after = bot.row("by-hand")
        assert [after[key] for key in slot] == [before[key] for key in slot]
        last = bot.last("by-hand")
        assert last is not None and last["trigger"] == "hand"

    def test_each_press_by_hand_is_a_run_of_its_own(self, bot: Bot):
        bot.add("pressed", cron="0 4 * * *")
        runs = {bot.ended(bot.fire("pressed").json()["run_id"])["id"] for _ in range(2)}
        assert len(runs) == 2

    def test_a_catalog_schedule_and_an_unknown_one_are_refused(self, bot: Bot):
        assert problem(bot.fire("keep-alive")) == (409, "catalog_schedule")
        assert problem(bot.fire("nobody")) == (404, "no_schedule")
        assert problem(bot.remove("keep-alive")) == (409, "catalog_schedule")
        assert problem(bot.get("/admin/schedules/nobody")) == (404, "no_schedule")


class TestARunInFlight:
    @pytest.fixture
    def run_id(self, bot: Bot, gate: Gate) -> str:
        """A run of `audit`, in its standing thread, that waits for GitHub to answer."""
        gate.opened.clear()
        bot.add(
            "audit",
            text="advisories in acme/api",
            thread="standing",
            grants=["agent:run:research on acme/api"],
        )
        run_id = bot.tick("2026-09-01T04:00:01Z")["started"][0]["run_id"]
        until(lambda: bot.run(run_id)["started_at"])
        until(lambda: "threadKey" in bot.row("audit"))
        return run_id

    def test_is_shown_as_running(self, bot: Bot, gate: Gate, run_id: str):
        last = bot.last("audit")
        assert last is not None
        assert (last["state"], last["run_id"]) == ("running", run_id)
        gate.opened.set()
        assert bot.ended(run_id)["state"] == "ok"

    def test_keeps_its_standing_thread_busy(self, bot: Bot, gate: Gate, run_id: str):
        assert problem(bot.fire("audit")) == (409, "thread_busy")
        tick = bot.tick("2026-09-01T05:00:01Z")
        assert tick["refused"] == [{"name": "audit", "code": "thread_busy"}]
        assert bot.tick("2026-09-01T05:01:00Z")["due"] == 0, "not before its next minute"
        last = bot.last("audit")
        assert last is not None
        assert (last["state"], last["code"]) == ("refused", "thread_busy")
        gate.opened.set()
        bot.ended(run_id)
        (started,) = bot.tick("2026-09-01T06:00:01Z")["started"]
        assert bot.ended(started["run_id"])["thread"] == bot.run(run_id)["thread"]

    def test_ends_undisturbed_when_its_row_is_removed_and_does_not_bring_it_back(
        self, bot: Bot, gate: Gate, run_id: str
    ):
        assert bot.remove("audit").status == 200
        assert bot.tick("2026-09-01T05:00:01Z")["due"] == 0
        gate.opened.set()
        run = bot.told(run_id)
        assert (run["state"], run["delivery"]) == ("ok", "delivered")
        assert "audit" not in bot.schedules()
        bot.watch()
        assert "audit" not in bot.schedules()


class TestHistory:
    def test_firings_come_newest_first_and_in_pages(self, bot: Bot):
        bot.add("paged")
        for hour in range(4, 9):
            (started,) = bot.tick(f"2026-09-01T{hour:02}:00:01Z")["started"]
            bot.ended(started["run_id"])
        due = [firing["due_at"][11:13] for firing in bot.firings("paged")]
        assert due == ["08", "07", "06", "05", "04"]
        page = bot.firings("paged", limit=2)
        rest = bot.firings("paged", limit=2, before=page[-1]["claimed_at"])
        assert [firing["due_at"][11:13] for firing in (*page, *rest)] == ["08", "07", "06", "05"]
        for query in ({"limit": 0}, {"limit": 201}, {"before": "yesterday"}):
            answer = bot.get("/admin/schedules/paged/firings", **query)
            assert problem(answer) == (422, "bad_value")

    def test_preview_says_when_it_would_fire_strictly_after_a_time(self, bot: Bot):
        asked = {"cron": "30 2 * * *", "zone": "Europe/Berlin", "from": "2026-10-24T02:30:00+02:00"}
        answer = bot.preview(**asked, n=2).json()
        assert answer["next"] == ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]
        assert len(bot.preview(cron="* * * * *", n=50).json()["next"]) == 50
        for wrong, code in (({"n": 51}, "bad_value"), ({"cron": "H 3 * * *"}, "bad_cron")):
            assert problem(bot.preview(**{**asked, **wrong})) == (422, code)


class TestACronEvent:
    def test_is_the_same_tick(self, bot: Bot):
        bot.add("nightly", cron="0 4 * * *")
        bot.server.set_clock("2026-09-01T04:00:01Z")
        bot.cron_tick()
        last = bot.last("nightly")
        assert last is not None
        assert bot.ended(last["run_id"])["trigger"] == "tick"

    def test_of_monday_morning_dispatches_the_catalogs_own_text(self, bot: Bot):
        time_ms = ms("2026-09-07T06:00:00Z")
        bot.server.set_clock("2026-09-07T06:00:02Z")
        for _ in range(2):
            assert bot.server.fire("0 6 * * MON", time_ms).status == 200
        (run,) = bot.runs(name="self-improvement")
        assert (run["actor"], run["source"]) == ("schedule:self-improvement", "catalog")
        assert run["due_at"] == "2026-09-07T06:00:00+00:00"
