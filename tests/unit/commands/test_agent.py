import pytest

from bot.commands.all import REGISTRY
from bot.dispatch.handback import make_handback
from bot.words import Code, Effect, Route
from tests.support.drive import run
from tests.support.model_server import says
from tests.support.turns import KeptSteps, Office
from tests.unit.commands.caller import Caller
from tests.unit.http.client import Client

RESEARCH = "agent:run research in acme/api: what is there?"
SHIP = "agent:ship in acme/api: plan plans/a.md"


def caller(*held: str) -> Caller:
    return Caller(Office().house, "http:ci", held)


def test_names_the_turn_that_it_stands_for():
    outcome = caller("agent:run:research on acme/api").ok(RESEARCH)
    assert outcome.then is not None
    assert outcome.then.command == RESEARCH
    shipped = caller("agent:ship on acme/api").ok(SHIP).then
    assert shipped is not None
    assert shipped.command == SHIP


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (RESEARCH, "agent:run:research on acme/web"),
        (RESEARCH, "agent:ship on acme/api"),
        (SHIP, "agent:run:* on acme/api"),
        (SHIP, "agent:ship on acme/web"),
    ],
)
def test_needs_its_own_grant_on_the_repository(text: str, held: str):
    assert caller(held).refused(text) is Code.FORBIDDEN


@pytest.mark.parametrize(
    "text",
    [
        "agent:run admin in acme/api: x",
        "agent:run ship in acme/api: plan x",
        "agent:run research in acme: x",
        "agent:run research in acme/..: x",
        "agent:ship in api: plan x",
    ],
)
def test_refuses_what_is_no_role_or_no_repository(text: str):
    assert caller("all").refused(text) is Code.BAD_VALUE


def test_a_change_of_code_counts_as_a_write_unless_it_is_written_out():
    ship, research = REGISTRY.get("agent:ship"), REGISTRY.get("agent:run")
    assert ship is not None
    assert research is not None
    assert ship.effect_by(Route.EXPLICIT) is Effect.EXEC
    assert ship.effect_by(Route.ROUTED) is Effect.WRITE
    assert {research.effect_by(route) for route in Route} == {Effect.EXEC}


class TestOverHttp:
    """``POST /admin/command`` starts a run and answers its id."""

    def answer(self, office: Office, text: str, token: str = "token-of-root"):
        client = Client(office.house, {"authorization": f"Bearer {token}"})
        return client.send("POST", "/admin/command", {"text": text})

    def test_starts_a_run_of_the_caller(self):
        office = Office(says("two files"), settings={"admins": frozenset({"http:root"})})
        answer = self.answer(office, RESEARCH)
        assert answer.json["outcome"] == "ok"
        run_id = answer.json["data"]["run_id"]
        assert run_id in answer.json["text"]
        assert office.house.engine.started == [run_id]
        ended = office.turn(run_id)
        assert (ended.actor, ended.source, ended.text) == ("http:root", "ingress", RESEARCH)
        assert (ended.state, ended.output, ended.delivery) == ("ok", "two files", "delivered")

    def test_refuses_what_the_caller_may_not(self):
        office = Office()
        answer = self.answer(office, SHIP, "token-of-ci")
        assert (answer.status, answer.json["code"]) == (403, "forbidden")
        assert office.house.engine.started == []


def test_a_change_that_was_handed_back_and_confirmed_goes_on_in_that_turn():
    office = Office(says("shipped"))
    office.admit("whoami", run_id="run0")
    actor = caller("all").actor
    now = office.house.clock.now_ms()
    code = run(make_handback(office.house, actor, SHIP, now))
    office.admit(f"confirm {code}", "http:ci", ("agent:ship on acme/api",), thread="http:ci/1")
    ended = office.turn("run1", KeptSteps())
    assert (ended.state, ended.output) == ("ok", "shipped")
    assert (ended.route, ended.effect) == ("explicit", "exec")
