from __future__ import annotations

import json

import pytest

from bot.jobs import hand
from bot.ports import Fault
from bot.words import Code, Refused
from tests.support.drive import run
from tests.unit.jobs.office import ALICE, Office, person


def begin(office: Office, job_id: str, owner: str = ALICE, call_id: str = "call1") -> str | Refused:
    now_ms = office.house.clock.now_ms()
    return run(hand.begin(office.house, person(owner), job_id, call_id=call_id, now_ms=now_ms))


def test_a_run_by_hand_is_claimed_admitted_and_started_and_keeps_the_slot():
    office = Office()
    office.house.config.put({"grants.web:alice": ["run:cancel"]})
    job = office.add()
    before = office.rows()
    run_id = begin(office, job.id)
    assert office.house.engine.started == [run_id]
    assert office.rows() == before
    (made,) = office.runs()
    assert (made["actor"], made["source"], made["trigger"]) == (ALICE, "job", "hand")
    assert (made["by"], made["due_at"], made["name"]) == ("internal", None, "stretch")
    assert "run:cancel" in json.loads(made["grants"])
    office.turns()
    assert [row["state"] for row in office.job_runs()] == ["ok"]
    assert [event["kind"] for event in office.events()] == ["job_result"]
    assert office.tick("10:37").started == 1


def test_each_call_is_a_run_and_the_same_call_is_not_two():
    office = Office()
    job = office.add()
    assert begin(office, job.id) != begin(office, job.id, call_id="call2")
    again = begin(office, job.id)
    assert isinstance(again, Refused)
    assert len(office.runs()) == len(office.job_runs()) == 2


@pytest.mark.parametrize("owner", ["web:bob", "slack:alice"])
def test_anothers_job_is_not_there(owner: str):
    office = Office()
    job = office.add()
    refusal = begin(office, job.id, owner)
    assert isinstance(refusal, Refused)
    assert refusal.code is Code.NOT_FOUND
    assert office.runs() == office.job_runs() == []


def test_a_job_that_is_off_runs_by_hand_and_stays_off():
    office = Office()
    job = office.add(run_in_minutes=1)
    office.tick("10:08")
    office.turns()
    assert isinstance(begin(office, job.id), str)
    office.turns()
    assert office.rows()[0]["enabled"] == 0
    assert len(office.events()) == 2


def test_a_job_deleted_while_it_was_read_is_a_conflict():
    office = Office()
    job = office.add()

    async def pause(point: str) -> None:
        office.house.db.sql("DELETE FROM jobs")

    office.house.config.pause = pause
    refusal = begin(office, job.id)
    assert isinstance(refusal, Refused)
    assert refusal.code is Code.CONFLICT
    assert office.runs() == office.job_runs() == []


def test_a_job_that_no_longer_reads_is_refused():
    office = Office()
    job = office.add()
    office.house.db.sql("UPDATE jobs SET schedule = 'sometimes'")
    refusal = begin(office, job.id)
    assert isinstance(refusal, Refused)
    assert refusal.code is Code.BAD_VALUE


def test_where_the_engine_is_down_the_run_waits_for_the_watchdog():
    office = Office()
    job = office.add()

    async def pause(point: str) -> None:
        raise Fault("engine down")

    office.house.engine.pause = pause
    assert isinstance(begin(office, job.id), str)
    assert [made["state"] for made in office.runs()] == ["running"]
