import pytest

from bot.authz.grants import Grant, grants_of
from bot.words import Code
from tests.unit.commands.caller import Caller, actor, house


def held(by: Caller, who: str) -> list[str]:
    """What an actor was given, beside its floor."""
    entries = by.house.config.get().entries
    return entries.get(f"grants.{who}", [])


class TestAdding:
    def test_what_is_given_is_held(self):
        root = Caller(house(), "web:root")
        root.ok("grant add web:bob github:issue-write on acme/api")
        entries = root.house.config.get().entries
        assert Grant("github:issue-write", "acme/api") in grants_of(
            actor("web:bob"), entries, frozenset()
        )

    def test_nobody_gives_what_they_do_not_hold(self):
        mallory = Caller(house(), "web:mallory", ["grant:write", "agent:ship on acme/api"])
        for grant in ("all", "config:write", "agent:ship", "agent:ship on acme/*", "agent:run:*"):
            assert mallory.refused(f"grant add web:mallory {grant}") is Code.GRANT_NOT_HELD
            assert mallory.refused(f"grant add http:ci {grant}") is Code.GRANT_NOT_HELD
        assert mallory.house.config.get().entries == {}
        mallory.ok("grant add web:bob agent:ship on ACME/api")
        mallory.ok("grant add http:ci grant:write")

    def test_needs_grant_write_however_much_is_held(self):
        bob = Caller(house(), "web:bob", ["config:write", "agent:ship"])
        assert bob.refused("grant add web:bob agent:ship") is Code.FORBIDDEN
        assert bob.refused("grant remove web:bob agent:ship") is Code.FORBIDDEN

    @pytest.mark.parametrize("who", ["schedule:nightly", "http:cron"])
    def test_some_actors_cannot_be_given_anything(self, who: str):
        root = Caller(house())
        outcome = root.say(f"grant add {who} schedule:fire")
        assert outcome.code is Code.BAD_ACTOR
        assert "holds" in outcome.text
        assert root.refused(f"grant remove {who} schedule:fire") is Code.BAD_ACTOR

    @pytest.mark.parametrize("who", ["alice", "web:", "root:x", "web:a:b", '"web:a b"', "*"])
    def test_a_malformed_actor_is_refused(self, who: str):
        assert Caller(house()).refused(f"grant add {who} all") is Code.BAD_ACTOR

    @pytest.mark.parametrize("grant", ["fly", "agent:ship in acme/api", "agent:ship on acme"])
    def test_a_malformed_grant_is_refused(self, grant: str):
        assert Caller(house()).refused(f"grant add web:bob {grant}") is Code.BAD_GRANT

    def test_giving_twice_is_fine_and_says_so(self):
        root = Caller(house())
        assert root.ok("grant add web:bob agent:ship on acme/api").data["changed"] is True
        version = root.house.config.get().version
        again = root.ok("grant add web:bob agent:ship on Acme/API")
        assert "already" in again.text
        assert again.data["changed"] is False
        assert root.house.config.get().version == version

    def test_a_hundred_grants_and_no_more(self):
        root = Caller(house())
        root.house.config.put({"grants.web:bob": [f"agent:ship on acme/r{n}" for n in range(99)]})
        root.ok("grant add web:bob config:read")
        assert root.refused("grant add web:bob config:write") is Code.TOO_MANY

    def test_what_no_longer_parses_is_left_alone(self):
        root = Caller(house())
        root.house.config.put({"grants.web:bob": ["fly", 7], "grants.web:eve": "all"})
        root.ok("grant add web:bob config:read")
        root.ok("grant add web:eve config:read")
        assert held(root, "web:bob") == ["fly", 7, "config:read"]
        assert held(root, "web:eve") == ["config:read"]


class TestRemoving:
    def test_what_is_taken_is_held_no_more(self):
        root = Caller(house())
        root.house.config.put({"grants.web:bob": ["config:read", "agent:ship on acme/api"]})
        assert "no more" in root.ok("grant remove web:bob agent:ship on ACME/api").text
        assert held(root, "web:bob") == ["config:read"]

    def test_the_last_one_takes_the_key_with_it(self):
        root = Caller(house())
        root.house.config.put({"grants.web:bob": ["config:read"]})
        root.ok("grant remove web:bob config:read")
        assert root.house.config.get().entries == {}

    def test_says_where_the_authority_stays(self):
        root = Caller(house())
        root.house.config.put({"grants.web:bob": ["config:read", "config:*"]})
        assert "still holds it through" in root.ok("grant remove web:bob config:read").text

    def test_what_was_not_given_is_not_found(self):
        root = Caller(house())
        assert root.refused("grant remove web:bob config:read") is Code.NOT_FOUND
        assert "Every person" in root.say("grant remove web:bob schedule:read").text

    def test_nobody_takes_what_they_do_not_hold(self):
        mallory = Caller(house(), "web:mallory", ["grant:write"])
        mallory.house.config.put({"grants.web:bob": ["config:write"]})
        assert mallory.refused("grant remove web:bob config:write") is Code.GRANT_NOT_HELD
        assert held(mallory, "web:bob") == ["config:write"]


class TestListing:
    def test_everybody_with_what_they_hold(self):
        root = Caller(house(admins=frozenset({"web:root"})))
        root.house.config.put({"grants.http:ci": ["schedule:read"], "grants.web:bob": ["all"]})
        data = root.ok("grant list").data
        assert data["web:root"] == ["all"]
        assert data["http:ci"] == ["schedule:read"]
        assert data["http:cron"] == ["schedule:fire"]
        assert "all" in data["web:bob"]
        assert "schedule:read" in data["web:bob"]

    def test_one_actor(self):
        root = Caller(house())
        assert root.ok("grant list http:ci").text == "http:ci: nothing"
        assert "job:write" in root.ok("grant list web:new").data["web:new"]
        assert root.refused("grant list schedule:nightly") is Code.BAD_ACTOR
        assert root.refused("grant list nobody") is Code.BAD_ACTOR

    def test_a_key_that_names_no_actor_is_passed_over(self):
        root = Caller(house())
        root.house.config.put({"grants.nobody": ["all"]})
        assert "nobody" not in root.ok("grant list").data
