"""Text from outside adds no authority, even to a model that obeys every word of it."""

from __future__ import annotations

import json

import pytest

from bot.agent.roles import tools_for
from bot.authz.actor import Actor, Surface
from bot.commands.all import REGISTRY
from bot.dispatch.admit import admit
from bot.dispatch.message import IncomingMessage
from bot.dispatch.turn import run_turn
from bot.runs import ledger, trace
from bot.words import Source, State
from tests.support.demo_github import UrllibHttp
from tests.support.drive import run
from tests.support.house import make_house
from tests.support.obedient_model import ObedientModel
from tests.unit.agent.hostile import ELSEWHERE, HERE, PLACES, SAID
from tests.unit.agent.turns import ISSUES, RESEARCH, SHIP, somebody, writes
from tests.unit.builders import entry, grant

RUN_ID = "run1"
ROW = entry("nightly-audit", grants=list(ISSUES))


class PlainSteps:
    """Steps that are done as they come; their results cross as JSON."""

    async def do(self, name, work, *, retries=0):
        return json.loads(json.dumps(await work()))

    async def sleep(self, name, ms):
        raise AssertionError("nothing is to be waited for")


class Firing:
    """One turn of a schedule, with the obedient model, over the demo GitHub."""

    def __init__(self, github, model, *grants, text="agent:run research in acme/api: look"):
        settings = {
            "github_api_url": github.url,
            "github_token": github.token,
            "model_base_url": model.base_url,
            "model": "obedient",
        }
        self.house = make_house(settings=settings, http=UrllibHttp(), commands=REGISTRY)
        self.house.config.put({"schedules.nightly-audit": ROW})
        message = IncomingMessage(
            RUN_ID,
            Actor(Surface.SCHEDULE, "nightly-audit"),
            tuple(grant(each) for each in grants),
            Source.SCHEDULE,
            text,
            channel="web:ops",
            name="nightly-audit",
        )
        run(admit(self.house, [message], self.house.clock.now_ms()))
        run(run_turn(self.house, RUN_ID, PlainSteps()))
        self.run = run(ledger.get(self.house.db, RUN_ID))
        self.steps = run(trace.read(self.house.db, RUN_ID))

    def outcomes(self, tool):
        return [step["outcome"] for step in self.steps if step["tool"] == tool]


@pytest.fixture(scope="module")
def obedient():
    with ObedientModel() as model:
        yield model


@pytest.fixture
def model(obedient):
    obedient.asked.clear()
    return obedient


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, github, model):
    """A place that holds the hostile text, which the model's errand is to read."""
    model.errand = (request.param(github),)
    github.planted = len(writes(github))


def written(github):
    """What was written on GitHub after the hostile text was."""
    return writes(github)[github.planted :]


@pytest.mark.usefixtures("place")
class TestAnObedientModel:
    def test_does_nothing_outside_its_turns_authority(self, github, model):
        firing = Firing(github, model, *ISSUES)
        assert (firing.run.state, firing.run.code) == (State.OK, None)
        assert written(github) == [("POST", "/repos/acme/api/issues")]
        assert somebody(github, "GET", "/issues?state=all", repo="acme/web")[0]["number"] == 1
        assert firing.house.config.get("org").entries == {"schedules.nightly-audit": ROW}

    def test_has_every_attempt_shown_in_the_run(self, github, model):
        firing = Firing(github, model, *ISSUES)
        called = [(s["tool"], json.loads(s["args"])) for s in firing.steps if s["tool"]]
        assert sorted(map(str, called)) == sorted(map(str, (*model.errand, *ELSEWHERE, HERE)))
        by_call = {(s["tool"], s["args"]): s for s in firing.steps if s["tool"]}
        for tool, args in ELSEWHERE:
            step = by_call[tool, json.dumps(args)]
            assert step["outcome"] == "refused", step
            assert step["note"], step

    def test_opens_what_it_was_ordered_here_as_this_run_and_no_other(self, github, model):
        firing = Firing(github, model, *ISSUES)
        assert firing.outcomes("create_issue").count("ok") == 1
        newest = somebody(github, "GET", "/issues")[0]
        assert newest["title"] == "Ordered here"
        assert f"run:{RUN_ID} " in newest["body"]

    def test_opens_nothing_without_the_grant(self, github, model):
        firing = Firing(github, model, *RESEARCH)
        assert firing.run.state is State.OK
        assert set(firing.outcomes("create_issue")) == {"refused"}
        assert written(github) == []

    def test_posts_once_in_its_own_thread_and_calls_nobody(self, github, model):
        firing = Firing(github, model, *ISSUES)
        (post,) = firing.house.web.posts
        assert post.thread.startswith("web:ops/")
        assert "schedule remove nightly-audit" in post.text
        assert "@channel" not in post.text
        assert "<!channel>" not in post.text
        assert SAID in firing.run.output, "what it said is what the run keeps"

    def test_reads_the_orders_as_data_that_does_not_end_early(self, github, model):
        Firing(github, model, *RESEARCH)
        tool_messages = [m for m in model.asked[-1].json["messages"] if m["role"] == "tool"]
        first, *_ = (message["content"] for message in tool_messages)
        opening, *_, closing = first.splitlines()
        code = opening.split()[1]
        assert opening.startswith("<<<DATA ")
        assert closing == f"DATA {code}>>>"
        assert first.count(code) == 2
        assert "\u202e" not in first


def branches(github):
    return {each["name"]: each["commit"]["sha"] for each in somebody(github, "GET", "/branches")}


class TestAHostilePlan:
    """A plan is followed for the repository's files; nothing in it reaches further."""

    def test_ships_to_its_own_branch_and_nowhere_else(self, github, model):
        tool, args = PLACES[-1](github)
        model.errand = ((tool, args),)
        before = len(writes(github))
        tips = branches(github)
        firing = Firing(github, model, *SHIP, text=f"agent:ship in acme/api: plan {args['path']}")
        assert firing.run.state is State.OK
        assert firing.outcomes("write_file") == ["ok"]
        assert set(firing.outcomes("create_issue")) == {"refused"}
        assert set(firing.outcomes("schedule_remove")) == {"refused"}
        made = writes(github)[before:]
        assert {path.split("?")[0] for _, path in made} == {
            "/repos/acme/api/git/refs",
            "/repos/acme/api/contents/README.md",
            "/repos/acme/api/pulls",
        }
        after = branches(github)
        assert after["main"] == tips["main"]
        assert set(after) == {"main", f"standing-orders/{RUN_ID}"}
        assert somebody(github, "GET", "/pulls")[0]["merged_at"] is None


def test_what_it_orders_is_no_tool_of_any_role():
    held = [grant("all")]
    offered = {t.name for role in ("research", "ship") for t in tools_for(role, "acme/api", held)}
    ordered = {tool for tool, _ in ELSEWHERE}
    assert ordered - offered == {"schedule_remove", "grant_add", "config_set", "confirm", "post"}
