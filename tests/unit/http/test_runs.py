from __future__ import annotations

import pytest

from tests.unit.builders import entry
from tests.unit.http.client import Client, office

WORDS = {
    "id",
    "actor",
    "grants",
    "source",
    "name",
    "due_at",
    "trigger",
    "by",
    "thread",
    "text",
    "route",
    "effect",
    "state",
    "code",
    "output",
    "delivery",
    "admitted_at",
    "started_at",
    "finished_at",
}


def fired(*names: str) -> tuple[Client, list[str]]:
    """A house in which those schedules were fired by hand, and the runs."""
    client = office().signed_in("token-of-root")
    client.house.config.put({f"schedules.{name}": entry(name) for name in set(names)})
    runs: list[str] = []
    for name in names:
        runs.append(client.post(f"/admin/schedules/{name}/fire").json["run_id"])
        client.house.clock.advance(seconds=1)
    return client, runs


def ids(client: Client, query: str) -> list[str]:
    return [run["id"] for run in client.get(f"/admin/runs{query}").json["runs"]]


def test_runs_come_newest_first_and_are_filtered() -> None:
    client, runs = fired("nightly", "weekly", "nightly")
    assert ids(client, "") == runs[::-1]
    assert ids(client, "?limit=1") == runs[:1:-1]
    assert ids(client, "?name=weekly") == [runs[1]]
    assert ids(client, "?state=running") == runs[::-1]
    assert ids(client, "?state=ok") == []
    assert ids(client, "?name=nosuch") == []


def test_a_run_is_shown_in_the_contracts_words() -> None:
    client, (run_id,) = fired("nightly")
    answer = client.get(f"/admin/runs/{run_id}")
    assert answer.status == 200
    assert set(answer.json) >= WORDS
    assert (answer.json["actor"], answer.json["by"]) == ("schedule:nightly", "web:root")


@pytest.mark.parametrize("run_id", ["nosuch", "%2e%2e", "x" * 5000])
def test_a_run_that_is_not_there_is_not_found(run_id: str) -> None:
    answer = office().signed_in("token-of-root").get(f"/admin/runs/{run_id}")
    assert (answer.status, answer.code) == (404, "no_run")


@pytest.mark.parametrize("query", ["?state=sleeping", "?limit=0", "?limit=201", "?limit=1e2"])
def test_a_filter_that_is_none_is_refused(query: str) -> None:
    answer = office().signed_in("token-of-root").get(f"/admin/runs{query}")
    assert (answer.status, answer.code) == (422, "bad_value")
