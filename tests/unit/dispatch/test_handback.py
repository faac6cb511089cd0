import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.authz.actor import Actor, Surface
from bot.dispatch.handback import (
    LIFETIME_MS,
    claim_handback,
    make_handback,
    render_handback,
)
from tests.support.drive import run
from tests.support.house import make_house

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
