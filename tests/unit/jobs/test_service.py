from __future__ import annotations

from typing import Any

import pytest

from bot.jobs import service
from bot.jobs.service import deleted, job_id_of, list_jobs, receipt, view_of
from bot.jobs.store import KEPT_OFF, MAX_JOBS_PER_USER
from bot.words import Code, Refused
from tests.support.drive import run
from tests.unit.builders import ms
from tests.unit.jobs.office import ALICE, Office, person


def refused(made: Any) -> Refused:
    assert isinstance(made, Refused), made
    assert made.detail.endswith("."), made.detail
    return made


def delete(office: Office, owner: str, job_id: str) -> Refused | None:
    return run(service.delete(office.house, person(owner), job_id))


class TestCreate:
    def test_stores_the_job_and_says_it_in_one_sentence_with_its_next_fires(self):
        office = Office()
        job = office.add(name="morning", schedule="daily@09:00", prompt="check\nmy repos")
        now_ms = office.house.clock.now_ms()
        assert receipt(job, now_ms) == (
            f"Job morning ({job.id}) runs every day at 09:00 UTC: check my repos\n"
            "Next: 2026-03-03T09:00:00+00:00, 2026-03-04T09:00:00+00:00, 2026-03-05T09:00:00+00:00."
        )
        assert view_of(job, now_ms) == {
            "id": job.id,
            "user_id": ALICE,
            "name": "morning",
            "prompt": "check\nmy repos",
            "schedule": "daily@09:00",
            "run_at": None,
            "enabled": True,
            "created_at": "2026-03-02T10:07:00+00:00",
            "last_fired_at": None,
            "describe": "every day at 09:00 UTC",
            "next": [
                "2026-03-03T09:00:00+00:00",
                "2026-03-04T09:00:00+00:00",
                "2026-03-05T09:00:00+00:00",
            ],
            "last": None,
        }

    def test_of_a_one_shot_turns_minutes_into_its_instant(self):
        office = Office()
        job = office.add(run_in_minutes=45)
        view = view_of(job, office.house.clock.now_ms())
        assert (view["schedule"], view["run_at"]) == (None, "2026-03-02T10:52:00+00:00")
        assert view["describe"] == "once, at 2026-03-02T10:52:00+00:00"
        assert view["next"] == ["2026-03-02T10:52:00+00:00"]
        assert "Next: 2026-03-02T10:52:00+00:00." in receipt(job, 0)

    def test_counts_from_the_second_that_people_are_shown(self):
        office = Office()
        office.house.clock.advance(ms=999)
        assert office.add().created_at == ms("2026-03-02T10:07:00+00:00")
        assert office.rows()[0]["next_at"] == ms("2026-03-02T10:37:00+00:00")

    def test_a_long_prompt_is_cut_in_the_sentence_alone(self):
        job = Office().add(prompt="x" * 4_000)
        assert len(receipt(job, 0)) < 500
        assert len(job.prompt) == 4_000

    @pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\nb", "a\tb", "a\x00b", 5, None, ["a"]])
    def test_a_bad_name_is_refused(self, name: object):
        assert refused(Office().try_add(name=name)).code is Code.BAD_NAME

    @pytest.mark.parametrize("name", ["x", "Check my repos", " padded ", "日本", "x" * 80])
    def test_a_name_is_a_line_of_up_to_80_characters(self, name: str):
        assert Office().add(name=name).name == name.strip()

    @pytest.mark.parametrize(
        "prompt", ["", "   \n ", "x" * 4_001, "x" * 20_000, "a\x00b", 5, None, {"a": 1}]
    )
    def test_a_bad_prompt_is_refused(self, prompt: object):
        assert refused(Office().try_add(prompt=prompt)).code is Code.BAD_TEXT

    @pytest.mark.parametrize(
        "draft",
        [
            {"schedule": "*/0m"},
            {"schedule": "daily@25:70"},
            {"schedule": None},
            {"schedule": "*/5m", "run_in_minutes": 5},
            {"run_in_minutes": float("inf")},
            {"run_in_minutes": -1},
            {"run_in_minutes": True},
        ],
    )
    def test_a_bad_time_is_refused(self, draft: dict[str, Any]):
        office = Office()
        assert refused(office.try_add(**draft)).code is Code.BAD_TIME
        assert office.rows() == []

    @pytest.mark.parametrize("owner", ["http:ci", "schedule:nightly"])
    def test_only_people_have_jobs(self, owner: str):
        assert refused(Office().try_add(owner)).code is Code.NOT_A_PERSON


class TestQuota:
    def test_the_eleventh_is_refused_with_its_number(self):
        office = Office()
        for n in range(MAX_JOBS_PER_USER):
            office.add(name=f"job {n}")
        refusal = refused(office.try_add(name="one more"))
        assert refusal.code is Code.TOO_MANY
        assert refusal.detail.startswith("job limit reached (10)")
        office.add("web:bob")

    def test_a_deleted_job_makes_room(self):
        office = Office()
        jobs = [office.add() for _ in range(MAX_JOBS_PER_USER)]
        assert delete(office, ALICE, jobs[3].id) is None
        office.add()
        refused(office.try_add())

    def test_a_spent_one_shot_holds_no_place(self):
        office = Office()
        for _ in range(MAX_JOBS_PER_USER):
            office.add(run_in_minutes=1)
        refused(office.try_add())
        office.tick("10:08")
        office.add()

    def test_what_is_off_is_listed_and_makes_room_in_the_end(self):
        office = Office()
        for round_ in range(4):
            for _ in range(MAX_JOBS_PER_USER):
                office.add(run_in_minutes=1)
            office.house.clock.advance(minutes=2 + round_)
            office.tick()
        office.add()
        assert len(office.rows()) == KEPT_OFF + 1

    def test_the_same_call_again_is_the_same_job(self):
        office = Office()
        draft = service.Draft("n", "p", "*/5m")

        def once_more() -> Any:
            return run(
                service.create(
                    office.house,
                    person(),
                    draft,
                    job_id=job_id_of("call-1"),
                    now_ms=office.house.clock.now_ms(),
                )
            )

        first = once_more()
        for _ in range(MAX_JOBS_PER_USER - 1):
            office.add()
        assert once_more() == first
        assert len(office.rows()) == MAX_JOBS_PER_USER


class TestOwnership:
    def test_anothers_job_is_not_there(self):
        office = Office()
        job = office.add()
        for other in ("web:bob", "slack:alice", "telegram:alice"):
            assert refused(delete(office, other, job.id)).code is Code.NOT_FOUND
            assert run(list_jobs(office.house, person(other), 0)) == []
        assert len(office.rows()) == 1

    def test_an_unknown_job_is_refused_in_the_same_words(self):
        office = Office()
        job = office.add()
        others = refused(delete(office, "web:bob", job.id)).detail
        assert others == refused(delete(office, "web:bob", "x" * 20)).detail.replace(
            "x" * 20, job.id
        )

    def test_a_deleted_job_fires_no_more(self):
        office = Office()
        job = office.add()
        assert delete(office, ALICE, job.id) is None
        assert job.id in deleted(job.id)
        assert office.tick("10:37").due == 0
        assert refused(delete(office, ALICE, job.id)).code is Code.NOT_FOUND


class TestList:
    def listed(self, office: Office) -> Any:
        jobs = run(list_jobs(office.house, person(), office.house.clock.now_ms()))
        assert isinstance(jobs, list)
        return jobs

    def test_shows_the_state_of_the_last_run(self):
        office = Office()
        job = office.add()
        assert self.listed(office)[0].line == (
            f"{job.id} · stretch · every 30 minutes · next 2026-03-02T10:37:00+00:00"
        )
        office.tick("10:37")
        assert self.listed(office)[0].view["last"]["state"] == "running"
        (run_id,) = office.turns()
        last = self.listed(office)[0].view["last"]
        assert last == {
            "run_id": run_id,
            "due_at": "2026-03-02T10:37:00+00:00",
            "claimed_at": "2026-03-02T10:37:00+00:00",
            "trigger": "tick",
            "state": "ok",
            "code": None,
            "push": "delivered",
        }
        assert self.listed(office)[0].line.endswith("· last 2026-03-02T10:37:00+00:00 → ok")

    def test_a_claim_without_a_run_is_starting_and_then_claimed_not_started(self):
        office = Office()
        office.add()
        office.tick("10:37")
        office.house.db.sql("DELETE FROM runs")
        assert self.listed(office)[0].view["last"]["state"] == "starting"
        office.house.clock.advance(seconds=30)
        assert self.listed(office)[0].view["last"]["state"] == "claimed_not_started"

    def test_a_push_that_failed_is_shown(self):
        office = Office()
        office.add("slack:U1")
        office.tick("10:37")
        office.turns()
        jobs: Any = run(list_jobs(office.house, person("slack:U1"), 0))
        (job,) = jobs
        assert "push undelivered: there is no thread to push to" in job.line

    def test_a_job_that_is_off_says_so(self):
        office = Office()
        office.add(run_in_minutes=1)
        office.tick("10:08")
        assert " · off · " in self.listed(office)[0].line
        assert self.listed(office)[0].view["enabled"] is False

    def test_a_row_that_no_longer_reads_is_listed_and_can_be_deleted(self):
        office = Office()
        job = office.add()
        office.house.db.sql("UPDATE jobs SET schedule = 'sometimes'")
        (listed,) = self.listed(office)
        assert "cannot be read" in listed.line
        assert listed.view["next"] == []
        assert delete(office, ALICE, job.id) is None

    def test_jobs_come_in_the_order_of_their_making(self):
        office = Office()
        for name in ("b", "a", "c"):
            office.add(name=name)
            office.house.clock.advance(seconds=1)
        assert [each.view["name"] for each in self.listed(office)] == ["b", "a", "c"]

    def test_nobody_else_is_a_person(self):
        office = Office()
        assert refused(run(list_jobs(office.house, person("http:ci"), 0))).code is Code.NOT_A_PERSON
        assert refused(delete(office, "http:ci", "x")).code is Code.NOT_A_PERSON


def test_a_calls_job_id_is_in_the_alphabet_of_run_ids():
    for call in ("row1-20260302T0900", "a key with: everything/in it", ""):
        made = job_id_of(call)
        assert len(made) == 20
        assert made.isalnum()
        assert made == made.lower()
    assert job_id_of("one") != job_id_of("two")
