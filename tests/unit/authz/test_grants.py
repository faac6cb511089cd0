import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.authz.actor import CRON, Actor, Surface
from bot.authz.grants import (
    ACTIONS,
    ALL,
    FLOORS,
    Grant,
    covers,
    grants_key,
    grants_of,
    is_repository,
    parse_grant,
    parse_grants,
)
from bot.words import Code, Refused

ALICE = Actor(Surface.WEB, "alice")
NOBODY: frozenset[str] = frozenset()


def grant(text: str) -> Grant:
    made = parse_grant(text)
    assert isinstance(made, Grant), made
    return made


def held_by(actor: Actor, stored: object, admins: frozenset[str] = NOBODY) -> set[str]:
    return {str(one) for one in grants_of(actor, {grants_key(actor): stored}, admins)}


class TestReading:
    @pytest.mark.parametrize("action", ACTIONS)
    def test_every_action_with_and_without_a_resource(self, action: str):
        for text in (action, f"{action} on acme/api", f"{action} on acme/*"):
            assert str(grant(text)) == text

    @pytest.mark.parametrize(
        "text", ["agent:run:writer", "agent:*", "schedule:*", "config:*", "run:*", "github:*"]
    )
    def test_paths_below_and_above_what_is_asked_for(self, text: str):
        assert str(grant(text)) == text

    def test_blanks_do_not_matter(self):
        assert grant("  agent:ship   on\tacme/api ") == Grant("agent:ship", "acme/api")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "*",
            "all:*",
            "All",
            "ALL",
            "schedule",
            "schedule:",
            ":write",
            "schedule:writes",
            "schedule:write:*",
            "schedule:**",
            "agent:run:*:x",
            "agent:run:",
            "agent:run:Research",
            "fly:away",
            "agent:ship on",
            "agent:ship on acme",
            "agent:ship on acme/",
            "agent:ship on /api",
            "agent:ship on */api",
            "agent:ship on */*",
            "agent:ship on acme/**",
            "agent:ship on acme/a*",
            "agent:ship on acme/..",
            "agent:ship on acme/.",
            "agent:ship on acme/api/x",
            "agent:ship on -acme/api",
            "agent:ship on acme/äpi",
            "agent:ship ON acme/api",
            "agent:ship in acme/api",
            "agent:ship on acme/api, all",
            "agent:ship acme/api",
            "on acme/api",
            "аll",
        ],
    )
    def test_anything_else_is_no_grant(self, text: str):
        found = parse_grant(text)
        assert isinstance(found, Refused)
        assert found.code is Code.BAD_GRANT

    def test_a_near_miss_is_told(self):
        found = parse_grant("schedule:writ")
        assert isinstance(found, Refused)
        assert "schedule:write" in found.detail

    def test_several_at_once_without_repeats(self):
        assert parse_grants(["all", "agent:ship", "all"]) == (Grant("all"), Grant("agent:ship"))
        assert isinstance(parse_grants(["all", "fly"]), Refused)

    def test_a_repository_is_one_owner_and_one_name(self):
        assert is_repository("acme/api.js")
        for text in ("acme/*", "acme", "acme/..", "acme/api/x", "acme/api\n", ""):
            assert not is_repository(text)


class TestCovering:
    @pytest.mark.parametrize(
        ("held", "wanted"),
        [
            ("agent:ship", "agent:ship"),
            ("agent:ship", "agent:ship on acme/api"),
            ("agent:ship on acme/api", "agent:ship on acme/api"),
            ("agent:ship on acme/*", "agent:ship on acme/api"),
            ("agent:ship on acme/*", "agent:ship on acme/*"),
            ("agent:ship on ACME/Api", "agent:ship on acme/aPI"),
            ("agent:ship on Acme/*", "agent:ship on aCME/api"),
            ("agent:run:*", "agent:run:research"),
            ("agent:run:*", "agent:run:research on acme/api"),
            ("agent:run:*", "agent:run:*"),
            ("agent:*", "agent:run:*"),
            ("agent:*", "agent:ship"),
            ("agent:run:* on acme/*", "agent:run:research on acme/api"),
            ("all", "grant:write"),
            ("all", "all"),
            ("all", "agent:ship on acme/api"),
            ("all on acme/*", "agent:ship on acme/api"),
        ],
    )
    def test_what_is_covered(self, held: str, wanted: str):
        assert covers([grant(held)], grant(wanted))

    @pytest.mark.parametrize(
        ("held", "wanted"),
        [
            ("agent:ship on acme/api", "agent:ship"),
            ("agent:ship on acme/*", "agent:ship"),
            ("agent:ship on acme/api", "agent:ship on acme/api2"),
            ("agent:ship on acme/api2", "agent:ship on acme/api"),
            ("agent:ship on acme/api", "agent:ship on acme/*"),
            ("agent:ship on acme/*", "agent:ship on acme2/api"),
            ("agent:ship on acme2/*", "agent:ship on acme/api"),
            ("agent:run:research", "agent:run:*"),
            ("agent:run:research", "agent:run:writer"),
            ("agent:run:*", "agent:ship"),
            ("agent:run:*", "agent:*"),
            ("schedule:read", "schedule:write"),
            ("schedule:*", "all"),
            ("agent:*", "all"),
            ("all on acme/*", "all"),
            ("all on acme/*", "grant:write"),
            ("all on acme/api", "agent:ship on acme/web"),
        ],
    )
    def test_what_is_not_covered(self, held: str, wanted: str):
        assert not covers([grant(held)], grant(wanted))

    def test_nothing_covers_nothing(self):
        assert not covers([], Grant("schedule:read"))

    def test_any_one_of_several_is_enough_and_two_halves_are_not_one(self):
        held = [grant("agent:ship on acme/web"), grant("config:read on acme/api")]
        assert covers(held, grant("agent:ship on acme/web"))
        assert not covers(held, grant("agent:ship on acme/api"))

    @pytest.mark.parametrize("resource", ["acme/../evil/x", "acme/a/b", "acme/", "acme/a b"])
    def test_a_resource_that_is_none_is_covered_by_no_resource(self, resource: str):
        assert not covers([grant("agent:ship on acme/*")], Grant("agent:ship", resource))

    RESOURCES = (None, "acme/api", "ACME/Api", "acme/*", "acme/web", "other/api", "other/*")
    WRITTEN = (*ACTIONS, "agent:*", "schedule:*", "agent:run:writer")
    GRANTS = st.builds(Grant, st.sampled_from(WRITTEN), st.sampled_from(RESOURCES))

    @given(GRANTS)
    def test_a_grant_covers_itself(self, one: Grant):
        assert covers([one], one)

    @given(GRANTS)
    def test_all_covers_every_grant(self, one: Grant):
        assert covers([Grant(ALL)], one)

    @given(GRANTS, GRANTS, GRANTS)
    @settings(max_examples=2000, deadline=None, derandomize=True)
    def test_what_a_covered_grant_covers_is_covered(self, a: Grant, b: Grant, c: Grant):
        if covers([a], b) and covers([b], c):
            assert covers([a], c)

    @given(st.lists(GRANTS, max_size=4), st.lists(GRANTS, max_size=4), GRANTS)
    def test_more_is_never_less(self, held: list[Grant], more: list[Grant], wanted: Grant):
        assert covers([*held, *more], wanted) == (covers(held, wanted) or covers(more, wanted))

    @given(GRANTS, GRANTS)
    def test_case_of_a_resource_never_matters(self, a: Grant, b: Grant):
        upper = Grant(b.action, b.resource.upper() if b.resource else None)
        assert covers([a], b) == covers([a], upper)
        assert covers([b], a) == covers([upper], a)


class TestHolding:
    def test_people_stand_on_a_floor_and_programs_do_not(self):
        floor = {"schedule:read", "job:write", "run:read", "agent:run:research"}
        for surface in (Surface.WEB, Surface.SLACK, Surface.TELEGRAM):
            assert held_by(Actor(surface, "x"), None) == floor
        assert held_by(Actor(Surface.HTTP, "ci"), None) == set()

    def test_what_is_given_comes_on_top(self):
        given_grants = ["config:read", "agent:ship on acme/api"]
        assert held_by(Actor(Surface.HTTP, "ci"), given_grants) == set(given_grants)
        assert held_by(ALICE, given_grants) == {*map(str, FLOORS[True]), *given_grants}

    def test_nobody_gets_anothers_grants(self):
        entries = {"grants.web:alice": ["all"], "grants.web:alic": ["all"]}
        for other in (Actor(Surface.SLACK, "alice"), Actor(Surface.WEB, "Alice")):
            assert Grant(ALL) not in grants_of(other, entries, NOBODY)

    def test_admins_hold_all(self):
        assert held_by(ALICE, None, frozenset({"web:alice"})) == {"all"}
        assert held_by(ALICE, None, frozenset({"web:bob", "alice"})) == set(map(str, FLOORS[True]))

    @pytest.mark.parametrize("stored", [["all"], None])
    def test_the_cron_bearer_holds_schedule_fire_and_nothing_else(self, stored: object):
        assert held_by(CRON, stored, frozenset({"http:cron"})) == {"schedule:fire"}

    @pytest.mark.parametrize("stored", [["all"], None])
    def test_a_schedule_gets_nothing_from_the_document_or_the_admins(self, stored: object):
        schedule = Actor(Surface.SCHEDULE, "nightly")
        assert held_by(schedule, stored, frozenset({"schedule:nightly"})) == set()

    @pytest.mark.parametrize(
        "stored", ["all", {"all": True}, 7, True, ["fly"], [["all"]], [None, 7], ["All", " on "]]
    )
    def test_broken_stored_grants_give_nothing(self, stored: object):
        assert held_by(Actor(Surface.HTTP, "ci"), stored) == set()

    def test_a_broken_one_does_not_spoil_the_others(self):
        assert held_by(Actor(Surface.HTTP, "ci"), ["fly", None, "run:read"]) == {"run:read"}
