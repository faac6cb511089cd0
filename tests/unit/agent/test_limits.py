from typing import Any

import pytest

from bot.agent.limits import CEILINGS, Limits, Spent, bad_ceiling, deadline_ms, limits_of, passed
from bot.runs.ledger import Run
from bot.words import Code, Source
from tests.support.turns import Office

DEFAULTS = Limits(60, 500_000, 900)


def turn(**values: Any) -> Run:
    office = Office()
    office.admit("hello", **values)
    return office.run()


def test_the_org_document_sets_them():
    entries = {"agent.max_steps": 3, "agent.max_tokens": 2_000, "agent.deadline_s": 5}
    assert limits_of(entries, turn()) == Limits(3, 2_000, 5)
    assert limits_of({}, turn()) == DEFAULTS


def test_a_job_has_fifty_seconds_or_less():
    job = turn(source=Source.JOB, name="stretch", row_id="job1")
    assert limits_of({}, job).deadline_s == 50
    assert limits_of({"agent.deadline_s": 5}, job).deadline_s == 5


@pytest.mark.parametrize("value", [0, -1, 10**9, 3.5, "3", True, None, [3], {}])
def test_a_value_out_of_bounds_counts_as_the_default(value: object):
    assert limits_of(dict.fromkeys(CEILINGS, value), turn()) == DEFAULTS


def test_such_a_value_is_refused_when_it_is_set():
    assert bad_ceiling("agent.max_steps", 3) is None
    assert bad_ceiling("zone", "UTC") is None
    assert "1 to 200" in (bad_ceiling("agent.max_steps", 201) or "")
    office = Office()
    run = office.say("config set agent.max_steps 9999", grants=("config:write",))
    assert (run.state, run.code) == ("refused", Code.BAD_VALUE)
    assert office.house.config.get().entries == {}


def test_the_watchdog_outlives_every_deadline():
    from bot.runs.watchdog import DEADLINE_MS

    assert CEILINGS["agent.deadline_s"].high * 1000 < DEADLINE_MS


def test_which_ceiling_ends_a_turn():
    office = Office()
    office.admit("hello")
    run = office.run()
    limits = Limits(2, 1_000, 10)
    now = deadline_ms(run, limits) - 1
    cases = {
        (Spent(), now): None,
        (Spent(1, 999), now): None,
        (Spent(2, 0), now): Code.TOO_MANY_STEPS,
        (Spent(0, 1_000), now): Code.TOO_MANY_TOKENS,
        (Spent(2, 1_000), now + 1): Code.TIMED_OUT,
    }
    for (spent, at), code in cases.items():
        ending = passed(run, limits, spent, at)
        assert (ending.code if ending else None) == code
