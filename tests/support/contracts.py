"""What every implementation of a store must do: subclass with a fixture ``store``, fresh each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.ports import ConfigStore, Firing, HistoryStore, Seal, TickRecord
from tests.support.drive import run

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
NOON = 1_800_000_000_000


class ConfigStoreContract:
    def test_a_tier_never_written_is_empty_at_version_0(self, store: ConfigStore):
        document = run(store.read("org"))
        assert (document.version, dict(document.entries)) == (0, {})

    def test_what_was_written_is_read_back(self, store: ConfigStore):
        entries: dict[str, Any] = {
            "schedules.a": {
                "cron": "0 3 * * *",
                "grants": [],
                "pausedReason": None,
                "window": 7200,
            },
            "note": 'é "quoted" \\ \n \x00 日本 🎉',
            "yes": True,
            "ratio": 0.5,
            "at": 1_800_000_000_000,
            "list": [1, [2, {"x": None}]],
        }
        assert run(store.swap("org", 0, entries)).won
        document = run(store.read("org"))
        assert (document.version, dict(document.entries)) == (1, entries)

    def test_each_won_swap_adds_one_to_the_version(self, store: ConfigStore):
        versions = [run(store.swap("org", n, {"n": n})).version for n in range(4)]
        assert versions == [1, 2, 3, 4]

    def test_a_lost_swap_writes_nothing_and_says_the_version_that_stands(self, store: ConfigStore):
        run(store.swap("org", 0, {"a": 1}))
        run(store.swap("org", 1, {"a": 2}))
        lost = run(store.swap("org", 1, {"a": 3, "b": 3}))
        assert (lost.won, lost.version, lost.refusal) == (False, 2, None)
        assert dict(run(store.read("org")).entries) == {"a": 2}

    def test_a_swap_that_expects_a_version_yet_to_come_loses(self, store: ConfigStore):
        assert not run(store.swap("org", 1, {"a": 1})).won
        assert run(store.read("org")).version == 0

    def test_of_two_swaps_over_one_reading_one_wins(self, store: ConfigStore):
        swaps = [run(store.swap("org", 0, {"by": who})) for who in ("first", "second")]
        assert [swap.won for swap in swaps] == [True, False]
        assert dict(run(store.read("org")).entries) == {"by": "first"}

    def test_none_removes_a_key_and_the_others_stay(self, store: ConfigStore):
        run(store.swap("org", 0, {"a": 1, "b": 2, "c": 3}))
        assert run(store.swap("org", 1, {"b": None, "absent": None, "c": 4})).won
        assert dict(run(store.read("org")).entries) == {"a": 1, "c": 4}

    def test_tiers_are_apart(self, store: ConfigStore):
        run(store.swap("org", 0, {"a": 1}))
        run(store.swap("user:web:alice", 0, {"a": 2}))
        assert dict(run(store.read("org")).entries) == {"a": 1}
        assert dict(run(store.read("user:web:alice")).entries) == {"a": 2}

    def test_a_reading_does_not_change_when_the_document_does(self, store: ConfigStore):
        run(store.swap("org", 0, {"a": {"n": 1}}))
        before = run(store.read("org"))
        run(store.swap("org", 1, {"a": {"n": 2}, "b": 1}))
        assert (before.version, dict(before.entries)) == (1, {"a": {"n": 1}})
        assert dict(run(store.read("org")).entries) == {"a": {"n": 2}, "b": 1}

    def test_the_callers_later_change_of_a_value_does_not_reach_the_store(self, store: ConfigStore):
        run(store.swap("org", 0, {"a": 0}))
        run(store.read("org"))
        value = {"n": [1]}
        run(store.swap("org", 1, {"a": value}))
        value["n"].append(2)
        assert dict(run(store.read("org")).entries) == {"a": {"n": [1]}}

    @pytest.mark.parametrize(
        ("changes", "named"),
        [
            ({"big": "x" * 65_536}, "big"),
            ({f"k{n}": n for n in range(501)}, "500 keys"),
            ({f"k{n}": "x" * 64_000 for n in range(17)}, "1,048,576 bytes"),
            ({"deep": json.loads("[" * 33 + "]" * 33)}, "32 deep"),
        ],
    )
    def test_a_change_that_it_does_not_take_is_refused_by_name_and_writes_nothing(
        self, store: ConfigStore, changes: dict[str, Any], named: str
    ):
        run(store.swap("org", 0, {"a": 1}))
        swap = run(store.swap("org", 1, changes))
        assert not swap.won
        assert swap.refusal is not None
        assert named in swap.refusal
        document = run(store.read("org"))
        assert (document.version, dict(document.entries)) == (1, {"a": 1})

    def test_upkeep_of_a_standing_schedule_has_room_beyond_the_limits(self, store: ConfigStore):
        run(store.swap("org", 0, {"schedules.a": "x" * 65_534}))
        more = {"schedules.a": "x" * 73_000}
        assert run(store.swap("org", 1, more)).refusal is not None
        assert run(store.swap("org", 1, more, upkeep=True)).won

    def test_a_document_holds_2000_entries(self, store: ConfigStore):
        for version in range(4):
            changes = {f"k{version * 500 + n}": n for n in range(500)}
            assert run(store.swap("org", version, changes)).won
        one_more = run(store.swap("org", 4, {"more": 1}))
        assert one_more.refusal is not None
        assert run(store.swap("org", 4, {"more": 1, "k0": None})).won


def firing(key: str = "r1-m1", **fields: Any) -> Firing:
    """A firing that the tick claimed; ``fields`` over it."""
    claimed = Firing(
        key=key,
        name="nightly",
        row_id="r1",
        due_at=NOON,
        claimed_at=NOON + 50,
        trigger="tick",
        by=None,
        state="starting",
    )
    return replace(claimed, **fields)


class HistoryStoreContract:
    def test_a_firing_is_kept_as_it_was_told(self, store: HistoryStore):
        told = firing(state="failed", code="no_output", run_id="r1-m1", delivery="delivered")
        told = replace(told, trigger="hand", by="web:alice", due_at=None, coalesced=3)
        run(store.record([told]))
        assert run(store.history("nightly", 10, None)) == [told]
        assert run(store.latest({"r1": None})) == {"r1": told}

    def test_a_firing_moves_forward_under_its_key(self, store: HistoryStore):
        run(store.record([firing()]))
        run(store.record([firing(state="running", run_id="r1-m1")]))
        run(store.record([firing(state="ok", delivery="delivered")]))
        [kept] = run(store.history("nightly", 10, None))
        assert (kept.state, kept.run_id, kept.delivery) == ("ok", "r1-m1", "delivered")

    def test_a_final_state_is_never_put_back(self, store: HistoryStore):
        run(store.record([firing(state="ok", run_id="r1-m1")]))
        run(store.record([firing(state="running"), firing(state="starting")]))
        [kept] = run(store.history("nightly", 10, None))
        assert (kept.state, kept.run_id) == ("ok", "r1-m1")

    def test_records_of_one_call_fold_in_order(self, store: HistoryStore):
        run(store.record([firing(), firing(state="running"), firing(state="ok")]))
        assert [kept.state for kept in run(store.history("nightly", 10, None))] == ["ok"]

    def test_a_due_minute_of_a_row_has_one_firing_whatever_its_key(self, store: HistoryStore):
        run(store.record([firing("first", state="claimed_not_started")]))
        run(store.record([firing("second", state="running", trigger="refire", by="web:alice")]))
        [kept] = run(store.history("nightly", 10, None))
        assert (kept.key, kept.state) == ("first", "running")
        assert (kept.trigger, kept.by) == ("refire", "web:alice")

    def test_presses_by_hand_have_a_firing_each(self, store: HistoryStore):
        by_hand = firing(due_at=None, trigger="hand", by="web:alice")
        run(store.record([firing(), replace(by_hand, key="h1"), replace(by_hand, key="h2")]))
        assert {kept.key for kept in run(store.history("nightly", 10, None))} == {
            "r1-m1",
            "h1",
            "h2",
        }

    def test_history_is_newest_first_and_pages(self, store: HistoryStore):
        run(
            store.record(
                [
                    firing(f"m{n}", due_at=NOON + n * MINUTE, claimed_at=NOON + n * MINUTE)
                    for n in (2, 0, 3, 1)
                ]
            )
        )
        first = run(store.history("nightly", 2, None))
        assert [kept.key for kept in first] == ["m3", "m2"]
        rest = run(store.history("nightly", 2, first[-1].claimed_at))
        assert [kept.key for kept in rest] == ["m1", "m0"]
        assert run(store.history("nightly", 2, rest[-1].claimed_at)) == []

    def test_history_is_of_one_name(self, store: HistoryStore):
        run(store.record([firing(), firing("x", name="other", row_id="r2")]))
        assert [kept.key for kept in run(store.history("other", 10, None))] == ["x"]
        assert run(store.history("unheard", 10, None)) == []

    def test_history_of_a_row_is_not_that_of_another_row_of_its_name(self, store: HistoryStore):
        removed = [firing(f"r0-m{n}", row_id="r0", due_at=n, claimed_at=n) for n in range(5)]
        run(store.record([firing()]))
        run(store.record(removed))
        assert [each.key for each in run(store.history("nightly", 1, None, "r1"))] == ["r1-m1"]
        assert [each.key for each in run(store.history("nightly", 2, None, "r0"))] == [
            "r0-m4",
            "r0-m3",
        ]
        assert len(run(store.history("nightly", 10, None))) == 6

    def test_what_was_recorded_last_is_the_newest_whatever_the_clock_said(
        self, store: HistoryStore
    ):
        for key, at in (("before", -DAY), ("ahead", 400 * DAY), ("back", 0), ("after", MINUTE)):
            run(store.record([firing(key, due_at=NOON + at, claimed_at=NOON + at)]))
        run(store.record([firing("ahead", due_at=NOON + 400 * DAY, state="ok")]))
        expected = ["after", "back", "ahead", "before"]
        assert [each.key for each in run(store.history("nightly", 10, None))] == expected
        paged: list[str] = []
        before: int | None = None
        while page := run(store.history("nightly", 1, before)):
            paged.append(page[0].key)
            before = page[0].claimed_at
        assert paged == expected

    def test_latest_is_of_rows(self, store: HistoryStore):
        later = firing("m2", due_at=NOON + MINUTE, claimed_at=NOON + MINUTE)
        other, again = firing("x", name="other", row_id="r2"), firing("again", row_id="r3")
        run(store.record([later, firing(), other, again]))
        asked = {"r1": None, "r2": None, "r3": None, "unheard": None}
        assert run(store.latest(asked)) == {"r1": later, "r2": other, "r3": again}
        assert run(store.latest({})) == {}

    def test_latest_is_the_claim_or_a_press_that_came_after_it(self, store: HistoryStore):
        ahead = firing("ahead", due_at=NOON + DAY, claimed_at=NOON + DAY)
        run(store.record([ahead]))
        assert run(store.latest({"r1": "r1-m1"})) == {}, "the claim is newer than what is known"
        run(store.record([firing()]))
        assert run(store.latest({"r1": "r1-m1"})) == {"r1": firing()}
        press = firing("h1", due_at=None, claimed_at=NOON - DAY, trigger="hand", by="web:alice")
        run(store.record([press]))
        run(store.record([firing(state="ok")]))
        assert run(store.latest({"r1": "r1-m1"})) == {"r1": press}

    def test_latest_is_the_claim_that_is_claimed_again_after_a_wrong_clock(
        self, store: HistoryStore
    ):
        run(store.record([firing(state="claimed_not_started")]))
        run(store.record([firing("ahead", due_at=NOON + DAY, claimed_at=NOON + DAY)]))
        again = firing(state="running", run_id="r1-m1")
        run(store.record([again]))
        assert run(store.latest({"r1": "r1-m1"})) == {"r1": again}

    def test_many_firings_go_in_one_call(self, store: HistoryStore):
        many = [firing(f"k{n}", name=f"n{n}", row_id=f"r{n}") for n in range(250)]
        run(store.record(many))
        claims = {each.row_id: each.key for each in many}
        assert run(store.latest(claims)) == {each.row_id: each for each in many}

    def test_no_tick_yet_has_a_summary(self, store: HistoryStore):
        nothing = {"count": 0, "p50": None, "p95": None}
        assert run(store.tick_summary(NOON)) == {
            "last": None,
            "h24": nothing,
            "d30": nothing,
            "claims_without_run": {"d30": 0},
        }

    def test_ticks_are_counted_by_day_and_by_month(self, store: HistoryStore):
        for at, ms in ((NOON - 31 * DAY, 1), (NOON - 2 * DAY, 900), (NOON - 60, 20), (NOON, 10)):
            run(store.record_tick(TickRecord(at, ms, due=1, claimed=1)))
        summary = run(store.tick_summary(NOON))
        assert summary["last"] == {"at": NOON, "ms": 10}
        assert summary["h24"] == {"count": 2, "p50": 10, "p95": 20}
        assert summary["d30"] == {"count": 3, "p50": 20, "p95": 900}

    def test_ticks_are_read_back_as_they_were_recorded_and_page(self, store: HistoryStore):
        ticks = [TickRecord(NOON + at, 5, due=1, errors=n) for n, at in enumerate((0, DAY, 60, 99))]
        for tick in ticks:
            run(store.record_tick(tick))
        assert run(store.ticks(10, None)) == ticks[::-1]
        assert run(store.ticks(2, NOON + 60)) == [ticks[1], ticks[0]]
        assert run(store.ticks(2, NOON + 61)) == [ticks[2], ticks[0]]

    def test_claims_without_a_run_are_counted_for_a_month(self, store: HistoryStore):
        states = [
            firing("old", due_at=1, claimed_at=NOON - 31 * DAY, state="claimed_not_started"),
            firing("shown", due_at=2, state="claimed_not_started"),
            firing("forgotten", due_at=3, claimed_at=NOON - MINUTE, state="starting"),
            firing("young", due_at=4, claimed_at=NOON, state="starting"),
            firing("refired", due_at=5, state="ok", trigger="refire", by="web:alice"),
            firing("fine", due_at=6, state="ok"),
            firing("skipped", due_at=7, state="skipped_stale"),
        ]
        run(store.record(states))
        assert run(store.tick_summary(NOON + 100))["claims_without_run"] == {"d30": 3}

    def test_strips_count_what_happened_by_bucket_and_state(self, store: HistoryStore):
        def at(minute: int, **fields: Any) -> Firing:
            moment = NOON + minute * MINUTE
            return firing(f"m{minute}", due_at=moment, claimed_at=moment, **fields)

        run(store.record([at(-1), at(0, state="ok"), at(3, state="ok", coalesced=4)]))
        run(store.record([at(4, state="failed"), at(19, state="refused")]))
        run(store.record([at(10, name="other", row_id="r2", state="running")]))
        for minute in (-1, 0, 1, 25):
            run(store.record_tick(TickRecord(NOON + minute * MINUTE, 5)))
        assert run(store.strips(NOON, 10 * MINUTE)) == {
            "ticks": [[0, 2], [2, 1]],
            "firings": {
                "nightly": [[0, "failed", 1, 0], [0, "ok", 2, 4], [1, "refused", 1, 0]],
                "other": [[1, "running", 1, 0]],
            },
        }

    def test_strips_of_nothing_are_empty(self, store: HistoryStore):
        assert run(store.strips(NOON, MINUTE)) == {"ticks": [], "firings": {}}


class SealContract:
    """Subclass with fixtures ``seal``, ``other`` (another key) and ``keyless``."""

    SECRETS = ("s", "sk-0123456789", "x" * 4096, "ü 🎉")

    @pytest.mark.parametrize("secret", SECRETS)
    def test_what_was_closed_opens_for_its_place(self, seal: Seal, secret: str):
        sealed = run(seal.close(secret, place="mcp: a"))
        assert sealed is not None
        assert sealed != secret
        assert run(seal.open(sealed, place="mcp: a")) == secret

    def test_it_opens_for_no_other_place_and_by_no_other_key(
        self, seal: Seal, other: Seal, keyless: Seal
    ):
        sealed = run(seal.close("secret", place="a")) or ""
        assert run(seal.open(sealed, place="b")) is None
        assert run(other.open(sealed, place="a")) is None
        assert run(keyless.open(sealed, place="a")) is None

    def test_a_text_that_was_changed_does_not_open(self, seal: Seal):
        sealed = run(seal.close("secret", place="a")) or ""
        for changed in ("", "v1.", "v1.AAAA", sealed[:-5], sealed[1:], sealed + "AAAA", "v1.ü"):
            assert run(seal.open(changed, place="a")) is None

    def test_without_a_key_nothing_is_closed(self, keyless: Seal):
        assert run(keyless.close("secret", place="a")) is None
