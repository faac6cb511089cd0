import pytest

from bot.commands.config import parse_value
from bot.words import Code, Refused
from tests.unit.commands.caller import Caller, house


class TestReading:
    def test_lists_settings_and_not_schedules_or_grants(self):
        alice = Caller(house())
        alice.house.config.put({"zone": "UTC", "schedules.a": {}, "grants.web:b": ["all"]})
        assert alice.ok("config get").data == {"zone": "UTC"}

    def test_what_is_named_is_shown(self):
        alice = Caller(house())
        alice.house.config.put({"zone": "UTC", "schedules.a": {"x": 1}, "grants.web:b": ["all"]})
        assert alice.ok("config get zone").text == 'zone: "UTC"'
        assert alice.ok("config get schedules.a").data == {"schedules.a": {"x": 1}}
        assert alice.ok("config get grants").data == {"grants.web:b": ["all"]}

    def test_a_key_that_is_not_there_is_not_found(self):
        assert Caller(house()).refused("config get zone") is Code.NOT_FOUND

    def test_no_settings_is_said(self):
        assert "There are no settings" in Caller(house()).ok("config get").text

    def test_needs_config_read(self):
        assert Caller(house(), held=["config:write"]).refused("config get") is Code.FORBIDDEN


class TestWriting:
    @pytest.mark.parametrize(
        ("written", "stored"),
        [
            ("Berlin calling", "Berlin calling"),
            ('"5"', "5"),
            ("5", 5),
            ("1.5", 1.5),
            ("true", True),
            ('{"a": [1, "b: c"]}', {"a": [1, "b: c"]}),
            ('{"a": ', '{"a":'),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
            ("9" * 5000, "9" * 5000),
        ],
    )
    def test_a_value_is_json_if_it_can_be(self, written: str, stored: object):
        alice = Caller(house())
        alice.ok(f"config set motd {written}")
        assert alice.house.config.get().entries == {"motd": stored}

    def test_null_is_no_value(self):
        assert Caller(house()).refused("config set motd null") is Code.BAD_VALUE

    def test_what_nests_too_deep_is_refused(self):
        alice = Caller(house())
        assert alice.refused("config set motd " + "[" * 40 + "]" * 40) is Code.BAD_VALUE
        assert isinstance(parse_value("[" * 100_000), Refused | str)

    def test_half_a_surrogate_is_refused(self):
        assert Caller(house()).refused(r'config set motd "\ud800"') is Code.BAD_VALUE

    @pytest.mark.parametrize("value", ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "a": 1}}]'])
    def test_a_key_that_comes_twice_is_refused(self, value: str):
        alice = Caller(house())
        assert alice.refused(f"config set motd {value}") is Code.BAD_VALUE
        assert alice.house.config.get().entries == {}

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "5", '["UTC"]'])
    def test_the_zone_must_be_known(self, zone: str):
        alice = Caller(house())
        assert alice.refused(f"config set zone {zone}") is Code.BAD_ZONE
        alice.ok("config set zone Europe/Berlin")
        assert alice.house.config.get().entries == {"zone": "Europe/Berlin"}

    @pytest.mark.parametrize("key", ["1a", "a/b", "ä", '"a b"', "a" * 201, "_a"])
    def test_a_bad_key_is_refused(self, key: str):
        assert Caller(house()).refused(f"config set {key} 1") is Code.BAD_KEY

    def test_unset_removes_and_names_what_is_not_there(self):
        alice = Caller(house())
        alice.house.config.put({"motd": "x", "zone": "UTC"})
        alice.ok("config unset motd")
        assert alice.house.config.get().entries == {"zone": "UTC"}
        assert alice.refused("config unset motd") is Code.NOT_FOUND

    @pytest.mark.parametrize("key", ["schedules.nightly", "grants.web:alice"])
    def test_the_products_own_keys_are_for_who_holds_all(self, key: str):
        mallory = Caller(house(), "web:mallory", ["config:write", "grant:write"])
        mallory.house.config.put({key: ["x"]})
        assert mallory.refused(f'config set {key} ["all"]') is Code.BAD_KEY
        assert mallory.refused(f"config unset {key}") is Code.BAD_KEY
        assert mallory.house.config.get().entries == {key: ["x"]}
        Caller(mallory.house).ok(f"config unset {key}")
        assert mallory.house.config.get().entries == {}

    def test_the_refusal_says_what_to_use(self):
        mallory = Caller(house(), "web:mallory", ["config:write"])
        assert "grant add" in mallory.say('config set grants.web:mallory ["all"]').text
        assert "schedule add" in mallory.say("config set schedules.a {}").text

    def test_needs_config_write(self):
        reader = Caller(house(), held=["config:read"])
        assert reader.refused("config set zone UTC") is Code.FORBIDDEN
        assert reader.refused("config unset zone") is Code.FORBIDDEN

    def test_a_program_may_configure(self):
        Caller(house(), "http:ci", ["config:write"]).ok("config set zone UTC")

    def test_a_document_that_is_full_says_so(self):
        alice = Caller(house())
        alice.house.config.put({f"k{n}": "x" * 61_000 for n in range(17)})
        assert alice.refused(f"config set motd {'x' * 19_000}") is Code.DOCUMENT_TOO_LARGE

    def test_a_document_that_others_keep_writing_says_so(self):
        alice = Caller(house())

        async def intrude(point: str) -> None:
            if point == "config.swap":
                alice.house.config.put({"other": alice.house.ids.new()})

        alice.house.config.pause = intrude
        assert alice.refused("config set motd x") is Code.CONFLICT
