from __future__ import annotations

from typing import Any

import pytest

from bot.http.ingress import WAIT_MS
from bot.ports import Fault
from bot.runs import ledger
from bot.words import Code, State
from tests.support.drive import run
from tests.unit.http.client import Answer, Client, office


def ask(client: Client, text: str = "whoami", **body: Any) -> Answer:
    return client.post("/ingress", {"text": text, **body})


def ending_after(client: Client, ms: int, **values: Any) -> None:
    """Have what was started end while the caller waits, once ``ms`` have passed."""
    clock = client.house.clock
    at = clock.now_ms() + ms

    async def hook(point: str) -> None:
        if point == "clock.sleep" or clock.now_ms() < at:
            return
        for run_id in client.house.engine.started:
            result = {"state": State.OK, "code": None, "output": "http:ci", **values}
            await ledger.finish(client.house.db, run_id, now_ms=clock.now_ms(), **result)

    clock.pause = hook


def test_a_run_that_ends_in_time_is_answered_with_its_outcome() -> None:
    ci = office().bearer("token-of-ci")
    begun = ci.house.clock.now_ms()
    ending_after(ci, 3_000)
    answer = ask(ci)
    assert answer.status == 200
    (run_id,) = ci.house.engine.started
    assert answer.json == {"run_id": run_id, "state": "ok", "code": None, "text": "http:ci"}
    assert 3_000 <= ci.house.clock.now_ms() - begun <= 4_100


def test_a_run_that_failed_says_so_with_its_code() -> None:
    ci = office().bearer("token-of-ci")
    ending_after(ci, 0, state=State.FAILED, code=Code.NO_OUTPUT, output=None)
    answer = ask(ci)
    assert (answer.status, answer.json["state"], answer.json["code"]) == (
        200,
        "failed",
        "no_output",
    )


def test_a_run_that_goes_on_is_a_202_after_25_seconds() -> None:
    ci = office().bearer("token-of-ci")
    begun = ci.house.clock.now_ms()
    answer = ask(ci)
    assert answer.status == 202
    assert answer.json == {"run_id": ci.house.engine.started[0], "state": "running"}
    assert ci.house.clock.now_ms() - begun == WAIT_MS == 25_000


def test_waiting_asks_the_ledger_seldom() -> None:
    asked: list[str] = []
    ci = office().bearer("token-of-ci")

    async def hook(point: str) -> None:
        asked.append(point)

    ci.house.db.pause = hook
    ask(ci)
    assert asked.count("db.run") <= 30


def test_the_run_is_the_bearers_with_the_grants_it_was_given() -> None:
    client = office()
    client.house.config.put({"grants.http:ci": ["run:read"]})
    answer = ask(client.bearer("token-of-ci"), thread="build-7")
    made = run(ledger.get(client.house.db, answer.json["run_id"]))
    assert made is not None
    assert (made.actor, made.source, made.thread) == ("http:ci", "ingress", "http:ci/build-7")
    assert [str(grant) for grant in made.grants] == ["run:read"]


def test_a_threads_name_is_its_subjects_own() -> None:
    client = office()
    assert ask(client.bearer("token-of-ci"), thread="t").status == 202
    assert ask(client.bearer("token-of-root"), thread="t").status == 202
    answer = ask(client.bearer("token-of-ci"), thread="t")
    assert (answer.status, answer.code) == (409, "thread_busy")


def test_without_a_thread_every_call_has_one_of_its_own() -> None:
    ci = office().bearer("token-of-ci")
    assert ask(ci).status == ask(ci).status == 202


@pytest.mark.parametrize("thread", ["", "a/b", "a b", "é", "x" * 65, "../x", "http:root/t", "a\n"])
def test_a_threads_name_is_plain(thread: str) -> None:
    ci = office().bearer("token-of-ci")
    answer = ask(ci, thread=thread)
    assert (answer.status, answer.code) == (422, "bad_value")
    assert ci.house.engine.started == []


@pytest.mark.parametrize("text", ["", "  ", "x" * 20_001])
def test_a_bad_text_is_refused(text: str) -> None:
    answer = ask(office().bearer("token-of-ci"), text)
    assert (answer.status, answer.code) == (422, "bad_text")


def test_a_session_is_no_bearer() -> None:
    assert ask(office().signed_in()).status == 401


def test_a_store_that_fails_while_we_wait_costs_the_outcome_and_not_the_run_id() -> None:
    ci = office().bearer("token-of-ci")

    async def hook(point: str) -> None:
        if point == "db.run":
            raise Fault("down")

    ci.house.db.pause = hook
    answer = ask(ci)
    assert (answer.status, answer.json["run_id"]) == (202, ci.house.engine.started[0])


def test_a_store_that_fails_before_admission_is_a_503() -> None:
    ci = office().bearer("token-of-ci")

    async def hook(point: str) -> None:
        if point == "db.batch":
            raise Fault("down")

    ci.house.db.pause = hook
    assert ask(ci).code == "store_unavailable"
    assert ci.house.engine.started == []
