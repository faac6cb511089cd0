from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ports import Firing
from bot.words import FINAL_STATES, State, Trigger
from schedule_do.merge import merge, rank
from tests.support.contracts import firing

RECORDS = st.builds(
    firing,
    state=st.sampled_from(["starting", "claimed_not_started", "running", *sorted(FINAL_STATES)]),
    code=st.sampled_from([None, "no_output", "thread_busy"]),
    trigger=st.sampled_from(["tick", "refire"]),
    by=st.sampled_from([None, "web:alice"]),
    run_id=st.sampled_from([None, "r1-m1"]),
    delivery=st.sampled_from([None, "delivered", "unknown"]),
    coalesced=st.integers(0, 3),
)


def test_ranks_rise_from_the_claim_to_the_end():
    live = [State.STARTING, State.CLAIMED_NOT_STARTED, State.RUNNING]
    assert [rank(state) for state in live] == [0, 1, 2]
    assert {rank(state) for state in FINAL_STATES} == {3}


@given(RECORDS, RECORDS)
@settings(deadline=None, derandomize=True)
def test_a_merge_never_goes_back(known: Firing, told: Firing):
    merged = merge(known, told)
    assert rank(merged.state) == max(rank(known.state), rank(told.state))
    if known.trigger == Trigger.REFIRE:
        assert merged.trigger == Trigger.REFIRE
    for field in ("run_id", "delivery", "by"):
        if getattr(known, field) is not None or getattr(told, field) is not None:
            assert getattr(merged, field) is not None
    assert merged.coalesced == max(known.coalesced, told.coalesced)


@given(RECORDS, RECORDS)
@settings(deadline=None, derandomize=True)
def test_a_record_that_comes_twice_changes_nothing_the_second_time(known: Firing, told: Firing):
    assert merge(merge(known, told), told) == merge(known, told)


def test_who_a_firing_is_stays_as_first_written():
    told = firing("other", name="b", row_id="r2", due_at=1, claimed_at=2, state="ok")
    assert merge(firing(), told) == firing(state="ok")


def test_a_code_comes_with_its_state():
    failed = firing(state="failed", code="no_output")
    assert merge(failed, firing(state="ok")).code is None
    assert merge(firing(state="running"), failed).code == "no_output"


def test_a_null_erases_nothing_that_is_known():
    known = firing(state="failed", code="no_output", run_id="r1-m1", delivery="delivered")
    assert merge(known, firing(state="failed")) == known


def test_a_late_live_record_fills_in_what_a_final_one_did_not_know():
    late = firing(state="running", run_id="r1-m1", coalesced=2)
    assert merge(firing(state="ok", delivery="delivered"), late) == firing(
        state="ok", delivery="delivered", run_id="r1-m1", coalesced=2
    )


def test_a_delivery_that_became_known_replaces_one_that_was_not():
    unknown = firing(state="ok", delivery="unknown")
    assert merge(unknown, firing(state="ok", delivery="delivered")).delivery == "delivered"


@pytest.mark.parametrize("state", ["running", "ok", "refused"])
def test_a_refire_puts_its_trigger_and_who_pressed_on_a_claim_without_a_run(state: str):
    refire = firing(state=state, trigger="refire", by="web:alice")
    merged = merge(firing(state="claimed_not_started"), refire)
    assert (merged.state, merged.trigger, merged.by) == (state, "refire", "web:alice")


def test_a_run_that_the_tick_started_is_no_refire():
    refire = firing(state="running", trigger="refire", by="web:alice")
    assert merge(firing(state="running"), refire).trigger == "tick"
    assert merge(firing(state="ok"), replace(refire, state="ok")).trigger == "tick"
