import json

import pytest

from bot.commands.all import REGISTRY
from bot.objects import dump
from bot.ports import Fault, Swap
from bot.runs import ledger
from bot.runs.watchdog import watch
from bot.schedules import edit
from bot.schedules.claim import CLAIM_BATCH
from bot.schedules.fire import fire
from bot.schedules.listing import listing
from bot.schedules.tick import tick
from bot.words import Refused
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
        assert run(house.history.history("nightly", 1, None))[0].run_id == run_id

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
        assert run(house.history.history("nightly", 1, None))[0].state == "refused"

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
        assert run(house.history.history("nightly", 1, None))[0].state == "skipped_stale"
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


class Refuses:
    """Put over a house's config: refuses each swap that touches one of some keys."""

    def __init__(self, house, *names):
        self.keys = {f"schedules.{name}" for name in names}
        self.swaps = 0
        self.swap_ = house.config.swap
        house.config.swap = self.swap

    async def swap(self, tier, version, changes, **options):
        self.swaps += 1
        if self.keys & set(changes):
            return Swap(won=False, version=version, refusal="it is too large")
        return await self.swap_(tier, version, changes, **options)


class TestARowThatCannotBeClaimed:
    names = [f"row{n:03d}" for n in range(CLAIM_BATCH + 5)]

    def test_is_reported_and_the_others_fire(self):
        house = house_with(*(entry(name) for name in self.names))
        Refuses(house, "row007")
        report = run(tick(house))
        assert sorted(report.claimed) == [name for name in self.names if name != "row007"]
        assert report.errors == ["row007: it cannot be claimed: it is too large"]
        assert report.lost == []
        assert len(house.engine.started) == len(self.names) - 1
        assert "lastFiredAt" not in stored(house, "row007")

    def test_costs_a_few_swaps_and_not_one_for_each_other(self):
        house = house_with(*(entry(name) for name in self.names))
        refuses = Refuses(house, "row007")
        run(tick(house))
        assert refuses.swaps <= 14

    def test_may_be_any_number_of_them(self):
        house = house_with(*(entry(name) for name in self.names))
        Refuses(house, *self.names[:-1])
        report = run(tick(house))
        assert report.claimed == [self.names[-1]]
        assert len(report.errors) == len(self.names) - 1

    def test_leaves_what_another_writer_was_first_to_for_the_next_tick(self):
        house = None
        writes = []

        async def another_writer(point):
            if point == "config.swap" and not writes:
                writes.append(True)
                house.config.put({"note": 1})

        house = house_with(*(entry(name) for name in self.names[:4]), pause=another_writer)
        Refuses(house, "row000")
        report = run(tick(house))
        assert report.lost == ["row001"]
        assert report.claimed == ["row002", "row003"]
        house.clock.advance(minutes=1)
        assert run(tick(house)).claimed == ["row001"]

    def test_keeps_its_claim_that_never_started(self):
        earlier = TestAnEarlierClaimThatNeverStarted.claimed
        house = house_with(entry("often", **earlier), entry())
        Refuses(house, "often")
        for _ in range(2):
            run(tick(house))
            house.clock.advance(minutes=1)
        (firing,) = run(house.history.history("often", 10, None))
        assert (firing.state, firing.due_at) == ("claimed_not_started", earlier["last_due_at"])


def padded(name, size, **values):
    """An entry whose JSON takes ``size`` bytes."""
    made = {**entry(name, **values), "note": ""}
    return {**made, "note": "x" * (size - len(dump(made)))}


class TestAFullDocument:
    def test_takes_the_claim_of_a_row_of_full_size(self):
        house = house_with(padded("big", 65_536, cron="* * * * *"), entry())
        assert run(tick(house)).claimed == ["big", "nightly"]
        assert "lastRunId" in stored(house, "big")
        house.clock.advance(minutes=1)
        assert run(tick(house)).claimed == ["big"]
        paused = run(edit.pause(house, "big", "\x01" * edit.MAX_REASON))
        assert paused.enabled is False
        run(edit.resume(house, "big", house.clock.now_ms()))
        house.clock.advance(minutes=1)
        assert run(tick(house)).claimed == ["big"]

    def test_takes_the_claims_of_new_rows_whatever_reasons_others_were_paused_for(self):
        large = [padded(f"large{n}", 11_500, cron="0 0 1 1 *") for n in range(90)]
        house = house_with(*large, *(entry(f"new{n}") for n in range(7)))
        free = 1024 * 1024 - size_of(house)
        house.config.put({"filler": "x" * (free - 8)})
        waiting = [one["name"] for one in large]
        for length in (edit.MAX_REASON, 50, 5, 1, 0):
            while waiting and not isinstance(
                run(edit.pause(house, waiting[0], "\x01" * length)), Refused
            ):
                waiting.pop(0)
        assert waiting, "the reasons use up what there is for them"
        report = run(tick(house))
        assert report.claimed == [f"new{n}" for n in range(7)]
        assert report.errors == []
        assert all("lastRunId" in stored(house, f"new{n}") for n in range(7))


def size_of(house):
    entries = house.config.get().entries
    return sum(len(key.encode()) + len(dump(value).encode()) for key, value in entries.items())


class TestABrokenRowThatIsHardToPause:
    def leads(self, house, name):
        return [lead for lead in house.web.threads.values() if f"schedule {name} cannot" in lead]

    def twice(self, house):
        reports = []
        for _ in range(2):
            reports.append(run(tick(house)))
            house.clock.advance(minutes=1)
        return reports

    @pytest.mark.parametrize(
        "value", [json.loads("[" * 32 + "]" * 32), "x" * 65_000, "\x01" * 9_000]
    )
    def test_for_what_it_is_is_paused_with_the_others(self, value):
        house = house_with({**entry("wreck"), "cron": "61 * * * *"}, entry())
        house.config.put({"schedules.odd": value})
        first, second = self.twice(house)
        assert (first.broken, first.errors) == (["odd", "wreck"], [])
        assert (second.broken, second.errors) == ([], [])
        assert stored(house, "odd")["enabled"] is False
        assert len(self.leads(house, "odd")) == 1

    def test_for_its_size_is_paused_with_the_rest_kept(self):
        house = house_with(entry())
        house.config.put({"schedules.fat": {"z": "y" * 65_520}})
        first, second = self.twice(house)
        assert (first.broken, second.broken, second.errors) == (["fat"], [], [])
        assert len(stored(house, "fat")["z"]) == 65_520

    def test_loses_the_rest_of_its_entry_where_there_is_no_room_for_it(self):
        house = house_with(entry())
        house.config.put({"schedules.fat": {"z": "y"}, "schedules.wreck": {"name": "wreck"}})
        house.config.put({"schedules.fat": {"z": "y" * (65_536 + 4_096 - 8)}})
        first, second = self.twice(house)
        assert (first.broken, first.errors, second.broken) == (["fat", "wreck"], [], [])
        assert set(stored(house, "fat")) == {"enabled", "pausedReason"}
        assert stored(house, "wreck")["name"] == "wreck"
        assert len(self.leads(house, "fat")) == len(self.leads(house, "wreck")) == 1

    def test_in_vain_is_announced_once_reported_and_keeps_no_other_from_it(self):
        house = house_with({**entry("wreck"), "cron": "61 * * * *"}, entry())
        house.config.put({"schedules.odd": 7})
        Refuses(house, "odd")
        first, second = self.twice(house)
        assert (first.claimed, first.broken) == (["nightly"], ["wreck"])
        for report in (first, second):
            assert report.errors == ["odd: it cannot be paused: it is too large"]
        assert len(self.leads(house, "odd")) == len(self.leads(house, "wreck")) == 1

    def test_for_a_store_that_fails_waits_for_the_next_tick(self):
        house = house_with(pause=Fails("config.swap"))
        house.config.put({"schedules.odd": 7})
        first, second = self.twice(house)
        assert (first.broken, second.broken) == ([], ["odd"])
        assert first.errors == ["pause broken rows: config.swap is down"]
        assert len(self.leads(house, "odd")) == 1


class TestARowWithTheIdOfAnother:
    def test_is_paused_and_announced_and_the_other_fires(self):
        house = house_with(entry("one", id="row1"), entry("two", id="row1"))
        report = run(tick(house))
        assert (report.due, report.claimed, report.broken) == (1, ["one"], ["two"])
        assert stored(house, "two")["enabled"] is False
        assert "id: row1 is the id of one already" in stored(house, "two")["pausedReason"]
        shown = {one.name: one.view for one in run(listing(house, house.clock.now_ms()))}
        assert shown["two"]["last"] is None
        assert shown["one"]["last"]["run_id"] == "row1-20260901T0300"
        house.clock.advance(minutes=1)
        assert run(tick(house)).broken == []
        assert sum("schedule two cannot" in lead for lead in house.web.threads.values()) == 1

    def test_is_not_fired_by_hand(self):
        house = house_with(entry("one", id="row1"), entry("two", id="row1"))
        made = run(fire(house, "two", by="web:a", call_id="c", now_ms=house.clock.now_ms()))
        assert isinstance(made, Refused)
        assert house.engine.started == []
