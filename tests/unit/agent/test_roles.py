"""What each role is offered under which grants, and what it is told."""

import json

import pytest

from bot.agent.roles import ROLES, all_tools, prompt_for, tools_for
from bot.agent.untrusted import RULES
from tests.unit.agent.turns import PLAN, RESEARCH, SHIP, run_of
from tests.unit.builders import grant

READING = {
    *("read_file", "list_folder", "search_code", "list_advisories"),
    *("list_issues", "read_issue", "list_pulls", "read_pull"),
}
WRITING = {"write_file", "delete_file", "open_pull_request"}


def offered(role, *grants, repo="acme/api"):
    return {each.name for each in tools_for(role, repo, [grant(text) for text in grants], PLAN)}


class TestResearch:
    @pytest.mark.parametrize(
        "held", ["agent:run:research", "agent:run:*", "agent:run:research on acme/*", *RESEARCH]
    )
    def test_reads(self, held):
        assert offered("research", held) == READING

    @pytest.mark.parametrize(
        "held",
        ["github:issue-write", "github:issue-write on acme/api", "github:issue-write on acme/*"],
    )
    def test_opens_issues_where_the_grants_cover_the_repository(self, held):
        assert offered("research", *RESEARCH, held) == READING | {"create_issue"}

    @pytest.mark.parametrize(
        "held", ["github:issue-write on acme/web", "agent:ship", "schedule:write", "config:write"]
    )
    def test_opens_none_elsewhere(self, held):
        assert offered("research", *RESEARCH, held) == READING

    def test_has_nothing_without_its_grant(self):
        assert offered("research", "agent:run:research on acme/web") == set()

    def test_has_all_of_its_role_under_all_and_nothing_of_another(self):
        assert offered("research", "all") == READING | {"create_issue"}


class TestShip:
    def test_reads_and_writes_with_its_one_grant(self):
        assert offered("ship", *SHIP) == READING | WRITING

    @pytest.mark.parametrize("held", ["agent:ship on acme/web", "agent:run:*", *RESEARCH])
    def test_has_nothing_without_it(self, held):
        assert offered("ship", held) == set()

    def test_has_no_tool_that_merges_or_pushes_or_opens_issues(self):
        assert offered("ship", "all") == READING | WRITING


@pytest.mark.parametrize("role", ROLES)
def test_tools_are_what_a_model_can_be_offered(role):
    names = [each.name for each in all_tools(role, "acme/api")]
    assert len(names) == len(set(names))
    for each in all_tools(role, "acme/api"):
        assert each.description.endswith(".")
        assert each.parameters["additionalProperties"] is False
        assert "$ref" not in json.dumps(each.parameters)
        assert "branch" not in each.parameters["properties"]


@pytest.mark.parametrize("role", ROLES)
def test_what_writes_says_so(role):
    writing = {each.name for each in all_tools(role, "acme/api") if each.writes}
    assert writing == (WRITING if role == "ship" else {"create_issue"})


def test_an_unknown_role_has_no_tools_and_no_prompt():
    assert tools_for("root", "acme/api", [grant("all")]) == ()
    with pytest.raises(KeyError):
        prompt_for("root", "acme/api", "x", run_of())


class TestThePrompt:
    def test_of_research_names_the_repository_the_run_and_its_actor(self):
        prompt = prompt_for("research", "acme/api", "list them", run_of(id="run-7"))
        assert "acme/api" in prompt
        assert "run run-7 of schedule:nightly" in prompt
        assert RULES in prompt

    def test_of_ship_names_the_plan_and_the_branch(self):
        prompt = prompt_for("ship", "acme/api", f"{PLAN}\nand more", run_of(id="run-7"))
        assert f"the plan {PLAN} and more in" in prompt
        assert "standing-orders/run-7" in prompt

    @pytest.mark.parametrize("role", ROLES)
    def test_survives_braces_in_what_was_asked(self, role):
        assert prompt_for(role, "acme/api", "{run} {0} {", run_of())
