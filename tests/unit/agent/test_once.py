"""A call that changes the outside is made at most once, whatever runs again."""

import pytest

from bot.agent.once import KEPT_MS, once
from bot.agent.tools import ToolCall, ToolResult
from bot.ports import Fault
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.unit.agent.owner import run_of


class Outside:
    def __init__(self, result: ToolResult | Exception):
        self.result = result
        self.done = 0

    async def __call__(self) -> ToolResult:
        self.done += 1
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def house() -> TestHouse:
    return make_house()


def call(house: TestHouse, key: str = "k") -> ToolCall:
    return ToolCall(house, run_of(), {}, key, house.clock.now_ms())


@pytest.mark.parametrize(
    "result", [ToolResult("done", untrusted=True), ToolResult("refused", ok=False)]
)
def test_a_second_time_answers_what_the_first_came_to(house: TestHouse, result: ToolResult):
    work = Outside(result)
    assert [run(once(call(house), work)) for _ in range(3)] == [result] * 3
    assert work.done == 1


def test_another_call_is_another(house: TestHouse):
    work = Outside(ToolResult("done"))
    run(once(call(house, "a"), work))
    run(once(call(house, "b"), work))
    assert work.done == 2


def test_a_call_that_was_cut_off_is_not_made_again(house: TestHouse):
    cut_off, again = Outside(Fault("killed")), Outside(ToolResult("done"))
    with pytest.raises(Fault):
        run(once(call(house), cut_off))
    result = run(once(call(house), again))
    assert not result.ok
    assert "not known" in result.text
    assert again.done == 0


def test_nothing_goes_out_where_the_claim_is_not_kept(house: TestHouse):
    async def down(point: str) -> None:
        raise Fault("the database is down")

    house.db.pause = down
    work = Outside(ToolResult("done"))
    with pytest.raises(Fault):
        run(once(call(house), work))
    assert work.done == 0


def test_old_calls_are_forgotten(house: TestHouse):
    run(once(call(house, "old"), Outside(ToolResult("done"))))
    house.clock.advance(ms=KEPT_MS + 1)
    run(once(call(house, "new"), Outside(ToolResult("done"))))
    assert [row["key"] for row in house.db.sql("SELECT key FROM tool_calls")] == ["new"]
