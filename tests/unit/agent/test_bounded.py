import pytest

from bot.agent.bounded import bounded
from bot.ports import Fault
from tests.support.drive import run
from tests.support.house import make_house


def timeout_after(seconds: float, **asked: float) -> float:
    """What a request is given, that many seconds into a turn of fifty."""
    house = make_house()
    house.http.reply("fine")
    in_time = bounded(house, house.clock.now_ms() + 50_000)
    house.clock.advance(seconds=seconds)
    run(in_time.http.send("GET", "https://example.com/", **asked))  # type: ignore[arg-type]
    return house.http.sent[0].timeout_s


def test_a_request_has_its_own_time_while_there_is_enough():
    assert timeout_after(10) == 20.0
    assert timeout_after(10, timeout_s=5) == 5


def test_and_what_is_left_where_there_is_less():
    assert timeout_after(45) == 5.0
    assert timeout_after(49, timeout_s=5) == 1.0


def test_after_the_deadline_none_is_sent():
    house = make_house()
    in_time = bounded(house, house.clock.now_ms())
    with pytest.raises(Fault, match="deadline"):
        run(in_time.http.send("GET", "https://example.com/"))
    assert house.http.sent == []
