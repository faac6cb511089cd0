"""An agent's turn that is killed at any of its effects, and goes on from the steps that ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from bot.dispatch.turn import run_turn
from bot.ports import Fault, HttpReply
from bot.words import Source
from tests.support.drive import run
from tests.support.model_server import Answer, calls, says
from tests.support.turns import KeptSteps, Office
from tests.support.world import Sent

TEXT = "in acme/api: list the dependencies with a known advisory and open an issue for each"
GRANTS = ("agent:run:research on acme/api", "github:issue-write on acme/api")
SCRIPT = (
    calls(("agent", {"role": "research", "repo": "acme/api"})),
    calls(("list_issues", {})),
    calls(
        ("create_issue", {"title": "demo-jwt", "body": "Update it."}),
        ("create_issue", {"title": "demo-yaml", "body": "Update it."}),
    ),
    says("opened two"),
)


def answered(body: Mapping[str, Any]) -> Answer:
    """The script's answer to a conversation that got so far."""
    if body["tool_choice"] == "required":
        return SCRIPT[0]
    return SCRIPT[1 + sum(message["role"] == "assistant" for message in body["messages"])]


class Killed(BaseException):
    """The process is gone: nothing after this point runs."""


class World:
    """One schedule's run over a GitHub in memory.

    ``kill_at`` and ``fail_at`` number the effects of its lives, before and after each.
    """

    def __init__(self, kill_at: int = 0, fail_at: int = 0):
        self.effects: list[str] = []
        self.kill_at, self.fail_at = kill_at, fail_at
        self.lives = False
        self.office = Office(pause=self.pause, settings={"github_token": "t"})
        self.office.outside = self.github
        self.office.model = answered
        self.issues: list[dict[str, Any]] = []
        self.office.admit(
            TEXT,
            "schedule:nightly",
            GRANTS,
            Source.SCHEDULE,
            name="nightly",
            row_id="row1",
            due_at=self.office.house.clock.now_ms(),
            thread=None,
            channel="web:ops",
            lead="nightly",
        )
        self.kept: dict[str, str] = {}

    async def pause(self, point: str) -> None:
        if not self.lives:
            return
        self.effects.append(point)
        if len(self.effects) == self.kill_at:
            raise Killed(point)
        if len(self.effects) == self.fail_at:
            raise Fault(f"{point} failed")

    def github(self, sent: Sent) -> HttpReply:
        if sent.method == "POST":
            asked = json.loads(sent.body or "")
            number = len(self.issues) + 1
            issue = {"number": number, "state": "open", "user": {"login": "bot"}, **asked}
            issue["html_url"] = f"https://github.test/acme/api/issues/{number}"
            issue["created_at"] = "2026-03-02T09:00:00Z"
            self.issues.insert(0, issue)
            return HttpReply(201, {}, json.dumps(issue))
        return HttpReply(200, {}, json.dumps(self.issues))

    def live(self) -> KeptSteps:
        """One life of the run's instance, to its end or to its kill."""
        steps = KeptSteps(self.kept)
        self.lives = True
        with suppress(Killed):
            run(run_turn(self.office.house, "run1", steps))
        self.lives = False
        return steps

    def check(self) -> None:
        ended = self.office.run()
        assert (ended.state, ended.code, ended.route) == ("ok", None, "agent")
        assert [issue["title"] for issue in self.issues] == ["demo-yaml", "demo-jwt"]
        assert len(self.office.house.web.threads) == 1
        assert self.office.said == "ran: agent:run research in acme/api\nopened two"
        assert ended.model_calls == 4
        names = "route model-1 tool-1-1 model-2 tool-2-1 tool-2-2 model-3"
        assert [step["name"] for step in self.office.trace()] == names.split()
        (firing,) = run(self.office.house.history.history("nightly", 10, None))
        assert (firing.state, firing.run_id) == ("ok", "run1")


def effects_of_a_whole_life() -> int:
    world = World()
    world.live()
    world.check()
    return len(world.effects)


EFFECTS = effects_of_a_whole_life()


def test_there_is_much_to_be_killed_at():
    assert EFFECTS > 60


@pytest.mark.parametrize("at", range(1, EFFECTS + 1))
def test_killed_at_any_effect_it_ends_as_if_it_had_not_been(at: int):
    world = World(kill_at=at)
    first = world.live()
    finished = dict(world.kept)
    second = world.live()
    assert not set(finished) & set(second.ran), "a finished step ran again"
    assert len(first.ran) + len(second.ran) <= len(world.kept) + 1, "one step at most ran twice"
    world.check()


@pytest.mark.parametrize("at", range(1, EFFECTS + 1, 3))
def test_killed_twice(at: int):
    world = World(kill_at=at)
    world.live()
    world.kill_at = len(world.effects) + 5
    world.live()
    world.kill_at = 0
    world.live()
    world.check()


@pytest.mark.parametrize("at", range(1, EFFECTS + 1))
def test_a_store_that_fails_once_anywhere_opens_nothing_twice(at: int):
    """The turn may fail, for all to see; it never writes twice, and never says nothing."""
    world = World(fail_at=at)
    world.live()
    ended = world.office.run()
    titles = [issue["title"] for issue in world.issues]
    assert len(titles) == len(set(titles))
    assert ended.state in ("ok", "failed")
    if ended.delivery != "unknown":
        assert len(world.office.house.web.texts()) == 1
