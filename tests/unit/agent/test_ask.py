import pytest

from bot.agent.ask import AgentAsk, may, repo_of
from bot.authz.actor import Actor, Surface
from bot.authz.grants import FLOORS, Grant
from bot.words import Code, Refused
from tests.unit.builders import grant

ALICE = Actor(Surface.WEB, "alice")
NIGHTLY = Actor(Surface.SCHEDULE, "nightly")
RESEARCH = AgentAsk("research", "acme/api", "what is there?")


class TestAuthority:
    def test_is_the_roles_grant_on_the_repository(self):
        assert may(RESEARCH, NIGHTLY, [grant("agent:run:research on acme/api")]) is None
        assert may(RESEARCH, ALICE, FLOORS[True]) is None
        refusal = may(RESEARCH, NIGHTLY, [grant("agent:run:research on acme/web")])
        assert isinstance(refusal, Refused)
        assert refusal.code is Code.FORBIDDEN
        assert "agent:run:research on acme/api" in refusal.detail

    def test_to_ship_is_not_covered_by_running(self):
        ship = AgentAsk("ship", "acme/api", "plans/a.md")
        assert may(ship, ALICE, [Grant("agent:run:*")]) is not None
        assert may(ship, ALICE, [grant("agent:ship on acme/*")]) is None

    def test_a_personal_turn_is_a_persons(self):
        personal = AgentAsk("personal", None, "remind me")
        assert may(personal, ALICE, FLOORS[True]) is None
        for actor in (NIGHTLY, Actor(Surface.HTTP, "ci")):
            refusal = may(personal, actor, [Grant("all")])
            assert isinstance(refusal, Refused)
            assert refusal.code is Code.NOT_A_PERSON
        assert may(personal, ALICE, []) is not None


class TestRepository:
    @pytest.mark.parametrize(
        ("text", "repo"),
        [
            ("in acme/api: list them", "acme/api"),
            ("  In ACME/api:\nlist them", "ACME/api"),
            ("in acme/api: and not in acme/web", "acme/api"),
            ("look at acme/api.", "acme/api"),
            ("what is new in acme/api?", "acme/api"),
            ("compare acme/api with Acme/API", "acme/api"),
            ("compare acme/api with acme/web", None),
            ("https://github.com/acme/api", None),
            ("list them", None),
            ("in acme/..: list them", None),
            ("web:general/abc is a thread", None),
        ],
    )
    def test_is_read_in_the_text(self, text: str, repo: str | None):
        found = repo_of(text)
        assert (found or "").lower() == (repo or "").lower()

    def test_what_was_picked_counts_where_the_text_names_it(self):
        text = "compare acme/api with acme/web"
        assert repo_of(text, "acme/web") == "acme/web"
        assert repo_of(text, "ACME/Web") == "ACME/Web"
        assert repo_of(text, "acme/secret") is None
        assert repo_of(text, 7) is None

    def test_what_the_text_says_outright_outweighs_what_was_picked(self):
        assert repo_of("in acme/api: as in acme/web", "acme/web") == "acme/api"


def test_is_written_in_chat_form():
    assert RESEARCH.command == "agent:run research in acme/api: what is there?"
    assert AgentAsk("ship", "acme/api", "p.md").command == "agent:ship in acme/api: plan p.md"
