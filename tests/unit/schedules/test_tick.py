import json

import pytest

from bot.commands.all import REGISTRY
from bot.ports import Fault
from bot.runs import ledger
from bot.runs.watchdog import watch
from bot.schedules.claim import CLAIM_BATCH
from bot.schedules.listing import listing
from bot.schedules.tick import tick
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import entry, ms

AT = "2026-09-01T03:00:05+00:00"
MINUTE = ms("2026-09-01T03:00:00+00:00")


def house_with(*entries, pause=None, at=AT):
    house = make_house(commands=REGISTRY, **({"pause": pause} if pause else {}))
    house.clock.set(at)
    house.config.put({f"schedules.{one['name']}": one for one in entries})
    return house


def stored(house, name="nightly"):
    return house.config.get().entries[f"schedules.{name}"]


class Fails:
    """A hook that fails one point, a number of times."""

    def __init__(self, point, times=1):
        self.point, self.times = point, times

    async def __call__(self, point):
        if point == self.point and self.times:
            self.times -= 1
            raise Fault(f"{point} is down")


class TestAnIdleTick:
    def test_reads_the_document_once_and_writes_nothing(self):
        points = []

        async def watch(point):
            if not point.endswith(" done"):
                points.append(point)

        house = house_with(entry(), pause=watch, at="2026-09-01T02:00:00+00:00")
        version = house.config.get().version
        report = run(tick(house))
        assert (report.due, report.claimed) == (0, [])
        assert points.count("config.read") == 1
        assert [point for point in points if point.startswith(("config", "history", "engine"))] == [
            "config.read"
        ]
        assert house.config.get().version == version

    def test_is_kept_in_the_statistics_after_the_answer(self):
        house = house_with()
        run(tick(house))
        assert run(house.history.tick_summary(house.clock.now_ms()))["last"] is None
        house.background.finish()
        assert run(house.history.tick_summary(house.clock.now_ms()))["last"]["at"] == ms(AT)


class TestADueRow:
    def test_is_claimed_admitted_started_and_written_down(self):
        house = house_with(entry(grants=["schedule:read", "github:issue-write on acme/api"]))
        report = run(tick(house))
        run_id = "rownightly-20260901T0300"
        assert report.started == [("nightly", run_id)]
        assert house.engine.started == [run_id]
        row = stored(house)
        assert (row["lastFiredAt"], row["lastDueAt"], row["lastRunId"]) == (ms(AT), MINUTE, run_id)
        made = run(ledger.get(house.db, run_id))
        assert made.actor == "schedule:nightly"
        assert [str(grant) for grant in made.grants] == [
            "schedule:read",
            "github:issue-write on acme/api",
        ]
        assert run(house.history.latest())["nightly"].run_id == run_id

    def test_is_set_going_when_all_else_is_done(self):
        points = []

        async def watch(point):
            points.append(point)

        house = house_with(entry(), pause=watch)
        run(tick(house))
        assert points[-2:] == ["engine.start", "engine.start done"]

    def test_is_not_due_again_at_the_next_tick(self):
        house = house_with(entry())
        run(tick(house))
        house.clock.advance(minutes=1)
        assert run(tick(house)).due == 0

    def test_folds_missed_minutes_into_one_run(self):
        house = house_with(entry(cron="*/5 * * * *", created_at=MINUTE - 3_600_000))
        run(tick(house))
        assert stored(house)["coalesced"] == 11
        assert len(house.engine.started) == 1

    def test_of_a_writing_command_is_refused_and_still_owed_its_hand_back(self):
        house = house_with(entry(text="schedule remove other", grants=["schedule:write"]))
        report = run(tick(house))
        assert report.refused == [("nightly", "schedule_write")]
        made = run(ledger.get(house.db, "rownightly-20260901T0300"))
        assert (made.state, made.code, made.started_at) == ("refused", "schedule_write", None)
        assert house.engine.started == ["rownightly-20260901T0300"], "to post the hand-back"
        assert run(house.history.latest())["nightly"].state == "refused"

    def test_of_a_busy_standing_thread_is_refused_until_its_next_minute(self):
        house = house_with(entry(cron="* * * * *", thread="standing"))
        run(tick(house))
        house.clock.advance(minutes=1)
        assert run(tick(house)).refused == [("nightly", "thread_busy")]
        assert len(house.engine.started) == 1

    def test_older_than_its_window_is_skipped_and_recorded(self):
        house = house_with(entry(window="1h"), at="2026-09-01T05:00:00+00:00")
        report = run(tick(house))
        assert (report.skipped, report.started) == (["nightly"], [])
        assert house.engine.started == []
        assert run(house.history.latest())["nightly"].state == "skipped_stale"
        house.clock.advance(minutes=1)
        assert run(tick(house)).due == 0

    def test_more_than_a_batch_are_all_claimed(self):
        names = [f"row{n}" for n in range(CLAIM_BATCH * 2 + 1)]
        house = house_with(*(entry(name) for name in names))
        report = run(tick(house))
        assert sorted(report.claimed) == sorted(names)
        assert len(house.engine.started) == len(names)


class TestALostSwap:
    def test_fires_nothing_and_the_rows_that_follow_are_read_again(self):
        names = [f"row{n:03d}" for n in range(CLAIM_BATCH + 1)]
        house = None
        written = []

        async def another_writer(point):
            if point == "config.swap" and not written:
                written.append(True)
                house.config.put({"note": 1})

        house = house_with(*(entry(name) for name in names), pause=another_writer)
        report = run(tick(house))
        assert report.lost == names[:CLAIM_BATCH]
        assert report.claimed == names[CLAIM_BATCH:]
        house.clock.advance(minutes=1)
        assert sorted(run(tick(house)).claimed) == names[:CLAIM_BATCH]

    def test_does_not_bring_back_a_row_that_was_removed_meanwhile(self):
        names = [f"row{n:03d}" for n in range(CLAIM_BATCH + 1)]
        house = None
        written = []

        async def a_person_removes(point):
            if point == "config.swap" and not written:
                written.append(True)
                house.config.put({f"schedules.{names[-1]}": None})

        house = house_with(*(entry(name) for name in names), pause=a_person_removes)
        report = run(tick(house))
        assert report.claimed == []
        assert f"schedules.{names[-1]}" not in house.config.get().entries


class TestAStoreThatFails:
    def test_at_the_read_does_nothing_says_so_and_leaves_the_jobs_their_tick(self):
        points = []

        async def hook(point):
            points.append(point)
            if point == "config.read":
                raise Fault("config is down")

        house = house_with(entry(), pause=hook)
        report = run(tick(house))
        assert report.errors == ["read: config is down"]
        assert "lastFiredAt" not in stored(house)
        assert any(point.startswith("db.") for point in points)

    def test_at_the_claim_fires_nothing_and_says_so(self):
        house = house_with(entry(), pause=Fails("config.swap"))
        report = run(tick(house))
        assert report.lost == ["nightly"]
        assert report.errors
        assert house.engine.started == []
        assert run(tick(house)).claimed == ["nightly"]

    def test_once_at_admission_is_tried_again(self):
        house = house_with(entry(), pause=Fails("db.batch"))
        assert run(tick(house)).started == [("nightly", "rownightly-20260901T0300")]

    def test_at_admission_for_good_leaves_a_claim_that_shows(self):
        house = house_with(entry(), pause=Fails("db.batch", times=9))
        report = run(tick(house))
        assert report.started == []
        assert "admission" in report.errors[0]
        assert "lastRunId" not in stored(house)

    @pytest.mark.parametrize("point", ["engine.start", "history.record"])
    def test_after_admission_leaves_the_run_in_the_ledger(self, point):
        house = house_with(entry(), pause=Fails(point, times=9))
        report = run(tick(house))
        assert report.errors
        assert run(ledger.get(house.db, "rownightly-20260901T0300")).live


class TestABrokenRow:
    def test_is_paused_announced_once_and_the_others_fire(self):
        wreck = {**entry("wreck"), "cron": "61 * * * *"}
        house = house_with(wreck, entry())
        report = run(tick(house))
        assert (report.broken, report.claimed) == (["wreck"], ["nightly"])
        kept = stored(house, "wreck")
        assert kept["enabled"] is False
        assert "bad_cron" in kept["pausedReason"]
        assert sum("wreck" in lead for lead in house.web.threads.values()) == 1
        house.clock.advance(minutes=1)
        assert run(tick(house)).broken == []
        assert sum("wreck" in lead for lead in house.web.threads.values()) == 1

    @pytest.mark.parametrize("value", ["text", 7, [1], {"name": "x"}, {**entry(), "extra": 1}])
    def test_may_be_any_value_and_never_stops_the_tick(self, value):
        house = house_with(entry())
        house.config.put({"schedules.wreck": value})
        report = run(tick(house))
        assert report.claimed == ["nightly"]
        assert report.broken == ["wreck"]


class TestAnEarlierClaimThatNeverStarted:
    claimed = {
        "cron": "* * * * *",
        "last_fired_at": MINUTE - 120_000,
        "last_claimed_at": MINUTE - 120_000,
        "last_due_at": MINUTE - 120_000,
        "coalesced": 2,
    }

    def test_is_written_down_before_a_newer_one_takes_its_place(self):
        house = house_with(entry(**self.claimed))
        run(tick(house))
        first = run(house.history.history("nightly", 10, None))[-1]
        assert (first.state, first.due_at, first.coalesced) == (
            "claimed_not_started",
            MINUTE - 120_000,
            2,
        )

    def test_keeps_its_row_from_being_claimed_while_it_cannot_be(self):
        house = house_with(entry(**self.claimed), entry(), pause=Fails("history.record"))
        house.config.put({"schedules.often": {**entry("often", **self.claimed)}})
        report = run(tick(house))
        assert "often" in report.lost
        assert stored(house, "often")["lastDueAt"] == MINUTE - 120_000


def test_the_answer_is_the_contracts():
    house = house_with(entry(), entry("bump", text="schedule remove x", grants=[]))
    answer = run(tick(house)).to_json()
    assert json.loads(json.dumps(answer))["started"] == [
        {"name": "nightly", "run_id": "rownightly-20260901T0300"}
    ]
    assert answer["refused"] == [{"name": "bump", "code": "schedule_write"}]
    assert set(answer) >= {
        "at",
        "due",
        "claimed",
        "lost",
        "started",
        "refused",
        "skipped",
        "jobs",
        "ms",
    }
    assert set(answer["jobs"]) >= {"due", "claimed", "lost", "skipped", "stale", "started"}


class TestAnOddRow:
    """Numbers that only a raw write can put there."""

    @pytest.mark.parametrize(
        "odd",
        [
            {"lastDueAt": 10**18},
            {"lastDueAt": -1},
            {"lastDueAt": 1, "lastClaimedAt": 10**30},
            {"lastFiredAt": 10**30, "lastDueAt": 1},
            {"createdAt": -(10**30)},
            {"createdAt": 10**30},
            {"coalesced": -1},
        ],
    )
    def test_never_keeps_the_others_from_firing_nor_from_being_listed(self, odd):
        house = house_with(entry())
        house.config.put({"schedules.odd": {**entry("odd"), **odd}})
        assert "nightly" in run(tick(house)).claimed
        house.clock.advance(minutes=1)
        run(tick(house))
        run(watch(house))
        assert {one.name for one in run(listing(house, house.clock.now_ms()))} >= {"odd", "nightly"}


def test_a_full_document_still_takes_a_claim():
    house = house_with(*(entry(f"row{n}") for n in range(100)))
    for size in (60_000, 6_000, 600, 60, 6):
        for n in range(100):
            swap = run(
                house.config.swap(
                    "org", house.config.get().version, {f"filler-{size}-{n}": "x" * size}
                )
            )
            if not swap.won:
                break
    assert len(run(tick(house)).claimed) == 100
    assert all("lastRunId" in stored(house, f"row{n}") for n in range(100))
