"""What every GitHub tool keeps: strict arguments, the grant on what is named, where it writes."""

import pytest

from bot.agent.toolkit import Desk, Input, outside, schema_of, tool
from bot.agent.tools import ToolCall, ToolResult, allowed
from bot.authz.grants import Grant
from bot.words import Code, Refused
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.agent.turns import run_of
from tests.unit.builders import grant


class Asked(Input):
    count: int = 1


def need(repo):
    return Grant("agent:run:research", repo)


def made(*, writes=False, answer=None):
    """A tool about acme/api, and the desks that its calls came to."""
    desks = []

    async def work(desk: Desk, asked: Asked) -> ToolResult | Refused:
        desks.append(desk)
        return answer or outside(f"{desk.repo} {asked.count}")

    return tool("look", "Looks.", Asked, work, repo="acme/api", need=need, writes=writes), desks


def use(each, *grants, **args):
    return run(each.call(ToolCall(make_house(), run_of(*grants), args, "k", 5)))


ON_API = "agent:run:research on acme/api"
ANYWHERE = "agent:run:research"


class TestAuthority:
    @pytest.mark.parametrize(
        ("held", "args", "may"),
        [
            (ON_API, {}, True),
            (ON_API, {"repo": ""}, True),
            (ON_API, {"repo": "Acme/API"}, True),
            (ON_API, {"repo": "acme/web"}, False),
            (ON_API, {"repo": "acme/*"}, False),
            (ON_API, {"repo": 7}, False),
            (ON_API, {"repo": ["acme/api"]}, False),
            (ON_API, {"repo": "acme/api/../../user"}, False),
            (ANYWHERE, {"repo": "acme/web"}, True),
            ("agent:run:research on acme/web", {}, False),
            ("github:issue-write", {}, False),
        ],
    )
    def test_is_asked_for_the_repository_that_the_call_names(self, held, args, may):
        each, desks = made()
        assert allowed(each, args, (grant(held),)) is may
        result = use(each, held, **args)
        assert result.ok is may
        assert len(desks) == may
        if not may:
            assert result.text.startswith(f"{Code.FORBIDDEN}: ")

    def test_is_asked_of_the_run_and_not_of_the_caller(self):
        each, desks = made()
        assert (
            use(each).text == "forbidden: This turn does not hold agent:run:research on acme/api."
        )
        assert desks == []


class TestArguments:
    @pytest.mark.parametrize("repo", ["acme", "acme/*", "acme/..", "acme/a b", "../user", "a/b/c"])
    def test_a_name_that_is_no_repository_is_refused_even_under_all(self, repo):
        each, desks = made()
        result = use(each, "all", repo=repo)
        assert result.text.startswith(f"{Code.BAD_VALUE}: ")
        assert desks == []

    @pytest.mark.parametrize(
        ("args", "named"),
        [({"count": "2"}, "count"), ({"branch": "main"}, "branch"), ({"count": True}, "count")],
    )
    def test_what_does_not_fit_is_refused_by_name(self, args, named):
        each, desks = made()
        result = use(each, "all", **args)
        assert (result.ok, result.untrusted) == (False, False)
        assert result.text.startswith(f"{Code.BAD_VALUE}: {named}")
        assert desks == []

    def test_fill_the_desk(self):
        each, desks = made()
        result = use(each, ANYWHERE, repo="acme/web", count=3)
        assert result == ToolResult("acme/web 3", untrusted=True)
        (desk,) = desks
        assert (desk.repo, desk.key, desk.now_ms, desk.run.id) == ("acme/web", "k", 5, "run1")


class TestAToolThatWrites:
    def test_writes_in_the_turns_repository(self):
        each, desks = made(writes=True)
        assert use(each, ANYWHERE).ok
        assert use(each, ANYWHERE, repo="ACME/api").ok
        assert [desk.repo.lower() for desk in desks] == ["acme/api", "acme/api"]

    def test_writes_nowhere_else_whatever_is_held(self):
        each, desks = made(writes=True)
        result = use(each, "all", repo="acme/web")
        assert result.text == "forbidden: In this turn look writes in acme/api alone."
        assert desks == []


def test_a_refusal_is_told_with_its_code():
    each, _ = made(answer=Refused(Code.GITHUB_NOT_FOUND, "It is not there."))
    assert use(each, "all") == ToolResult("github_not_found: It is not there.", ok=False)


def test_the_schema_is_plain():
    assert schema_of(Asked) == {
        "type": "object",
        "properties": {
            "repo": {
                "default": "",
                "description": "OWNER/REPO; leave out for this turn's own.",
                "maxLength": 140,
                "type": "string",
            },
            "count": {"default": 1, "type": "integer"},
        },
        "required": [],
        "additionalProperties": False,
    }
