from __future__ import annotations

from typing import Any

import pytest

from bot.runs import ledger
from bot.words import State
from tests.support.drive import run
from tests.unit.builders import entry, ms
from tests.unit.http.client import Client, office

NEW = {
    "name": "nightly-audit",
    "cron": "0 3 * * *",
    "channel": "web:ops",
    "text": "advisories in acme/app",
}


def root() -> Client:
    return office().signed_in("token-of-root")


def with_rows(**rows: Any) -> Client:
    client = root()
    client.house.config.put(
        {f"schedules.{name}": entry(name, **values) for name, values in rows.items()}
    )
    return client


def test_a_schedule_is_added_shown_listed_and_removed() -> None:
    client = root()
    grants = ["agent:run:research on acme/app"]
    added = client.post(
        "/admin/schedules", {**NEW, "zone": "Europe/Berlin", "window": "2h", "grants": grants}
    )
    assert added.status == 201
    row = added.json
    assert (row["name"], row["zone"], row["window"], row["grants"]) == (
        "nightly-audit",
        "Europe/Berlin",
        "2h",
        grants,
    )
    assert row["created_by"] == "web:root"
    assert len(row["next"]) == 3
    assert row["describe"]
    shown = client.get("/admin/schedules/nightly-audit")
    assert (shown.status, shown.json["id"]) == (200, row["id"])
    listed = client.get("/admin/schedules").json["schedules"]
    assert [(each["kind"], each["name"]) for each in listed][-1] == ("stored", "nightly-audit")
    assert {each["kind"] for each in listed} == {"catalog", "stored"}
    assert client.send("DELETE", "/admin/schedules/nightly-audit").status == 200
    assert client.get("/admin/schedules/nightly-audit").code == "no_schedule"


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"name": "Bad Name"}, 422, "bad_name"),
        ({"cron": "* * * *"}, 422, "bad_cron"),
        ({"cron": "0 0 30 2 *"}, 422, "never_fires"),
        ({"zone": "Mars/Base"}, 422, "bad_zone"),
        ({"window": "2 hours"}, 422, "bad_window"),
        ({"thread": "old"}, 422, "bad_thread"),
        ({"grants": ["nosuch:thing"]}, 422, "bad_grant"),
        ({"channel": "web:nosuch"}, 422, "no_channel"),
        ({"channel": "http:ci"}, 422, "channel_cannot_open_thread"),
        ({"text": ""}, 422, "bad_text"),
        ({"text": "x" * 4001}, 422, "bad_text"),
        ({"name": "keep-alive"}, 409, "schedule_exists"),
    ],
)
def test_an_add_that_the_rules_refuse_is_the_problem_of_its_code(
    changed: dict[str, Any], status: int, code: str
) -> None:
    client = root()
    answer = client.post("/admin/schedules", {**NEW, **changed})
    assert (answer.status, answer.code) == (status, code)
    assert client.house.config.get().version == 0


def test_a_grant_that_the_author_lacks_is_not_given() -> None:
    client = office()
    client.house.config.put({"grants.http:ci": ["schedule:write"]})
    answer = client.bearer("token-of-ci").post(
        "/admin/schedules", {**NEW, "grants": ["agent:ship on acme/app"]}
    )
    assert (answer.status, answer.code) == (422, "grant_not_held")
    assert "agent:ship on acme/app" in answer.json["detail"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({**NEW, "enabled": 0}, "enabled"),
        ({**NEW, "id": "x"}, "'id'"),
        ({**NEW, "grants": "all"}, "grants"),
        ({**NEW, "grants": [1]}, "grants.0"),
        ({**NEW, "cron": 5}, "cron"),
        ({**NEW, "window": 2}, "window"),
        ({"name": "x"}, "channel is missing"),
    ],
)
def test_a_body_of_another_shape_is_malformed_and_the_field_is_named(body: Any, named: str) -> None:
    answer = root().post("/admin/schedules", body)
    assert (answer.status, answer.code) == (400, "bad_request")
    assert named in answer.json["detail"]


def test_a_schedule_that_is_added_off_fires_nothing_until_it_is_resumed() -> None:
    client = root()
    added = client.post("/admin/schedules", {**NEW, "cron": "* * * * *", "enabled": False})
    assert added.status == 201
    assert (added.json["enabled"], added.json["next"]) == (False, [])
    assert client.get("/admin/schedules/nightly-audit").json["enabled"] is False
    client.house.clock.advance(minutes=5)
    assert client.post("/admin/schedules/tick").json["due"] == 0
    resumed = client.post("/admin/schedules/nightly-audit/resume").json
    assert (resumed["enabled"], len(resumed["next"])) == (True, 3)
    assert client.post("/admin/schedules/tick").json["due"] == 0
    client.house.clock.advance(minutes=1)
    assert client.post("/admin/schedules/tick").json["claimed"] == ["nightly-audit"]


def test_a_minute_that_a_busy_thread_refuses_is_fired_by_the_next_press() -> None:
    client = with_rows(nightly={"thread": "standing"})
    live = client.post("/admin/schedules/nightly/fire").json["run_id"]
    claimed = ms("2026-03-02T03:00:00+00:00")
    claim = {"last_due_at": claimed, "last_fired_at": claimed, "last_claimed_at": claimed}
    row = entry("nightly", thread="standing", **claim)
    client.house.config.put({"schedules.nightly": row})
    busy = client.post("/admin/schedules/nightly/fire")
    assert (busy.status, busy.code) == (409, "thread_busy")
    last = client.get("/admin/schedules/nightly").json["last"]
    assert (last["state"], last["run_id"]) == ("claimed_not_started", None)
    ended = {"state": State.OK, "code": None, "output": "x", "now_ms": claimed}
    assert run(ledger.finish(client.house.db, live, **ended))
    fired = client.post("/admin/schedules/nightly/fire")
    assert (fired.status, fired.json["trigger"], fired.json["state"]) == (202, "refire", "running")


def test_a_schedule_named_preview_is_shown_where_there_is_no_expression() -> None:
    client = with_rows(preview={})
    shown = client.get("/admin/schedules/preview")
    assert (shown.status, shown.json["name"]) == (200, "preview")
    assert "describe" in client.get("/admin/schedules/preview?cron=0+3+*+*+*").json
    assert client.send("DELETE", "/admin/schedules/preview").status == 200
    assert client.get("/admin/schedules/preview").code == "bad_request"


def test_a_broken_row_is_shown() -> None:
    client = root()
    client.house.config.put({"schedules.bad": {**entry("bad"), "grants": [1]}})
    shown = client.get("/admin/schedules/bad")
    assert (shown.status, shown.json["grants"]) == (200, ["1"])
    assert shown.json["paused_reason"].startswith("cannot be read: grants")
    assert client.get("/admin/schedules/bad/firings").json == {"firings": []}
    assert shown.json in client.get("/admin/schedules").json["schedules"]


def test_the_firings_of_keep_alive_are_the_ticks() -> None:
    client = root()
    for _ in range(3):
        client.post("/admin/schedules/tick")
        client.house.background.finish()
        client.house.clock.advance(minutes=1)
    page = client.get("/admin/schedules/keep-alive/firings?limit=2").json["firings"]
    assert [each["due_at"][11:16] for each in page] == ["09:02", "09:01"]
    before = page[-1]["claimed_at"].replace("+", "%2B")
    rest = client.get(f"/admin/schedules/keep-alive/firings?before={before}").json["firings"]
    assert [each["due_at"][11:16] for each in rest] == ["09:00"]
    assert client.get("/admin/schedules/keep-alive").json["last"] == page[0]


def test_a_fire_by_hand_is_a_202_with_its_run() -> None:
    client = with_rows(nightly={})
    answer = client.post("/admin/schedules/nightly/fire")
    assert answer.status == 202
    assert answer.json["state"] == "running"
    assert client.house.engine.started == [answer.json["run_id"]]


def test_a_fire_into_a_live_standing_thread_is_busy() -> None:
    client = with_rows(nightly={"thread": "standing"})
    assert client.post("/admin/schedules/nightly/fire").status == 202
    answer = client.post("/admin/schedules/nightly/fire")
    assert (answer.status, answer.code) == (409, "thread_busy")


def test_a_pause_takes_a_reason_or_none_and_a_resume_takes_nothing() -> None:
    client = with_rows(nightly={})
    paused = client.post("/admin/schedules/nightly/pause", {"reason": "holidays"})
    assert paused.status == 200
    assert (paused.json["enabled"], paused.json["paused_reason"]) == (False, "holidays")
    resumed = client.post("/admin/schedules/nightly/resume")
    assert (resumed.status, resumed.json["enabled"]) == (200, True)
    assert client.post("/admin/schedules/nightly/pause").status == 200
    assert client.post("/admin/schedules/nightly/pause", {"reason": 1}).status == 400


@pytest.mark.parametrize("action", ["fire", "pause", "resume"])
def test_what_ships_in_code_is_not_changed(action: str) -> None:
    answer = root().post(f"/admin/schedules/keep-alive/{action}")
    assert (answer.status, answer.code) == (409, "catalog_schedule")


def preview(query: str) -> Any:
    return root().get(f"/admin/schedules/preview{query}")


def test_a_preview_says_what_an_expression_means_and_when_it_fires() -> None:
    answer = preview("?cron=0+3+*+*+*&zone=Europe/Berlin&from=2026-03-28T00:00:00Z&n=2")
    assert answer.status == 200
    assert answer.json["next"] == ["2026-03-28T03:00:00+01:00", "2026-03-29T03:00:00+02:00"]
    assert "Europe/Berlin" in answer.json["describe"]


def test_from_is_iso_or_milliseconds_and_strictly_before_what_follows() -> None:
    at = ms("2026-03-28T03:00:00+00:00")
    iso = preview("?cron=0+3+*+*+*&from=2026-03-28T04:00:00%2B01:00&n=1").json
    assert iso == preview(f"?cron=0+3+*+*+*&from={at}&n=1").json
    assert iso["next"] == ["2026-03-29T03:00:00+00:00"]


def test_without_more_a_preview_gives_three_fires_from_now() -> None:
    assert preview("?cron=0+10+*+*+*").json["next"] == [
        "2026-03-02T10:00:00+00:00",
        "2026-03-03T10:00:00+00:00",
        "2026-03-04T10:00:00+00:00",
    ]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 400, "bad_request"),
        ("?cron=0+3+*+*", 422, "bad_cron"),
        ("?cron=", 422, "bad_cron"),
        ("?cron=0+3+*+*+*&zone=x", 422, "bad_zone"),
        ("?cron=0+3+*+*+*&n=0", 422, "bad_value"),
        ("?cron=0+3+*+*+*&n=51", 422, "bad_value"),
        ("?cron=0+3+*+*+*&n=many", 422, "bad_value"),
        ("?cron=0+3+*+*+*&from=yesterday", 422, "bad_value"),
        ("?cron=0+3+*+*+*&from=999999999999999", 422, "bad_value"),
        ("?cron=0+3+*+*+*&from=-1", 422, "bad_value"),
        ("?cron=0+3+*+*+*&from=", 422, "bad_value"),
        ("?cron=0+3+*+*+*&cron=0+4+*+*+*", 400, "bad_request"),
    ],
)
def test_a_preview_refuses_what_it_cannot_read(query: str, status: int, code: str) -> None:
    answer = preview(query)
    assert (answer.status, answer.code) == (status, code)


def test_fifty_fires_are_the_most() -> None:
    assert len(preview("?cron=*/5+*+*+*+*&n=50").json["next"]) == 50


def test_the_tick_fires_what_is_due_with_the_cron_token_alone() -> None:
    base = ms("2026-11-30T00:00:00+00:00")
    client = with_rows(
        nightly={"cron": "0 9 * * *", "last_fired_at": base},
        later={"cron": "0 10 * * *", "last_fired_at": base},
    )
    client.house.clock.set("2026-11-30T09:00:00Z")
    cron = client.bearer("token-of-cron")
    answer = cron.post("/admin/schedules/tick")
    assert answer.status == 200
    report = answer.json
    assert (report["due"], report["claimed"], report["lost"]) == (1, ["nightly"], [])
    assert report["started"] == [{"name": "nightly", "run_id": client.house.engine.started[0]}]
    assert set(report) >= {"at", "refused", "skipped", "jobs", "ms"}
    assert set(report["jobs"]) == {"due", "claimed", "lost", "skipped", "stale", "started"}
    assert cron.post("/admin/schedules/tick", {}).json["due"] == 0


def test_firings_come_newest_first_and_page() -> None:
    client = with_rows(nightly={})
    run_ids: list[str] = []
    for _ in range(3):
        run_ids.append(client.post("/admin/schedules/nightly/fire").json["run_id"])
        client.house.clock.advance(minutes=1)
    shown = client.get("/admin/schedules/nightly/firings").json["firings"]
    assert [each["run_id"] for each in shown] == run_ids[::-1]
    assert (shown[0]["trigger"], shown[0]["by"]) == ("hand", "web:root")
    page = client.get("/admin/schedules/nightly/firings?limit=1").json["firings"]
    assert [each["run_id"] for each in page] == run_ids[:-2:-1]
    before = page[0]["claimed_at"].replace("+", "%2B")
    older = client.get(f"/admin/schedules/nightly/firings?before={before}").json["firings"]
    assert [each["run_id"] for each in older] == run_ids[-2::-1]


@pytest.mark.parametrize("query", ["?limit=0", "?limit=201", "?before=x", "?before="])
def test_a_bad_query_for_firings_is_refused(query: str) -> None:
    answer = with_rows(nightly={}).get(f"/admin/schedules/nightly/firings{query}")
    assert (answer.status, answer.code) == (422, "bad_value")


def test_ticks_are_counted() -> None:
    client = root()
    client.bearer("token-of-cron").post("/admin/schedules/tick")
    client.house.background.finish()
    ticks = client.get("/admin/ticks")
    assert ticks.status == 200
    assert (ticks.json["h24"]["count"], ticks.json["d30"]["count"]) == (1, 1)
    assert ticks.json["bounds"]["p95_passed"] is False


def test_a_page_that_polls_is_answered_304_until_something_changes() -> None:
    client = with_rows(nightly={"cron": "0 3 * * *"})
    first = client.get("/admin/schedules")
    seen = {"If-None-Match": first.headers["etag"]}
    again = client.get("/admin/schedules", headers=seen)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert again.headers["x-bot-time"] == "2026-03-02T09:00:00+00:00"
    client.post("/admin/schedules/nightly/pause", {"reason": "holidays"})
    changed = client.get("/admin/schedules", headers=seen)
    assert changed.status == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_a_last_firing_says_how_long_it_ran_and_in_which_thread() -> None:
    client = with_rows(nightly={"cron": "0 3 * * *"})
    house = client.house
    run_id = client.post("/admin/schedules/nightly/fire").json["run_id"]
    assert client.get("/admin/schedules/nightly").json["last"]["ran_ms"] is None
    assert run(ledger.begin(house.db, run_id, house.clock.now_ms()))
    assert run(ledger.set_thread(house.db, run_id, "web:ops/t1"))
    house.clock.advance(seconds=42)
    ended = {"state": State.OK, "code": None, "output": "done", "now_ms": house.clock.now_ms()}
    assert run(ledger.finish(house.db, run_id, **ended))
    last = client.get("/admin/schedules/nightly").json["last"]
    assert (last["state"], last["ran_ms"], last["thread"]) == ("ok", 42_000, "web:ops/t1")
    assert client.get("/admin/schedules/nightly/firings").json["firings"] == [last]


def test_strips_count_the_firings_and_the_ticks_of_a_span() -> None:
    client = with_rows(nightly={"created_at": ms("2026-03-02T09:00:00+00:00")})
    client.house.clock.set("2026-03-02T09:04:00Z")
    client.post("/admin/schedules/nightly/fire")
    client.post("/admin/schedules/tick")
    client.house.background.finish()
    day = client.get("/admin/strips?span=24h")
    assert day.json == {
        "from": "2026-03-01T09:10:00+00:00",
        "bucket_s": 600,
        "buckets": 144,
        "ticks": [[143, 1]],
        "firings": {"nightly": [[143, "running", 1, 0]]},
    }
    client.house.clock.set("2026-03-02T09:09:59Z")
    seen = {"If-None-Match": day.headers["etag"]}
    assert client.get("/admin/strips", headers=seen).status == 304
    month = client.get("/admin/strips?span=30d").json
    assert (month["from"], month["firings"]["nightly"][0][0]) == ("2026-01-31T12:00:00+00:00", 179)
    assert client.get("/admin/strips?span=1y").code == "bad_value"
