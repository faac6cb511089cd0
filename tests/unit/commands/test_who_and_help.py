import pytest

from bot.authz.policy import COMMANDS as POLICY
from bot.commands.grammar import Malformed
from bot.words import Code, Effect
from tests.unit.commands.caller import REGISTRY, Caller, house

WRITES = {
    *("memory forget", "mcp add", "mcp remove", "skill add", "skill remove", "link telegram"),
    *("config set", "config unset", "grant add", "grant remove", "confirm"),
}


class TestWhoami:
    def test_answers_the_id_and_the_grants_one_a_line(self):
        ci = Caller(house(), "http:ci", ["schedule:read", "agent:ship on acme/api"])
        outcome = ci.ok("whoami")
        assert outcome.text == "http:ci\nschedule:read\nagent:ship on acme/api"
        assert outcome.data == {
            "actor": "http:ci",
            "grants": ["schedule:read", "agent:ship on acme/api"],
        }

    def test_needs_nothing(self):
        assert Caller(house(), "http:nobody", []).ok("whoami").text == "http:nobody"


class TestHelp:
    def test_shows_every_usage_once(self):
        text = Caller(house(), "http:nobody", []).ok("help").text
        assert sorted(filter(None, text.splitlines())) == sorted(c.usage for c in REGISTRY)

    def test_puts_a_family_together(self):
        first = Caller(house()).ok("help").text.split("\n\n")[0]
        assert first == "memory list\nmemory forget ID"

    def test_tells_one_command_in_full(self):
        text = Caller(house()).ok("help CONFIG set").text
        assert text.splitlines() == [
            "config set KEY VALUE",
            "Write a setting: a JSON value, or plain text.",
            "It writes. It needs the grant config:write.",
        ]
        assert "It reads. It needs no grant." in Caller(house()).ok("help whoami").text

    def test_tells_a_family_in_full(self):
        data = Caller(house()).ok("help mcp").data
        assert [one["name"] for one in data["commands"]] == ["mcp add", "mcp list", "mcp remove"]

    def test_an_unknown_command_is_malformed(self):
        found = REGISTRY.parse("help frobnicate", strict=True)
        assert isinstance(found, Malformed)
        assert found.refusal.code is Code.BAD_COMMAND

    @pytest.mark.parametrize("command", [*REGISTRY], ids=lambda command: command.name)
    def test_each_says_what_it_needs(self, command):
        (view,) = Caller(house()).ok(f"help {command.name}").data["commands"]
        assert view["needs"] == POLICY[command.name].action
        assert view["usage"] == command.usage


def test_effects_are_what_the_commands_do():
    assert {c.name for c in REGISTRY if c.effect is Effect.WRITE} == WRITES
    assert not any(c.effect is Effect.EXEC for c in REGISTRY)


@pytest.mark.parametrize("command", [*REGISTRY], ids=lambda command: command.name)
def test_summaries_are_plain_sentences(command):
    assert command.summary[0].isupper()
    assert command.summary.endswith(".")
