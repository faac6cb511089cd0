import pytest

from bot.ports import Fault
from schedule_do.client import RECORD_BATCH, ScheduleClient
from tests.support.contracts import firing
from tests.support.drive import run
from tests.support.objects import LocalObject, schedule_object


@pytest.fixture
def schedules() -> LocalObject:
    return schedule_object()


def test_records_go_a_batch_a_call(schedules: LocalObject):
    many = [firing(f"k{n}", name=f"n{n}", row_id=f"r{n}") for n in range(RECORD_BATCH + 1)]
    run(ScheduleClient(schedules).record(many))
    assert len(schedules.calls) == 2


def test_nothing_to_record_and_no_rows_cost_no_call(schedules: LocalObject):
    run(ScheduleClient(schedules).record([]))
    assert run(ScheduleClient(schedules).latest({})) == {}
    assert schedules.calls == []


def test_a_name_needs_no_care_on_its_way(schedules: LocalObject):
    told = firing(name="a&b=c d/é")
    run(ScheduleClient(schedules).record([told]))
    assert run(ScheduleClient(schedules).history("a&b=c d/é", 10)) == [told]
    assert run(ScheduleClient(schedules).history("a&b=c d/é", 10, None, "r1")) == [told]


def test_an_object_that_does_not_answer_is_a_fault(schedules: LocalObject):
    schedules.broken = True
    with pytest.raises(Fault, match=r"^POST /schedules/record was not answered$"):
        run(ScheduleClient(schedules).record([firing()]))


def test_a_record_that_the_object_calls_malformed_is_a_fault(schedules: LocalObject):
    with pytest.raises(Fault, match="400"):
        run(ScheduleClient(schedules).record([firing(state="odd")]))


def test_a_limit_out_of_bounds_is_a_fault(schedules: LocalObject):
    with pytest.raises(Fault, match="limit is 1 to 200"):
        run(ScheduleClient(schedules).history("nightly", 201))
