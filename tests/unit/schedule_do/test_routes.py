import json
from dataclasses import asdict
from typing import Any

import pytest

from schedule_do.routes import MAX_RECORDS, Schedules, answer
from tests.support.contracts import NOON, firing
from tests.support.sql import MemorySql


@pytest.fixture
def schedules() -> Schedules:
    return Schedules(MemorySql())


def get(schedules: Schedules, path: str) -> tuple[int, Any]:
    reply = answer(schedules, "GET", path, None)
    return reply.status, json.loads(reply.body)


def post(schedules: Schedules, path: str, body: Any) -> tuple[int, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    reply = answer(schedules, "POST", path, text)
    return reply.status, json.loads(reply.body)


def test_firings_are_recorded_and_read(schedules: Schedules):
    told = asdict(firing())
    assert post(schedules, "/schedules/record", {"firings": [told]}) == (200, {"recorded": 1})
    assert get(schedules, "/schedules/latest?rows=r0:,r1:") == (200, {"firings": {"r1": told}})
    assert get(schedules, "/schedules/latest?rows=r1:r1-m1") == (200, {"firings": {"r1": told}})
    assert get(schedules, "/schedules/latest?rows=r1:r1-m2") == (200, {"firings": {}})
    assert get(schedules, "/schedules/latest?rows=") == (200, {"firings": {}})
    assert get(schedules, "/schedules/history?name=nightly") == (200, {"firings": [told]})
    assert get(schedules, "/schedules/history?name=nightly&row=r1") == (200, {"firings": [told]})
    assert get(schedules, "/schedules/history?name=nightly&row=r0") == (200, {"firings": []})


def test_what_a_firing_may_lack_is_filled_in(schedules: Schedules):
    told = asdict(firing())
    for field in ("code", "run_id", "delivery", "coalesced"):
        del told[field]
    assert post(schedules, "/schedules/record", {"firings": [told]})[0] == 200
    assert schedules.firings.latest({"r1": None}) == {"r1": firing()}


def test_ticks_are_recorded_and_summed_up(schedules: Schedules):
    assert post(schedules, "/ticks/record", {"tick": {"at": NOON, "ms": 7}}) == (200, {})
    status, summary = get(schedules, f"/ticks/summary?now={NOON}")
    assert (status, summary["last"]) == (200, {"at": NOON, "ms": 7})


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "runnning"},
        {"trigger": "cron"},
        {"claimed_at": "1"},
        {"claimed_at": -1},
        {"due_at": 10**16},
        {"due_at": 1.5},
        {"name": None},
        {"coalesced": None},
    ],
)
def test_a_firing_with_a_wrong_field_is_400_and_writes_nothing(
    schedules: Schedules, wrong: dict[str, Any]
):
    told = [asdict(firing()), {**asdict(firing("k2", due_at=1)), **wrong}]
    status, problem = post(schedules, "/schedules/record", {"firings": told})
    assert (status, problem["code"]) == (400, "bad_request")
    assert schedules.firings.history("nightly", 10) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/schedules/record", ""),
        ("/schedules/record", "{"),
        ("/schedules/record", []),
        ("/schedules/record", {}),
        ("/schedules/record", {"firings": {}}),
        ("/schedules/record", {"firings": [], "more": 1}),
        ("/schedules/record", {"firings": [asdict(firing())] * (MAX_RECORDS + 1)}),
        ("/ticks/record", {"at": 1, "ms": 1}),
        ("/ticks/record", {"tick": {"at": 1}}),
        ("/ticks/record", {"tick": {"at": 1, "ms": -1}}),
    ],
)
def test_a_malformed_body_is_400(schedules: Schedules, path: str, body: Any):
    assert post(schedules, path, body)[0] == 400


@pytest.mark.parametrize(
    "path",
    [
        "/schedules/latest",
        "/schedules/history",
        "/schedules/history?row=r1",
        "/ticks/history?limit=201",
        "/ticks/history?before=noon",
        "/schedules/history?name=a&limit=0",
        "/schedules/history?name=a&limit=201",
        "/schedules/history?name=a&limit=ten",
        "/schedules/history?name=a&limit=١",
        "/schedules/history?name=a&before=-1",
        "/schedules/history?name=a&before=",
        "/ticks/summary",
        "/ticks/summary?now=noon",
        "/strips",
        "/strips?since=0&bucket=0",
        "/strips?since=noon&bucket=1",
    ],
)
def test_a_malformed_query_is_400(schedules: Schedules, path: str):
    status, problem = get(schedules, path)
    assert (status, problem["code"]) == (400, "bad_request")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/schedules", 404),
        ("GET", "/schedules/latest/more", 404),
        ("GET", "/schedules/record", 405),
        ("POST", "/schedules/latest", 405),
        ("DELETE", "/ticks/record", 405),
    ],
)
def test_there_are_no_other_routes(schedules: Schedules, method: str, path: str, status: int):
    assert answer(schedules, method, path, "{}").status == status
