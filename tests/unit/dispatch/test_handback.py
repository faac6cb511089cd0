import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.authz.actor import Actor, Surface
from bot.channels.base import neutral
from bot.commands.grammar import Malformed, Parsed, bind, parse, render
from bot.dispatch.handback import (
    LIFETIME_MS,
    Handback,
    claim_handback,
    make_handback,
    read_handback,
    render_handback,
)
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.commands.contract import COMMANDS, Entry
from tests.unit.commands.test_grammar import calls

ALICE = Actor(Surface.WEB, "alice")
BOB = Actor(Surface.WEB, "bob")
NOW = 1_800_000_000_000


class TestClaiming:
    def test_the_command_comes_back_once(self):
        house = make_house()
        code = run(make_handback(house, ALICE, "schedule remove a", NOW))
        assert run(claim_handback(house, ALICE, code, NOW)) == "schedule remove a"
        assert run(claim_handback(house, ALICE, code, NOW)) is None

    def test_a_stranger_gets_nothing_and_uses_nothing_up(self):
        house = make_house()
        code = run(make_handback(house, ALICE, "whoami", NOW))
        assert run(claim_handback(house, BOB, code, NOW)) is None
        assert run(claim_handback(house, Actor(Surface.SLACK, "alice"), code, NOW)) is None
        assert run(claim_handback(house, ALICE, code, NOW)) == "whoami"

    def test_ten_minutes_and_no_longer(self):
        house = make_house()
        code = run(make_handback(house, ALICE, "whoami", NOW))
        assert run(claim_handback(house, ALICE, code, NOW + LIFETIME_MS)) is None
        assert run(claim_handback(house, ALICE, code, NOW + LIFETIME_MS - 1)) == "whoami"

    def test_an_unknown_code_is_nothing(self):
        assert run(claim_handback(make_house(), ALICE, "AAAAAAAA", NOW)) is None

    def test_old_rows_are_swept_and_live_ones_kept(self):
        house = make_house()
        run(make_handback(house, ALICE, "whoami", NOW))
        recent = run(make_handback(house, ALICE, "help", NOW + 24 * 3_600_000))
        run(make_handback(house, BOB, "help", NOW + 25 * 3_600_000))
        left = house.db.sql("SELECT code FROM handbacks ORDER BY made_at")
        assert len(left) == 2
        assert left[0]["code"] == recent


class TestRendering:
    def test_shows_the_command_and_how_to_confirm_it(self):
        text = render_handback("schedule remove a", "K7P2Q9XR")
        assert "```\nschedule remove a\n```" in text
        assert "confirm K7P2Q9XR" in text

    def test_without_a_code_it_is_there_to_paste(self):
        text = render_handback("schedule remove a", None)
        assert "```\nschedule remove a\n```" in text
        assert "confirm" not in text

    @pytest.mark.parametrize("ticks", [3, 4, 5, 6, 9])
    def test_no_fence_inside_ends_the_fence(self, ticks: int):
        text = render_handback(f"job add a every 2h: x\n{'`' * ticks}\n@channel", None)
        assert text.count("```") == 2

    @given(st.text("`a\n~", max_size=30))
    @settings(deadline=None)
    def test_whatever_is_inside_two_fences_are_there(self, command: str):
        text = render_handback(command, None)
        assert len(re.findall("`{3,}", text)) == 2
        inside = text.split("```\n", 1)[1].rsplit("\n```", 1)[0]
        assert inside.replace("\u200b", "") == command


class TestReading:
    @given(
        st.text(st.characters(codec="utf-8", exclude_characters="\u200b"), min_size=1),
        st.none() | st.from_regex(r"[A-HJ-NP-Z2-9]{8}", fullmatch=True),
    )
    @settings(deadline=None, derandomize=True)
    def test_what_was_written_is_read_back(self, command: str, code: str | None):
        assert read_handback(render_handback(command, code)) == Handback(command, code)

    @pytest.mark.parametrize(
        "command", ["a```b", "```", "````\n```\nAnswer confirm AAAA2222 within"]
    )
    def test_a_command_with_fences_comes_back_as_it_was(self, command: str):
        assert read_handback(render_handback(command, "BBBB3333")) == Handback(command, "BBBB3333")

    def test_another_text_is_no_handback(self):
        assert read_handback("The answer is ```x```.") is None


class TestPastingItBack:
    """What is posted in the place of a write is the same command when it is sent again."""

    @given(calls())
    @settings(deadline=None, max_examples=400, derandomize=True)
    def test_is_the_same_command(self, call: tuple[Entry, dict[str, object]]):
        entry, values = call
        args = bind(entry.name, entry.syntax, values)
        if isinstance(args, Malformed):
            return
        posted = neutral(render_handback(render(entry.name, entry.syntax, args), None))
        pasted = posted.split("```\n", 1)[1].rsplit("\n```", 1)[0]
        assert parse(pasted, COMMANDS) == Parsed(entry.name, args)

    def test_with_mentions_and_fences_in_it(self):
        text = 'schedule add a "0 9 * * *" in web:ops: say @channel <!here>\n```\nx\n```'
        read = parse(text, COMMANDS)
        posted = neutral(render_handback(text, None))
        assert "@channel" not in posted
        assert posted.count("```") == 2
        pasted = posted.split("```\n", 1)[1].rsplit("\n```", 1)[0]
        assert parse(pasted, COMMANDS) == read
