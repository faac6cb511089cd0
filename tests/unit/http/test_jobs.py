"""The jobs' routes, by both doors, and the caller's events."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from bot import events
from bot.commands.all import REGISTRY
from bot.dispatch.turn import run_turn
from bot.events import Event, EventKind
from bot.ports import EngineStatus, Fault
from bot.runs import ledger
from bot.words import Code, State
from tests.support.drive import Pause, run
from tests.support.turns import KeptSteps
from tests.unit.http.client import Answer, Client, office

OWNER = "web:ci"
"""Whom the session of ``signed_in()`` is."""


def bot() -> Client:
    return office(commands=REGISTRY)


def internal(client: Client) -> Client:
    return Client(client.house, {"X-Internal-Key": "key-of-internal"})


def job(**fields: Any) -> dict[str, Any]:
    made = {"name": "morning", "prompt": "whoami", "schedule": "*/30m", **fields}
    return {key: value for key, value in made.items() if value is not ...}


def add(client: Client, owner: str = OWNER, **fields: Any) -> dict[str, Any]:
    answer = internal(client).post("/jobs", {"userId": owner, **job(**fields)})
    assert answer.status == 201, answer
    return answer.json


BY_SESSION = "session"
BY_KEY = "key"


class Door:
    """The same four requests by a session and by the internal key."""

    def __init__(self, kind: str, client: Client | None = None):
        self.house = (client or bot()).house
        at = Client(self.house)
        self.kind = kind
        self.client = at.signed_in() if kind == BY_SESSION else internal(at)

    def post(self, **fields: Any) -> Answer:
        if self.kind == BY_SESSION:
            return self.client.post("/api/jobs", job(**fields))
        return self.client.post("/jobs", {"userId": OWNER, **job(**fields)})

    def list(self) -> list[dict[str, Any]]:
        path = "/api/jobs" if self.kind == BY_SESSION else f"/jobs?userId={OWNER}"
        answer = self.client.get(path)
        assert answer.status == 200, answer
        return answer.json["jobs"]

    def delete(self, job_id: str) -> Answer:
        if self.kind == BY_SESSION:
            return self.client.send("DELETE", f"/api/jobs?id={job_id}")
        return self.client.send("DELETE", "/jobs", {"userId": OWNER, "id": job_id})


@pytest.fixture(params=[BY_SESSION, BY_KEY])
def door(request: pytest.FixtureRequest) -> Door:
    return Door(request.param)


class TestBothDoors:
    def test_a_job_is_made_with_a_sentence_and_its_next_fires(self, door: Door):
        answer = door.post()
        assert answer.status == 201
        made = answer.json
        assert (made["user_id"], made["name"], made["prompt"]) == (OWNER, "morning", "whoami")
        assert (made["schedule"], made["run_at"], made["enabled"]) == ("*/30m", None, True)
        assert made["created_at"] == "2026-03-02T09:00:00+00:00"
        assert made["last_fired_at"] is None
        assert made["describe"] == "every 30 minutes"
        assert made["next"] == [
            "2026-03-02T09:30:00+00:00",
            "2026-03-02T10:00:00+00:00",
            "2026-03-02T10:30:00+00:00",
        ]
        assert made["text"].startswith(f"Job morning ({made['id']}) runs every 30 minutes: whoami")

    def test_a_one_shot_has_its_instant(self, door: Door):
        made = door.post(schedule=..., run_in_minutes=45).json
        assert (made["schedule"], made["run_at"]) == (None, "2026-03-02T09:45:00+00:00")

    def test_what_is_made_is_listed_and_deleted(self, door: Door):
        assert door.list() == []
        made = door.post().json
        (listed,) = door.list()
        assert listed == {key: made[key] for key in made if key != "text"}
        answer = door.delete(made["id"])
        assert (answer.status, answer.json) == (200, {"id": made["id"], "removed": True})
        assert door.list() == []
        again = door.delete(made["id"])
        assert (again.status, again.code) == (404, "not_found")

    def test_the_eleventh_is_429_with_its_number(self, door: Door):
        for n in range(10):
            assert door.post(name=f"job {n}").status == 201
        answer = door.post(name="job 10")
        assert (answer.status, answer.code) == (429, "too_many")
        assert "job limit reached (10)" in answer.json["detail"]
        assert len(door.list()) == 10

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"schedule": "*/0m"}, "bad_time"),
            ({"schedule": "daily@25:70"}, "bad_time"),
            ({"schedule": "daily@9:00"}, "bad_time"),
            ({"schedule": "daily@09:00:00"}, "bad_time"),
            ({"schedule": "*/99999999999m"}, "bad_time"),
            ({"schedule": "*/３０m"}, "bad_time"),
            ({"schedule": 30}, "bad_time"),
            ({"schedule": ...}, "bad_time"),
            ({"schedule": None}, "bad_time"),
            ({"run_in_minutes": 5}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": True}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": "5"}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": -5}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": 0}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": 1.5}, "bad_time"),
            ({"schedule": ..., "run_in_minutes": [5]}, "bad_time"),
            ({"prompt": "   "}, "bad_text"),
            ({"prompt": "x" * 20_000}, "bad_text"),
            ({"prompt": ...}, "bad_text"),
            ({"prompt": ["whoami"]}, "bad_text"),
            ({"name": ...}, "bad_name"),
            ({"name": ""}, "bad_name"),
            ({"name": "x" * 81}, "bad_name"),
        ],
    )
    def test_a_bad_value_is_422_with_the_reason(
        self, door: Door, fields: dict[str, Any], code: str
    ):
        answer = door.post(**fields)
        assert (answer.status, answer.code) == (422, code)
        assert answer.json["detail"].endswith(".")
        assert door.list() == []

    @pytest.mark.parametrize("number", ["1e400", "-1e400", "1e309", "NaN", "Infinity", "-Infinity"])
    def test_a_number_that_is_infinite_is_422(self, door: Door, number: str):
        path = "/api/jobs" if door.kind == BY_SESSION else "/jobs"
        who = b"" if door.kind == BY_SESSION else b'"userId": "web:ci", '
        body = b'{%s"name": "n", "prompt": "p", "run_in_minutes": %s}' % (who, number.encode())
        answer = door.client.post(path, body=body)
        assert (answer.status, answer.code) == (422, "bad_time")

    def test_an_unknown_field_is_400(self, door: Door):
        assert door.post(zone="UTC").status == 400

    def test_deleting_nothing_is_422(self, door: Door):
        path = "/api/jobs" if door.kind == BY_SESSION else "/jobs"
        body = None if door.kind == BY_SESSION else {"userId": OWNER}
        assert door.client.send("DELETE", path, body).status == 422


def test_the_two_doors_lead_to_the_same_jobs_and_refuse_in_the_same_words():
    session, key = Door(BY_SESSION), Door(BY_KEY)
    key = Door(BY_KEY, Client(session.house))
    made = session.post().json
    assert key.list() == session.list()
    assert made["id"] == key.list()[0]["id"]
    for fields in ({"schedule": "*/0m"}, {"prompt": " "}, {"run_in_minutes": 5}):
        assert session.post(**fields).json == key.post(**fields).json
    assert session.delete("nosuch").json == key.delete("nosuch").json


class TestOwnership:
    def test_anothers_job_is_404_whatever_is_asked_of_it(self):
        client = bot()
        made = add(client, "web:root")
        mine = client.signed_in()
        assert mine.get("/api/jobs").json == {"jobs": []}
        by_session = mine.send("DELETE", f"/api/jobs?id={made['id']}")
        key = internal(client)
        named = {"userId": OWNER, "id": made["id"]}
        by_key = key.send("DELETE", "/jobs", named)
        run_it = key.post("/api/job-run", named)
        for answer in (by_session, by_key, run_it):
            assert (answer.status, answer.code) == (404, "not_found")
        assert key.get("/jobs?userId=web:root").json["jobs"][0]["id"] == made["id"]
        assert client.house.engine.started == []

    def test_a_session_cannot_say_whose_job_it_makes(self):
        answer = bot().signed_in().post("/api/jobs", {**job(), "userId": "web:root"})
        assert answer.status == 400

    @pytest.mark.parametrize(
        "user", ["nobody", "", "web:", "http:ci", "schedule:nightly", "web:a b", 5, None, ["web:a"]]
    )
    def test_a_user_who_is_no_person_is_422(self, user: Any):
        key = internal(bot())
        for answer in (
            key.post("/jobs", {"userId": user, **job()}),
            key.send("DELETE", "/jobs", {"userId": user, "id": "x"}),
            key.post("/api/job-run", {"userId": user, "id": "x"}),
        ):
            assert (answer.status, answer.code) == (422, "bad_actor")

    @pytest.mark.parametrize("query", ["", "?userId=", "?userId=http:ci", "?user=web:ci"])
    def test_a_list_of_nobodys_is_422(self, query: str):
        assert internal(bot()).get(f"/jobs{query}").status == 422


class TestDoors:
    @pytest.mark.parametrize(
        ("method", "path"),
        [("GET", "/jobs"), ("POST", "/jobs"), ("DELETE", "/jobs"), ("POST", "/api/job-run")],
    )
    def test_the_internal_routes_take_the_key_alone(self, method: str, path: str):
        client = bot()
        for entered in (client, client.signed_in("token-of-root"), client.bearer("token-of-root")):
            assert entered.send(method, path, {}).status == 401
        assert Client(client.house, {"X-Internal-Key": "wrong"}).send(method, path).status == 401

    @pytest.mark.parametrize("path", ["/api/jobs", "/api/events"])
    def test_the_persons_routes_take_a_session_alone(self, path: str):
        client = bot()
        for entered in (client, internal(client), client.bearer("token-of-root")):
            assert entered.get(path).status == 401

    def test_a_write_by_session_needs_its_csrf_token(self):
        client = bot().signed_in()
        del client.headers["X-CSRF-Token"]
        assert client.post("/api/jobs", job()).status == 403
        assert client.send("DELETE", "/api/jobs?id=x").status == 403


class TestRunByHand:
    def ask(self, client: Client, job_id: Any, owner: Any = OWNER) -> Answer:
        return internal(client).post("/api/job-run", {"userId": owner, "id": job_id})

    def ending(self, client: Client, after_ms: int, **values: Any) -> Pause:
        clock = client.house.clock
        at = clock.now_ms() + after_ms

        async def while_asleep(point: str) -> None:
            if point != "clock.sleep done" or clock.now_ms() < at:
                return
            for run_id in client.house.engine.started:
                ended = {"state": State.OK, "code": None, "output": "web:ci", **values}
                await ledger.finish(client.house.db, run_id, now_ms=clock.now_ms(), **ended)

        return while_asleep

    def test_a_database_that_does_not_answer_once_ends_nothing(self):
        client = bot()
        made = add(client)
        client.house.clock.pause = self.ending(client, 20_000)
        failed: list[str] = []

        async def fails_once(point: str) -> None:
            if client.house.engine.started and point.startswith("db.") and not failed:
                failed.append(point)
                raise Fault("down")

        client.house.db.pause = fails_once
        answer = self.ask(client, made["id"])
        assert failed
        assert (answer.status, answer.json["state"]) == (200, "ok")

    def test_it_waits_for_the_end_and_answers_with_the_outcome(self):
        client = bot()
        made = add(client)
        client.house.clock.pause = self.ending(client, 40_000)
        answer = self.ask(client, made["id"])
        (run_id,) = client.house.engine.started
        assert (answer.status, answer.json) == (
            200,
            {
                "run_id": run_id,
                "job_id": made["id"],
                "state": "ok",
                "code": None,
                "output": "web:ci",
            },
        )

    def test_a_run_that_failed_says_so(self):
        client = bot()
        made = add(client)
        failing = {"state": State.FAILED, "code": Code.NO_MODEL, "output": "no model"}
        client.house.clock.pause = self.ending(client, 0, **failing)
        answer = self.ask(client, made["id"])
        assert (answer.status, answer.json["state"], answer.json["code"]) == (
            200,
            "failed",
            "no_model",
        )

    def test_past_its_deadline_it_is_ended_timed_out_and_its_owner_told(self):
        client = bot()
        made = add(client)
        begun = client.house.clock.now_ms()
        answer = self.ask(client, made["id"])
        assert (answer.status, answer.json["state"], answer.json["code"]) == (
            200,
            "failed",
            "timed_out",
        )
        assert client.house.clock.now_ms() - begun <= 56_000
        (run_id,) = client.house.engine.started
        assert client.house.engine.statuses[run_id] is EngineStatus.ENDED
        (row,) = client.house.db.sql("SELECT state, code FROM job_runs")
        assert row == {"state": "failed", "code": "timed_out"}
        (event,) = client.signed_in().get("/api/events").json["events"]
        assert event["kind"] == "job_error"

    @pytest.mark.parametrize("job_id", ["nosuch", "x" * 300])
    def test_a_job_that_is_not_there_is_404(self, job_id: str):
        assert self.ask(bot(), job_id).status == 404

    @pytest.mark.parametrize("job_id", [None, 5, ""])
    def test_no_id_at_all_is_422(self, job_id: Any):
        assert self.ask(bot(), job_id).status == 422


class TestEvents:
    def tell(self, client: Client, *keys: str, owner: str = OWNER) -> None:
        at = client.house.clock.now_ms()
        told = [
            (Event(key, owner, EventKind.JOB_RESULT, f"✅ {key}", at, None, {"n": 1}), {})
            for key in keys
        ]
        run(client.house.db.batch([events.adding(told)]))

    def test_are_the_callers_own_oldest_first(self):
        client = bot()
        self.tell(client, "a", "b")
        self.tell(client, "c", owner="web:root")
        answer = client.signed_in().get("/api/events")
        assert answer.status == 200
        assert answer.json == {
            "events": [
                {
                    "seq": seq,
                    "kind": "job_result",
                    "text": f"✅ {key}",
                    "data": {"n": 1},
                    "at": "2026-03-02T09:00:00+00:00",
                    "push": None,
                }
                for seq, key in ((1, "a"), (2, "b"))
            ]
        }

    def test_after_a_number_come_the_later_ones(self):
        client = bot()
        self.tell(client, "a", "b", "c")
        me = client.signed_in()
        assert [e["seq"] for e in me.get("/api/events?after=1").json["events"]] == [2, 3]
        assert me.get("/api/events?after=3").json == {"events": []}

    @pytest.mark.parametrize("after", ["-1", "x", "1.5", "٣", "9" * 20])
    def test_a_bad_number_is_422(self, after: str):
        assert bot().signed_in().get(f"/api/events?after={quote(after)}").status == 422


class TestOwnThread:
    """Where a job answers when its owner has linked no chat."""

    def pushed(self) -> Client:
        client = bot()
        add(client, prompt="whoami")
        client.house.clock.advance(minutes=30)
        root = client.bearer("token-of-root")
        client.house.config.put({"grants.http:root": ["schedule:fire"]})
        assert root.post("/admin/schedules/tick").json["jobs"]["started"] == 1
        (run_id,) = client.house.engine.started
        run(run_turn(client.house, run_id, KeptSteps()))
        return client

    def test_is_listed_and_read_by_its_owner_and_by_nobody_else(self):
        client = self.pushed()
        me, other = client.signed_in(), client.signed_in("token-of-root")
        (thread,) = me.get("/api/threads").json["threads"]
        assert thread["key"] == "web:@ci/jobs"
        path = "/api/threads/web:%40ci%2Fjobs"
        texts = [message["text"] for message in me.get(path).json["messages"]]
        assert texts[0] == "Your jobs, ci"
        assert texts[1].startswith("✅ morning\nweb:ci")
        assert other.get("/api/threads").json["threads"] == []
        assert other.get("/api/threads?channel=web:@ci").status == 422
        assert other.get(path).status == 404
        say = {"channel": "web:@ci", "thread": "web:@ci/jobs", "text": "hello"}
        assert other.post("/api/chat", say).status == 422

    def test_its_owner_can_answer_there(self):
        client = self.pushed()
        say = {"channel": "web:@ci", "thread": "web:@ci/jobs", "text": "thank you"}
        assert client.signed_in().post("/api/chat", say).status == 202
        new = {"channel": "web:@ci", "text": "a thread of my own"}
        assert client.signed_in().post("/api/chat", new).status == 422

    def test_no_schedule_can_speak_there(self):
        house = self.pushed().house
        assert not house.channels["web"].exists("web:@ci")
