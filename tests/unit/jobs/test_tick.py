from __future__ import annotations

import json
from typing import Any

import pytest

from bot.jobs import store
from bot.jobs.run import run_id_of
from bot.ports import Fault
from bot.schedules.tick import tick
from tests.support.drive import run
from tests.unit.builders import ms
from tests.unit.jobs.office import ALICE, Office

DAY_LATER = "2026-03-03T10:37:01+00:00"
LATE = "2026-03-05T10:00:00+00:00"


def counting(office: Office) -> list[str]:
    """The points at which the ports were called, from now on."""
    points: list[str] = []

    async def pause(point: str) -> None:
        if not point.endswith(" done"):
            points.append(point)

    for port in (office.house.db, office.house.config, office.house.engine):
        port.pause = pause
    return points


def failing(port: Any, *points: str) -> None:
    """Let these points of a port raise, each once, first to last."""
    left = list(points)

    async def pause(point: str) -> None:
        if left and point == left[0]:
            left.pop(0)
            raise Fault(f"{point} failed")

    port.pause = pause


class TestIdle:
    def test_a_tick_with_nothing_due_is_one_query(self):
        office = Office()
        for n in range(5):
            office.add(name=f"job {n}")
        points = counting(office)
        report = office.tick("10:36")
        assert points == ["db.run"]
        assert report.to_json() == dict.fromkeys(report.to_json(), 0)

    def test_the_tick_of_an_empty_house_is_one_query(self):
        office = Office()
        points = counting(office)
        office.tick()
        assert points == ["db.run"]

    def test_a_whole_tick_reads_the_document_once_and_asks_the_database_once(self):
        office = Office()
        office.add()
        points = counting(office)
        run(tick(office.house))
        assert points == ["config.read", "db.run"]


class TestDue:
    def test_a_due_job_is_claimed_admitted_and_started(self):
        office = Office()
        job = office.add(prompt="whoami")
        report = office.tick("10:37")
        assert report.to_json() == {
            "due": 1,
            "claimed": 1,
            "lost": 0,
            "skipped": 0,
            "stale": 0,
            "started": 1,
        }
        run_id = run_id_of(job.id, ms("2026-03-02T10:37:00+00:00"))
        assert office.house.engine.started == [run_id]
        (made,) = office.runs()
        assert (made["id"], made["actor"], made["source"]) == (run_id, ALICE, "job")
        assert (made["text"], made["name"], made["row_id"]) == ("whoami", "stretch", job.id)
        assert (made["trigger"], made["thread"], made["channel"]) == ("tick", None, None)
        assert made["due_at"] == ms("2026-03-02T10:37:00+00:00")
        (claim,) = office.job_runs()
        assert (claim["run_id"], claim["job_id"], claim["state"]) == (run_id, job.id, None)

    def test_it_is_not_due_again_in_the_next_tick(self):
        office = Office()
        office.add()
        office.tick("10:37")
        assert office.tick("10:38").due == 0
        assert office.tick("11:06").due == 0
        assert office.tick("11:07").started == 1

    def test_it_runs_under_the_grants_that_its_owner_holds_now(self):
        office = Office()
        office.house.config.put({"grants.web:alice": ["run:cancel"]})
        office.add()
        office.house.config.put({"grants.web:alice": ["github:issue-write on acme/api"]})
        office.tick("10:37")
        grants = json.loads(office.runs()[0]["grants"])
        assert "github:issue-write on acme/api" in grants
        assert "run:cancel" not in grants
        assert "job:write" in grants

    def test_an_administrators_job_runs_as_that_administrator(self):
        office = Office()
        office.add("web:root")
        office.tick("10:37")
        assert json.loads(office.runs()[0]["grants"]) == ["all"]

    def test_a_one_shot_fires_once_and_is_off(self):
        office = Office()
        office.add(run_in_minutes=5)
        assert office.tick("10:12").started == 1
        (row,) = office.rows()
        assert (row["enabled"], row["next_at"]) == (0, None)
        assert office.tick("10:13").due == 0
        assert office.tick(LATE).due == 0

    def test_the_longest_due_comes_first_and_the_rest_follows_with_its_own_instant(self):
        office = Office()
        for n in range(store.MAX_A_TICK + 20):
            office.add(f"web:p{n}", name=f"job {n}", schedule="daily@10:08")
        first = office.tick("10:08")
        assert (first.due, first.started) == (200, 200)
        second = office.tick("10:09")
        assert (second.due, second.started) == (20, 20)
        assert {made["due_at"] for made in office.runs()} == {ms("2026-03-02T10:08:00+00:00")}
        assert len({made["row_id"] for made in office.runs()}) == 220
        assert office.tick("10:10").due == 0

    def test_a_job_deleted_before_its_claim_is_lost(self):
        office = Office()
        job = office.add()

        async def pause(point: str) -> None:
            if point == "db.batch":
                office.house.db.sql("DELETE FROM jobs WHERE id = ?", job.id)

        office.house.db.pause = pause
        report = office.tick("10:37")
        assert (report.due, report.lost, report.claimed) == (1, 1, 0)
        assert office.runs() == office.job_runs() == []

    def test_a_job_that_changed_before_its_claim_is_lost(self):
        office = Office()
        office.add()

        async def pause(point: str) -> None:
            if point == "db.batch":
                office.house.db.sql("UPDATE jobs SET version = version + 1")

        office.house.db.pause = pause
        assert office.tick("10:37").lost == 1
        assert office.runs() == []

    def test_of_two_ticks_one_claims(self):
        office = Office()
        office.add()
        office.add("web:bob", name="other")

        async def pause(point: str) -> None:
            if point == "db.batch":
                office.house.db.pause = no_pause
                assert office.tick().started == 2

        async def no_pause(point: str) -> None:
            pass

        office.house.db.pause = pause
        report = office.tick("10:37")
        assert (report.due, report.lost, report.claimed, report.started) == (2, 2, 0, 0)
        assert len(office.runs()) == len(office.job_runs()) == 2


class TestStale:
    def test_a_recurring_job_is_advanced_in_silence(self):
        office = Office()
        office.add(schedule="*/5m")
        report = office.tick(LATE)
        assert (report.due, report.stale, report.claimed, report.started) == (1, 1, 0, 0)
        assert office.runs() == office.job_runs() == office.events() == []
        assert office.own_thread() == []
        assert office.rows()[0]["last_fired_at"] == ms(LATE)
        assert office.tick("2026-03-05T10:05:00+00:00").started == 1

    def test_a_one_shot_is_off_and_its_owner_is_told_when_it_was_due(self):
        office = Office()
        office.add(name="call mum", run_in_minutes=5)
        report = office.tick(LATE)
        assert (report.stale, report.started) == (1, 0)
        assert office.rows()[0]["enabled"] == 0
        assert office.runs() == office.job_runs() == []
        (event,) = office.events()
        assert (event["kind"], event["push"]) == ("job_abandoned", "delivered")
        assert "call mum was due at 2026-03-02T10:12:00+00:00" in event["text"]
        assert "It is off, and yours to re-schedule." in event["text"]
        assert json.loads(event["data"])["due_at"] == "2026-03-02T10:12:00+00:00"
        assert office.own_thread()[1:] == [event["text"]]
        assert office.tick("2026-03-05T10:01:00+00:00").due == 0
        assert len(office.events()) == 1, "one message"

    def test_losing_the_claim_tells_nobody(self):
        office = Office()
        office.add(run_in_minutes=5)

        async def pause(point: str) -> None:
            if point == "db.batch":
                office.house.db.sql("UPDATE jobs SET version = version + 1")

        office.house.db.pause = pause
        assert office.tick(LATE).lost == 1
        assert office.events() == []

    def test_two_hundred_at_once_leave_a_ring_of_two_hundred_for_each(self):
        office = Office()
        sql = (
            "INSERT INTO jobs (id, user_id, name, prompt, run_at, created_at, next_at)"
            " VALUES (?, ?, 'n', 'p', 0, 0, 0)"
        )
        for n in range(400):
            office.house.db.sql(sql, f"j{n}", ALICE if n < 300 else "web:bob")
        office.at(LATE)
        assert [office.tick().stale for _ in range(3)] == [200, 200, 0]
        assert (len(office.events()), len(office.events("web:bob"))) == (200, 100)


class TestBroken:
    @pytest.mark.parametrize(
        ("column", "value", "why"),
        [
            ("schedule", "every now and then", "schedule"),
            ("user_id", "http:ci", "not a person"),
            ("id", "Not.An.Id", "not a job's id"),
        ],
    )
    def test_a_row_that_no_longer_reads_is_off_and_does_not_hold_up_the_others(
        self, column: str, value: str, why: str
    ):
        office = Office()
        broken = office.add(name="broken")
        office.add("web:bob", name="sound")
        office.house.db.sql(f"UPDATE jobs SET {column} = ? WHERE id = ?", value, broken.id)
        report = office.tick("10:37")
        assert (report.started, report.stale) == (1, 1)
        owner = value if column == "user_id" else ALICE
        (event,) = office.events(owner)
        assert event["kind"] == "job_abandoned"
        assert why in event["text"]
        assert office.tick("11:07").due == 1

    def test_a_base_in_the_future_is_found_and_repaired(self):
        office = Office()
        office.add(schedule="daily@09:00")
        future = ms("2031-01-01T00:00:00+00:00")
        office.house.db.sql("UPDATE jobs SET last_fired_at = ?, next_at = ?", future, future)
        assert office.tick("10:30").to_json()["skipped"] == 1
        assert office.rows()[0]["next_at"] == ms("2026-03-03T09:00:00+00:00")
        assert office.tick("2026-03-03T09:00:00+00:00").started == 1

    def test_an_instant_that_ran_before_the_clock_went_back_does_not_run_twice(self):
        office = Office()
        office.add(schedule="*/30m")
        office.tick("10:37")
        office.tick("11:07")
        office.at("10:30")
        office.tick()
        assert office.tick("10:37").started == 0
        assert office.tick("11:07").started == 0
        assert office.tick("11:37").started == 1
        assert len(office.runs()) == len(office.job_runs()) == 3


class TestFaults:
    def test_where_the_database_is_down_nothing_happens_and_it_is_said(self):
        office = Office()
        office.add()
        failing(office.house.db, "db.run")
        report = office.tick("10:37")
        assert report.errors == ["jobs, due: db.run failed"]
        assert office.tick("10:38").started == 1

    def test_without_the_org_document_nothing_is_claimed(self):
        office = Office()
        office.add()
        failing(office.house.config, "config.read")
        report = office.tick("10:37")
        assert (report.due, report.lost, report.claimed) == (1, 1, 0)
        assert office.rows()[0]["last_fired_at"] is None
        assert office.tick("10:38").started == 1

    def test_a_claim_whose_answer_is_lost_fires_nothing_and_is_told_by_the_watchdog(self):
        office = Office()
        office.add()
        failing(office.house.db, "db.batch done")
        report = office.tick("10:37")
        assert (report.lost, report.claimed, report.started) == (1, 0, 0)
        assert office.tick("10:38").due == 0
        office.at("10:40")
        office.watch()
        assert office.runs() == []
        assert [made["code"] for made in office.job_runs()] == ["interrupted"]
        assert [event["kind"] for event in office.events()] == ["job_error"]

    def test_admission_is_tried_twice(self):
        office = Office()
        office.add()
        seen = 0

        async def pause(point: str) -> None:
            nonlocal seen
            if point == "db.batch":
                seen += 1
                if seen == 2:
                    raise Fault("admission failed")

        office.house.db.pause = pause
        assert office.tick("10:37").started == 1

    def test_where_the_engine_is_down_the_watchdog_starts_the_run(self):
        office = Office()
        office.add()
        failing(office.house.engine, "engine.start")
        report = office.tick("10:37")
        assert (report.claimed, report.started) == (1, 1)
        assert report.errors == ["jobs, start: engine.start failed"]
        office.at("10:47")
        office.watch()
        assert len(office.turns()) == 1
        assert [event["kind"] for event in office.events()] == ["job_result"]

    def test_a_fault_in_jobs_does_not_stop_the_schedules(self):
        office = Office()
        office.add()
        failing(office.house.db, "db.run")
        office.at("10:37")
        report = run(tick(office.house))
        office.house.background.finish()
        assert report.errors == ["jobs, due: db.run failed"]
        assert report.to_json()["jobs"]["due"] == 0

    def test_the_ticks_answer_holds_the_figures_of_jobs(self):
        office = Office()
        office.add()
        office.at("10:37")
        assert run(tick(office.house)).to_json()["jobs"] == {
            "due": 1,
            "claimed": 1,
            "lost": 0,
            "skipped": 0,
            "stale": 0,
            "started": 1,
        }
