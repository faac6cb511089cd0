"""A person's secret for an MCP server: handed in by a code, sealed, and opened for one place."""

from typing import Any

import pytest

from bot.agent.seal import LIFETIME_MS, Taken, offer_code, open_secret, take_secret
from bot.words import Code, Refused
from tests.support.drive import run
from tests.support.house import TestHouse, make_house

SECRET = "sk-very-secret"


@pytest.fixture
def house() -> TestHouse:
    made = make_house()
    for owner in ("web:alice", "web:bob"):
        made.db.sql(
            "INSERT INTO mcp_servers (owner, name, url, created_at) VALUES (?, ?, ?, 0)",
            owner,
            "files",
            f"https://{owner[4:]}.example.com/mcp",
        )
    return made


def offer(house: TestHouse, owner: str = "web:alice") -> str:
    return run(offer_code(house, owner, "files", house.clock.now_ms()))


def take(house: TestHouse, code: str, secret: str = SECRET) -> Taken | Refused:
    return run(take_secret(house, code, secret, house.clock.now_ms()))


def code_of(answer: Any) -> Code:
    assert isinstance(answer, Refused), answer
    return answer.code


def row(house: TestHouse, owner: str = "web:alice") -> dict[str, Any]:
    return house.db.sql("SELECT * FROM mcp_servers WHERE owner = ?", owner)[0]


def test_what_is_handed_in_is_opened_for_its_server_and_stored_nowhere(house: TestHouse):
    assert take(house, offer(house)) == Taken("web:alice", "files")
    assert SECRET not in str(house.db.sql("SELECT * FROM mcp_servers"))
    assert run(open_secret(house, row(house))) == SECRET
    assert run(open_secret(house, row(house, "web:bob"))) is None


def test_a_sealed_secret_opens_in_no_other_row(house: TestHouse):
    take(house, offer(house))
    kept = row(house)
    for moved in ({"owner": "web:bob"}, {"name": "other"}, {"url": "https://evil.example.com"}):
        assert code_of(run(open_secret(house, {**kept, **moved}))) is Code.NOT_CONFIGURED


def test_a_changed_key_is_said_and_how_to_mend_it(house: TestHouse):
    take(house, offer(house))
    house.seal.key = "another"
    answer = run(open_secret(house, row(house)))
    assert code_of(answer) is Code.NOT_CONFIGURED
    assert "mcp remove files" in answer.detail


class TestCodes:
    def test_works_once(self, house: TestHouse):
        code = offer(house)
        take(house, code)
        assert code_of(take(house, code, "another")) is Code.BAD_CODE
        assert run(open_secret(house, row(house))) == SECRET

    def test_ends_after_ten_minutes(self, house: TestHouse):
        code = offer(house)
        house.clock.advance(ms=LIFETIME_MS)
        assert code_of(take(house, code)) is Code.BAD_CODE
        assert row(house)["secret"] is None

    def test_is_void_when_a_new_one_is_made(self, house: TestHouse):
        old, bobs, new = offer(house), offer(house, "web:bob"), offer(house)
        assert code_of(take(house, old)) is Code.BAD_CODE
        assert isinstance(take(house, bobs), Taken)
        assert isinstance(take(house, new), Taken)

    def test_is_void_when_its_server_is_gone(self, house: TestHouse):
        code = offer(house)
        house.db.sql("DELETE FROM mcp_servers WHERE owner = 'web:alice'")
        assert code_of(take(house, code)) is Code.BAD_CODE

    def test_the_server_that_came_in_its_place_gets_nothing(self, house: TestHouse):
        """The address is changed between the reading of the code and the writing."""
        code = offer(house)

        async def meanwhile(point: str) -> None:
            if point == "db.batch":
                house.db.sql("UPDATE mcp_servers SET url = 'https://evil.example.com'")

        house.db.pause = meanwhile
        assert code_of(take(house, code)) is Code.BAD_CODE
        assert row(house)["secret"] is None

    @pytest.mark.parametrize("code", ["", "AAAA", "' OR 1=1 --", "x" * 5000])
    def test_cannot_be_made_up(self, house: TestHouse, code: str):
        offer(house)
        assert code_of(take(house, code)) is Code.BAD_CODE


@pytest.mark.parametrize("secret", ["", "two words", "line\r\nx: y", "ü", "\x00", "x" * 4097])
def test_what_no_header_can_carry_is_refused_and_the_code_stands(house: TestHouse, secret: str):
    code = offer(house)
    assert code_of(take(house, code, secret)) is Code.BAD_VALUE
    assert isinstance(take(house, code), Taken)


def test_without_a_key_no_secret_is_kept(house: TestHouse):
    house.seal.key = ""
    assert code_of(take(house, offer(house))) is Code.NOT_CONFIGURED
    assert row(house)["secret"] is None
