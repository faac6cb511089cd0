from __future__ import annotations

import pytest

from tests.unit.builders import entry
from tests.unit.http.client import office


def test_a_command_runs_and_says_how_it_ended() -> None:
    client = office()
    client.house.config.put({"schedules.nightly": entry()})
    answer = client.signed_in("token-of-root").post(
        "/admin/command", {"text": "schedule pause nightly because holidays"}
    )
    assert answer.status == 200
    assert answer.json["outcome"] == "ok"
    assert "code" not in answer.json
    assert answer.json["data"]["paused_reason"] == "holidays"
    assert client.house.config.get().entries["schedules.nightly"]["enabled"] is False


def test_a_refused_command_is_still_a_200_since_the_body_says_it() -> None:
    answer = (
        office()
        .signed_in("token-of-root")
        .post("/admin/command", {"text": "schedule remove nosuch"})
    )
    assert answer.status == 200
    assert (answer.json["outcome"], answer.json["code"]) == ("refused", "no_schedule")
    assert "data" not in answer.json


@pytest.mark.parametrize("text", ["", "   ", "schedule ad x", "good morning", "schedule remove"])
def test_what_is_no_command_is_refused_with_the_nearest_usage(text: str) -> None:
    answer = office().signed_in("token-of-root").post("/admin/command", {"text": text})
    assert answer.status == 200
    assert (answer.json["outcome"], answer.json["code"]) == ("refused", "bad_command")


def test_the_usage_of_the_nearest_command_is_in_the_text() -> None:
    answer = office().signed_in("token-of-root").post("/admin/command", {"text": "schedule remove"})
    assert "schedule remove NAME" in answer.json["text"]


def test_a_command_beyond_the_callers_grants_is_a_403_with_both_shapes() -> None:
    client = office()
    client.house.config.put({"schedules.nightly": entry()})
    answer = client.signed_in("token-of-ci").post(
        "/admin/command", {"text": "schedule remove nightly"}
    )
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.json["outcome"] == "refused"
    assert "schedule:write" in answer.json["text"]
    assert "schedule:write" in answer.json["detail"]
    assert "schedules.nightly" in client.house.config.get().entries


def test_the_grants_of_the_org_document_reach_the_command() -> None:
    client = office()
    client.house.config.put({"schedules.nightly": entry(), "grants.http:ci": ["schedule:write"]})
    answer = client.bearer("token-of-ci").post(
        "/admin/command", {"text": "schedule remove nightly"}
    )
    assert (answer.status, answer.json["outcome"]) == (200, "ok")
    assert "schedules.nightly" not in client.house.config.get().entries
