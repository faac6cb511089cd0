"""Both objects in real workerd: the stores' contracts, and what only concurrency can break."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import pytest

from bot.ports import ConfigStore, HistoryStore
from config_do.client import ConfigClient
from schedule_do.client import ScheduleClient
from tests.runtime.server import Server
from tests.runtime.world import ObjectsWorld, build_world
from tests.support.contracts import ConfigStoreContract, HistoryStoreContract, firing

names = (f"test-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def world(
    start_server: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> ObjectsWorld:
    root = build_world("objects", tmp_path_factory.mktemp("world"))
    return ObjectsWorld(start_server(root))


@pytest.fixture
def name() -> str:
    return next(names)


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


class TestConfigDO(ConfigStoreContract):
    @pytest.fixture
    def store(self, world: ObjectsWorld, name: str) -> ConfigStore:
        return ConfigClient(world.door("CONFIG", name), cache={})


class TestScheduleDO(HistoryStoreContract):
    @pytest.fixture
    def store(self, world: ObjectsWorld, name: str) -> HistoryStore:
        return ScheduleClient(world.door("SCHEDULES", name))


def test_of_twenty_swaps_at_once_over_one_version_one_wins(world: ObjectsWorld, name: str):
    works = [lambda n=n: world.do("swap", name, 0, {"winner": n}) for n in range(20)]
    swaps = at_once(works)
    won = [n for n, swap in enumerate(swaps) if swap["won"]]
    assert len(won) == 1
    assert {swap["version"] for swap in swaps} == {1}
    assert world.do("read", name) == {"version": 1, "entries": {"winner": won[0]}}


def test_both_doors_share_one_compare_and_swap(world: ObjectsWorld, name: str):
    path = f"/object/CONFIG/documents/documents/{name}"
    over_http = [
        lambda n=n: world.server.put(path, {"expectedVersion": 0, "changes": {"winner": n}}).status
        for n in range(6)
    ]
    over_rpc = [
        lambda n=n: 200 if world.do("swap", name, 0, {"winner": n})["won"] else 409
        for n in range(6, 12)
    ]
    statuses = at_once([*over_http, *over_rpc])
    assert sorted(statuses) == [200] + [409] * 11
    assert world.do("read", name)["entries"] == {"winner": statuses.index(200)}


def test_increments_under_contention_lose_nothing(world: ObjectsWorld, name: str):
    def add_five() -> int:
        return sum(world.do("increment", name, "n") for _ in range(5))

    lost = sum(at_once([add_five] * 8))
    assert world.do("read", name) == {"version": 40, "entries": {"n": 40}}
    assert lost > 0, "nothing contended: the test showed nothing"


def test_writers_of_different_keys_of_one_document_keep_each_others_entries(
    world: ObjectsWorld, name: str
):
    at_once([lambda n=n: world.do("increment", name, f"key{n}") for n in range(10)])
    assert world.do("read", name)["entries"] == {f"key{n}": 1 for n in range(10)}


def test_if_none_match_with_the_version_is_304(world: ObjectsWorld, name: str):
    path = f"/object/CONFIG/{name}/documents/org"
    world.server.put(path, {"expectedVersion": 0, "changes": {"a": 1}})
    for tag in ("1", '"1"'):
        unchanged = world.server.get(path, headers={"if-none-match": tag})
        assert (unchanged.status, unchanged.body) == (304, b"")
    changed = world.server.get(path, headers={"if-none-match": '"0"'})
    assert (changed.status, changed.json()) == (200, {"version": 1, "entries": {"a": 1}})


def test_a_refusal_over_http_is_a_problem(world: ObjectsWorld, name: str):
    answer = world.server.put(f"/object/CONFIG/{name}/documents/org", {"expectedVersion": 0})
    assert (answer.status, answer.json()["code"]) == (400, "bad_request")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("nested", ["[" * 5_000 + "]" * 5_000, '{"a":' * 5_000 + "1" + "}" * 5_000])
def test_a_body_nested_without_end_is_malformed_and_the_object_lives(
    world: ObjectsWorld, name: str, nested: str
):
    body = f'{{"expectedVersion": 0, "changes": {{"a": {nested}}}}}'
    answer = world.server.request("PUT", f"/object/CONFIG/{name}/documents/org", data=body)
    assert answer.status == 400
    assert world.server.get(f"/object/CONFIG/{name}/documents/org").status == 200


@pytest.mark.parametrize(
    ("binding", "path"), [("CONFIG", "/documents/org"), ("SCHEDULES", "/schedules/latest?rows=")]
)
def test_an_answer_crosses_as_one_json_string(world: ObjectsWorld, binding: str, path: str):
    crossing = world.do("handle", binding, "GET", path, None)
    assert isinstance(crossing, str)
    assert set(json.loads(crossing)) == {"status", "body"}


def test_records_of_one_firing_at_once_end_in_its_final_state(world: ObjectsWorld, name: str):
    states = ["starting", "running", "ok", "running", "starting", "claimed_not_started"] * 2
    records = [asdict(firing(name, name=name, row_id=name, state=state)) for state in states]
    at_once([lambda record=record: world.do("record", [record]) for record in records])
    [kept] = world.do("history", name)
    assert kept == asdict(firing(name, name=name, row_id=name, state="ok"))


def test_a_hundred_firings_are_one_call_and_read_back(world: ObjectsWorld, name: str):
    many = [
        asdict(firing(f"{name}-{n}", name=f"{name}-{n}", row_id=f"{name}-{n}")) for n in range(100)
    ]
    world.do("record", many)
    claims = {each["row_id"]: each["key"] for each in many}
    assert world.do("latest", claims) == {each["row_id"]: each for each in many}


def test_what_was_written_outlives_a_kill(world: ObjectsWorld, name: str):
    told = asdict(firing(name, name=name, row_id=name, state="running"))
    world.do("swap", name, 0, {"a": 1})
    world.do("record", [told])
    world.server.kill9()
    world.server.restart()
    assert world.do("read", name) == {"version": 1, "entries": {"a": 1}}
    assert world.do("history", name) == [told]
    assert world.do("swap", name, 1, {"a": 2})["won"]
