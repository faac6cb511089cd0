from __future__ import annotations

from typing import Any

import pytest

from config_do.documents import MAX_VALUE_BYTES
from tests.unit.builders import entry
from tests.unit.http.client import Answer, Client, office


def put(client: Client, changes: Any, version: Any = 0, tier: str = "org") -> Answer:
    return client.send(
        "PUT", f"/admin/config/{tier}", {"expectedVersion": version, "changes": changes}
    )


def writer() -> Client:
    """A caller who may write configuration and holds nothing else."""
    client = office()
    client.house.config.put({"grants.http:ci": ["config:read", "config:write"]})
    return client.bearer("token-of-ci")


def test_a_document_is_read_and_swapped_under_its_version() -> None:
    root = office().signed_in("token-of-root")
    assert root.get("/admin/config/org").json == {"version": 0, "entries": {}}
    answer = put(root, {"zone": "Europe/Berlin", "x": {"y": [1, None]}})
    assert (answer.status, answer.json) == (200, {"version": 1})
    assert put(root, {"x": None}, 1).json == {"version": 2}
    assert root.get("/admin/config/org").json == {
        "version": 2,
        "entries": {"zone": "Europe/Berlin"},
    }


def test_the_loser_of_a_swap_is_told_the_version_that_stands() -> None:
    root = office().signed_in("token-of-root")
    root.house.config.put({"a": 1})
    answer = put(root, {"a": 2}, 0)
    assert (answer.status, answer.code, answer.json["version"]) == (409, "conflict", 1)
    assert root.house.config.get().entries == {"a": 1}


@pytest.mark.parametrize("key", ["schedules.x", "grants.http:ci", "grants.web:root", "schedules."])
@pytest.mark.parametrize("value", [["all"], None])
def test_the_products_own_keys_take_more_than_config_write(key: str, value: Any) -> None:
    client = writer()
    before = client.house.config.get()
    answer = put(client, {"zone": "UTC", key: value}, before.version)
    assert (answer.status, answer.code) == (422, "bad_key")
    assert client.house.config.get() == before


def test_who_holds_all_writes_them() -> None:
    root = office().signed_in("token-of-root")
    assert put(root, {"schedules.nightly": entry()}).status == 200


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201, "a\u0000", "1"])
def test_a_bad_key_is_refused(key: str) -> None:
    answer = put(writer(), {key: 1}, 1)
    assert (answer.status, answer.code) == (422, "bad_key")


def test_a_change_that_passes_a_limit_of_the_document_is_refused() -> None:
    answer = put(writer(), {"big": "x" * MAX_VALUE_BYTES}, 1)
    assert (answer.status, answer.code) == (422, "document_too_large")


def test_a_value_that_cannot_be_stored_is_refused() -> None:
    value: Any = 1
    for _ in range(33):
        value = [value]
    answer = put(writer(), {"deep": value}, 1)
    assert (answer.status, answer.code) == (422, "bad_value")


def test_a_setting_is_checked_as_config_set_checks_it() -> None:
    assert put(writer(), {"zone": "Mars/Base"}, 1).code == "bad_zone"
    assert put(writer(), {"zone": 1}, 1).code == "bad_zone"


def test_a_change_of_nothing_is_refused_and_moves_no_version() -> None:
    client = writer()
    assert put(client, {}, 1).code == "bad_value"
    assert client.house.config.get().version == 1


@pytest.mark.parametrize("version", ["1", 1.5, True, None])
def test_the_version_is_a_whole_number(version: Any) -> None:
    answer = put(writer(), {"a": 1}, version)
    assert answer.code == "bad_request"
    assert "expectedVersion" in answer.json["detail"]


@pytest.mark.parametrize("tier", ["Org", "a%20b", "%2e%2e", "-x", "x" * 129])
def test_a_bad_tier_is_not_found(tier: str) -> None:
    root = office().signed_in("token-of-root")
    for answer in (root.get(f"/admin/config/{tier}"), put(root, {"a": 1}, 0, tier)):
        assert (answer.status, answer.code) == (404, "bad_tier")


def test_reading_is_not_writing() -> None:
    client = office()
    client.house.config.put({"grants.http:ci": ["config:read"]})
    ci = client.bearer("token-of-ci")
    assert ci.get("/admin/config/org").status == 200
    assert put(ci, {"a": 1}, 1).code == "forbidden"
