"""A person's own Telegram chat: linked by a code, and written to by their agent alone."""

from collections.abc import Iterator

import pytest

from bot.agent.telegram_tool import (
    LIFETIME_MS,
    MAX_TEXT,
    consume_link_code,
    linked_chat,
    offer_link_code,
)
from bot.words import Code, Refused
from tests.support.demo_github import UrllibHttp
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.telegram_server import TelegramServer
from tests.unit.agent.owner import Owner


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as made:
        yield made


@pytest.fixture
def house(telegram: TelegramServer) -> TestHouse:
    settings = {"telegram_bot_token": telegram.token, "telegram_api_url": telegram.url}
    return make_house(http=UrllibHttp(), settings=settings)


def offer(house: TestHouse, owner: str = "web:alice") -> str:
    return run(offer_link_code(house, owner, house.clock.now_ms()))


def send(house: TestHouse, code: str, chat: int = 77, user: int = 77) -> str | Refused:
    return run(consume_link_code(house, code, chat, user, house.clock.now_ms()))


def chat_of(house: TestHouse, owner: str = "web:alice") -> str | None:
    return run(linked_chat(house, owner))


def refused(answer: str | Refused) -> str:
    assert isinstance(answer, Refused) and answer.code is Code.BAD_CODE
    return answer.detail


class TestLinking:
    def test_whoever_sends_the_code_is_linked_to_its_owner(self, house: TestHouse):
        assert send(house, offer(house)) == "web:alice"
        assert chat_of(house) == "77"
        assert chat_of(house, "web:bob") is None

    def test_a_code_works_once(self, house: TestHouse):
        code = offer(house)
        send(house, code)
        refused(send(house, code, 88, 88))
        assert chat_of(house) == "77"

    def test_a_code_ends_after_ten_minutes(self, house: TestHouse):
        code = offer(house)
        house.clock.advance(ms=LIFETIME_MS)
        refused(send(house, code))
        assert chat_of(house) is None

    def test_a_new_code_voids_the_old_one(self, house: TestHouse):
        old, new = offer(house), offer(house)
        refused(send(house, old))
        assert send(house, new) == "web:alice"

    def test_a_code_that_is_said_in_a_group_is_void(self, house: TestHouse):
        code = offer(house)
        assert "private chat" in refused(send(house, code, chat=-100123, user=77))
        refused(send(house, code))
        assert chat_of(house) is None

    @pytest.mark.parametrize("code", ["", "AAAA", "' OR 1=1 --"])
    def test_a_code_cannot_be_made_up(self, house: TestHouse, code: str):
        offer(house)
        refused(send(house, code))

    def test_linking_again_moves_the_link_and_lifts_its_pause(self, house: TestHouse):
        send(house, offer(house))
        house.db.sql("UPDATE identity_links SET paused_reason = 'blocked'")
        send(house, offer(house), 88, 88)
        assert house.db.sql("SELECT subject, paused_reason FROM identity_links") == [
            {"subject": "88", "paused_reason": None}
        ]

    def test_a_code_for_another_surface_links_nothing(self, house: TestHouse):
        code = offer(house)
        house.db.sql("UPDATE link_codes SET surface = 'slack'")
        refused(send(house, code))

    def test_a_telegram_person_is_linked_to_themselves(self, house: TestHouse):
        assert chat_of(house, "telegram:99") == "99"


class TestUseTelegram:
    def test_reaches_the_owners_chat(self, house: TestHouse, telegram: TelegramServer):
        send(house, offer(house))
        Owner(house).ok("use_telegram", text=" <b>hello</b> @all ")
        assert telegram.texts("77") == ["<b>hello</b> @all"]
        assert "parse_mode" not in telegram.messages[0]

    def test_says_a_thing_once_whatever_runs_again(
        self, house: TestHouse, telegram: TelegramServer
    ):
        send(house, offer(house))
        alice = Owner(house)
        first = alice.call("use_telegram", key="k", text="hello")
        assert alice.call("use_telegram", key="k", text="hello") == first
        assert telegram.texts("77") == ["hello"]

    def test_names_no_other_chat(self, house: TestHouse, telegram: TelegramServer):
        send(house, offer(house))
        for args in ({"chat_id": "88"}, {"to": "web:bob"}, {"chat": 88}):
            assert Owner(house).no("use_telegram", text="x", **args).startswith(Code.BAD_VALUE)
        assert telegram.messages == []

    def test_anothers_link_is_not_used(self, house: TestHouse, telegram: TelegramServer):
        send(house, offer(house))
        assert "link telegram" in Owner(house, "web:bob").no("use_telegram", text="x")
        assert telegram.messages == []

    @pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_TEXT + 1)])
    def test_an_empty_or_long_text_is_refused(self, house: TestHouse, text: str):
        send(house, offer(house))
        assert Owner(house).no("use_telegram", text=text).startswith(Code.BAD_TEXT)

    def test_a_refusal_is_told_and_not_tried_again(
        self, house: TestHouse, telegram: TelegramServer
    ):
        send(house, offer(house))
        alice = Owner(house)
        telegram.blocked.add("77")
        assert "blocked" in alice.no("use_telegram", text="a")
        telegram.blocked.clear()
        telegram.wait_s = 9
        assert "wait 9 s" in alice.no("use_telegram", text="b")
        telegram.close()
        assert "did not answer" in alice.no("use_telegram", text="c")
        assert telegram.token not in str(house.db.sql("SELECT * FROM tool_calls"))

    def test_without_a_bot_it_says_so(self):
        assert "no Telegram" in Owner(make_house()).no("use_telegram", text="x")
