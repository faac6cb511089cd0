import pytest

from bot.authz.actor import CRON
from bot.authz.grants import Grant, grants_of, parse_grant
from bot.authz.policy import COMMANDS, ROUTES, Door, Need, authorize
from bot.words import Code
from tests.unit.commands.contract import BY_NAME

FREE = {"confirm", "whoami", "help"}


def held(*texts: str) -> list[Grant]:
    made = [parse_grant(text) for text in texts]
    assert all(isinstance(one, Grant) for one in made)
    return [one for one in made if isinstance(one, Grant)]


def allowed(name: str, args: dict[str, object], *texts: str) -> bool:
    return authorize(COMMANDS.get(name), args, held(*texts)) is None


class TestTheTable:
    def test_names_every_command_of_the_contract_and_no_other(self):
        assert set(COMMANDS) == set(BY_NAME)

    def test_asks_only_for_actions_that_can_be_granted(self):
        needs = [*COMMANDS.values(), *ROUTES.values()]
        for need in needs:
            if need.action is not None:
                assert isinstance(parse_grant(need.action.format(role="research")), Grant), need

    def test_what_needs_nothing_is_known(self):
        assert {name for name, need in COMMANDS.items() if need.action is None} == FREE

    def test_every_resource_is_an_argument_of_its_command(self):
        for name, need in COMMANDS.items():
            if need.on is not None:
                assert need.on in {arg.name for arg in BY_NAME[name].syntax.all_args}

    def test_no_admin_route_but_the_command_door_is_free(self):
        free = {path for (_, path), need in ROUTES.items() if need.action is None}
        assert {path for path in free if path.startswith("/admin")} == {"/admin/command"}

    def test_open_doors_are_few(self):
        opened = {route for route, need in ROUTES.items() if need.door is Door.OPEN}
        assert opened == {
            ("GET", "/healthz"),
            ("GET", "/api/sign-in"),
            ("POST", "/api/session"),
            ("POST", "/api/mcp-secret"),
        }


class TestAuthorize:
    def test_what_the_table_does_not_name_is_denied_to_all(self):
        refusal = authorize(None, {}, held("all"))
        assert refusal is not None
        assert refusal.code is Code.FORBIDDEN

    def test_a_refusal_names_the_missing_grant(self):
        args = {"repo": "acme/api"}
        refusal = authorize(COMMANDS["agent:ship"], args, held("agent:ship on acme/web"))
        assert refusal is not None
        assert "agent:ship on acme/api" in refusal.detail

    @pytest.mark.parametrize(
        ("who", "advice"),
        [
            ("web:alice", "`grant add web:alice agent:ship on acme/api`"),
            ("http:ci", "`grant add http:ci agent:ship on acme/api`"),
            ("schedule:nightly", "remove the row and add it again with that grant"),
            ("http:cron", "holds schedule:fire and nothing else"),
        ],
    )
    def test_a_refusal_advises_nothing_that_is_always_refused(self, who: str, advice: str):
        args = {"repo": "acme/api"}
        refusal = authorize(COMMANDS["agent:ship"], args, (), who=who, givers=["web:root"])
        assert refusal is not None
        assert advice in refusal.detail
        assert ("grant add" in refusal.detail) is (who in ("web:alice", "http:ci"))

    @pytest.mark.parametrize("name", sorted(FREE))
    def test_some_need_nothing(self, name: str):
        assert allowed(name, {})

    def test_a_role_is_part_of_the_action(self):
        args = {"role": "research", "repo": "acme/api", "ask": "?"}
        assert allowed("agent:run", args, "agent:run:research")
        assert allowed("agent:run", args, "agent:run:* on acme/*")
        assert not allowed("agent:run", args, "agent:run:writer")
        assert not allowed("agent:run", {**args, "role": "*"}, "agent:run:research")
        assert not allowed("agent:run", {**args, "role": "research:x"}, "agent:run:research")
        assert not allowed("agent:run", {**args, "role": "{ask}"}, "agent:run:research")

    def test_reading_a_repository_needs_research_on_it(self):
        args = {"repo": "acme/api"}
        assert allowed("advisories", args, "agent:run:research on acme/api")
        assert not allowed("advisories", args, "agent:run:research on acme/web")
        assert not allowed("advisories", {"repo": "acme/../evil"}, "agent:run:research on acme/*")

    def test_without_its_resource_the_widest_grant_is_asked(self):
        need = Need("agent:ship", on="repo")
        assert authorize(need, {}, held("agent:ship on acme/*")) is not None
        assert authorize(need, {"repo": None}, held("agent:ship")) is None

    def test_the_cron_bearer_may_tick_and_fire_and_nothing_else(self):
        grants = grants_of(CRON, {}, frozenset())
        routes = {
            path
            for (_, path), need in ROUTES.items()
            if need.action and authorize(need, {}, grants) is None
        }
        assert routes == {"/admin/schedules/tick", "/admin/schedules/{name}/fire"}
        commands = {
            name
            for name, need in COMMANDS.items()
            if authorize(need, {"role": "research"}, grants) is None
        }
        assert commands == {"schedule fire", *FREE}
