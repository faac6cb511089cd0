"""Memories, MCP servers, skills and links: everything is its owner's alone."""

import json
from typing import Any

import pytest

from bot.ports import Fault, HttpReply
from bot.words import Code, OutcomeKind
from tests.support.house import TestHouse
from tests.unit.commands import caller
from tests.unit.commands.caller import Caller

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Todos"},
    "paths": {"/todos": {"get": {"operationId": "list"}, "post": {"operationId": "add"}}},
}

ADDRESSES = [("mcp", "servers"), ("skill", "skills")]
EVERY_COMMAND = [
    "memory list",
    "memory forget x",
    "mcp add a https://x.example.com",
    "mcp list",
    "mcp remove a",
    "skill add a https://x.example.com",
    "skill list",
    "skill remove a",
    "link telegram",
]


def house(**settings: Any) -> TestHouse:
    """A house to whose every request the outside answers a skill's document."""
    made = caller.house(**settings)
    made.http.otherwise = HttpReply(200, {}, json.dumps(DOCUMENT))
    return made


@pytest.mark.parametrize("text", EVERY_COMMAND)
@pytest.mark.parametrize("who", ["http:ci", "schedule:nightly"])
def test_only_people_keep_things(who: str, text: str):
    assert Caller(house(telegram_bot_token="t"), who).refused(text) is Code.NOT_A_PERSON


@pytest.mark.parametrize("text", EVERY_COMMAND)
def test_a_program_without_grants_is_forbidden(text: str):
    assert Caller(house(), "http:ci", []).refused(text) is Code.FORBIDDEN


@pytest.mark.parametrize(("family", "kept"), ADDRESSES)
class TestAddresses:
    def test_what_is_added_is_listed_and_removed(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        assert "no " in alice.ok(f"{family} list").text
        alice.ok(f"{family} add files https://x.example.com/a")
        listed = alice.ok(f"{family} list")
        assert [(one["name"], one["url"]) for one in listed.data[kept]] == [
            ("files", "https://x.example.com/a")
        ]
        assert "files" in listed.text
        assert "owner" not in listed.data[kept][0]
        alice.ok(f"{family} remove files")
        assert alice.ok(f"{family} list").data == {kept: []}

    def test_anothers_are_not_there(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        for other in ("web:bob", "slack:alice"):
            bob = Caller(alice.house, other, [])
            alice.say(f"{family} add files https://x.example.com/a")
            assert bob.ok(f"{family} list").data == {kept: []}
            assert bob.refused(f"{family} remove files") is Code.NOT_FOUND
        assert len(alice.ok(f"{family} list").data[kept]) == 1

    def test_a_name_of_anothers_is_free(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        bob = Caller(alice.house, "web:bob", [])
        alice.ok(f"{family} add files https://x.example.com/a")
        bob.ok(f"{family} add files https://x.example.com/b")

    def test_a_name_that_exists_is_a_conflict(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        alice.ok(f"{family} add files https://x.example.com/a")
        alice.house.clock.advance(seconds=1)
        for url in ("https://x.example.com/a", "https://x.example.com/b"):
            assert alice.refused(f"{family} add files {url}") is Code.CONFLICT
        assert alice.ok(f"{family} list").data[kept][0]["url"] == "https://x.example.com/a"

    def test_a_step_that_runs_again_is_content(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        alice.ok(f"{family} add files https://x.example.com/a")
        alice.ok(f"{family} add files https://x.example.com/a")
        assert alice.refused(f"{family} add files https://x.example.com/b") is Code.CONFLICT

    def test_twenty_and_no_more(self, family: str, kept: str):
        alice = Caller(house(), held=[])
        for n in range(20):
            alice.ok(f"{family} add n{n} https://x.example.com/")
        assert alice.refused(f"{family} add n20 https://x.example.com/") is Code.TOO_MANY
        alice.house.clock.advance(seconds=1)
        assert alice.refused(f"{family} add n3 https://x.example.com/") is Code.CONFLICT
        Caller(alice.house, "web:bob", []).ok(f"{family} add n20 https://x.example.com/")
        alice.ok(f"{family} remove n0")
        alice.ok(f"{family} add n20 https://x.example.com/")

    @pytest.mark.parametrize("name", ["Files", "-a", "a_b", "a" * 64, '"a b"', "ä", "a;--"])
    def test_a_bad_name_is_refused(self, family: str, kept: str, name: str):
        alice = Caller(house(), held=[])
        assert alice.refused(f"{family} add {name} https://x.example.com") is Code.BAD_NAME

    @pytest.mark.parametrize("url", ["http://x.example.com", "https://127.0.0.1", "x"])
    def test_a_bad_address_is_refused(self, family: str, kept: str, url: str):
        assert Caller(house(), held=[]).refused(f"{family} add a {url}") is Code.BAD_URL

    def test_a_local_runtime_takes_local_addresses(self, family: str, kept: str):
        alice = Caller(house(allow_private_addresses=True), held=[])
        alice.ok(f"{family} add a http://127.0.0.1:8788/mcp")


class TestSkills:
    def test_reads_unless_it_was_said_to_write(self):
        alice = Caller(house(), held=[])
        reads = alice.ok("skill add reads https://x.example.com")
        every = alice.ok("skill add all https://x.example.com writes")
        assert reads.data["operations"] == ["GET /todos"]
        assert reads.data["left_out"] == ["POST /todos: it writes"]
        assert every.data["operations"] == ["GET /todos", "POST /todos"]
        listed = {
            one["name"]: (one["writes"], one["operations"])
            for one in alice.ok("skill list").data["skills"]
        }
        assert listed == {"reads": (False, 1), "all": (True, 2)}

    def test_says_where_it_will_be_called(self):
        text = Caller(house(), held=[]).ok("skill add todos https://x.example.com/doc.json").text
        assert "read with 1 operation of the skill todos, at x.example.com." in text
        assert "- POST /todos: it writes" in text

    @pytest.mark.parametrize(
        ("reply", "kind", "code"),
        [
            (HttpReply(200, {}, "openapi: 3.0.0"), OutcomeKind.REFUSED, Code.BAD_DOCUMENT),
            (HttpReply(302, {}, ""), OutcomeKind.REFUSED, Code.BAD_DOCUMENT),
            (HttpReply(503, {}, ""), OutcomeKind.FAILED, Code.NO_ANSWER),
            (Fault("down"), OutcomeKind.FAILED, Code.NO_ANSWER),
        ],
    )
    def test_a_document_that_cannot_be_used_is_not_kept(
        self, reply: HttpReply | Fault, kind: OutcomeKind, code: Code
    ):
        alice = Caller(house(), held=[])
        alice.house.http.otherwise = reply
        outcome = alice.say("skill add todos https://x.example.com")
        assert (outcome.kind, outcome.code) == (kind, code)
        assert alice.ok("skill list").data == {"skills": []}

    def test_nothing_is_fetched_from_an_address_that_is_refused(self):
        alice = Caller(house(), held=[])
        alice.refused("skill add todos https://169.254.169.254/doc.json")
        alice.refused("skill add Bad https://x.example.com")
        assert alice.house.http.sent == []


class TestMcpSecrets:
    def test_a_new_server_comes_with_a_code_for_its_secret(self):
        alice = Caller(house(), held=[])
        outcome = alice.ok("mcp add files https://x.example.com")
        assert outcome.data["secret"]["code"] in outcome.text
        assert outcome.data["secret"]["send_to"] == "/api/mcp-secret"
        assert alice.ok("mcp list").data["servers"][0]["secret"] is False
        assert alice.house.http.sent == [], "a server that is down can be added"

    def test_a_bot_without_a_key_offers_none(self):
        outcome = Caller(house(seal_key=""), held=[]).ok("mcp add files https://x.example.com")
        assert "secret" not in outcome.data
        assert "keeps no secrets" in outcome.text

    def test_its_secret_goes_with_it(self):
        alice = Caller(house(), held=[])
        alice.ok("mcp add files https://x.example.com")
        alice.house.db.sql("UPDATE mcp_servers SET secret = 'sealed'")
        assert "with a secret" in alice.ok("mcp list").text
        alice.ok("mcp remove files")
        alice.ok("mcp add files https://x.example.com")
        assert alice.ok("mcp list").data["servers"][0]["secret"] is False


class TestMemories:
    def remember(self, at: Caller, memory_id: str, text: str, second: int = 0):
        at.house.db.sql(
            "INSERT INTO memories (id, owner, text, created_at) VALUES (?, ?, ?, ?)",
            memory_id,
            at.actor.id,
            text,
            at.house.clock.now_ms() + 1000 * second,
        )

    def test_are_listed_newest_first(self):
        alice = Caller(house(), held=[])
        self.remember(alice, "m1", "likes tea")
        self.remember(alice, "m2", "lives in Berlin", second=1)
        listed = alice.ok("memory list")
        assert [one["id"] for one in listed.data["memories"]] == ["m2", "m1"]
        assert "likes tea" in listed.text

    def test_are_the_owners_alone(self):
        alice = Caller(house(), held=[])
        bob = Caller(alice.house, "web:bob", ["all"])
        self.remember(alice, "m1", "likes tea")
        assert bob.ok("memory list").data == {"memories": []}
        assert bob.refused("memory forget m1") is Code.NOT_FOUND
        alice.ok("memory forget m1")
        assert alice.refused("memory forget m1") is Code.NOT_FOUND


class TestLinking:
    def codes(self, at: Caller):
        return at.house.db.sql("SELECT * FROM link_codes ORDER BY code")

    def test_a_code_is_bound_to_the_caller_for_ten_minutes(self):
        alice = Caller(house(telegram_bot_token="t"), held=[])
        outcome = alice.ok("link telegram")
        (row,) = self.codes(alice)
        assert row["owner"] == "web:alice"
        assert row["surface"] == "telegram"
        assert row["expires_at"] == alice.house.clock.now_ms() + 600_000
        assert f"/start {row['code']}" in outcome.text

    def test_a_new_code_replaces_the_old_one_and_no_others(self):
        alice = Caller(house(telegram_bot_token="t"), held=[])
        bob = Caller(alice.house, "web:bob", [])
        old = alice.ok("link telegram").data["code"]
        kept = bob.ok("link telegram").data["code"]
        new = alice.ok("link telegram").data["code"]
        assert {row["code"] for row in self.codes(alice)} == {kept, new} - {old}

    def test_codes_that_ran_out_are_swept(self):
        alice = Caller(house(telegram_bot_token="t"), held=[])
        alice.ok("link telegram")
        alice.house.clock.advance(minutes=10)
        Caller(alice.house, "web:bob", []).ok("link telegram")
        assert [row["owner"] for row in self.codes(alice)] == ["web:bob"]

    def test_without_a_bot_there_is_nothing_to_link(self):
        assert Caller(house(), held=[]).refused("link telegram") is Code.NOT_CONFIGURED
