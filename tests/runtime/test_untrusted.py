"""Hostile texts and an obedient model on the real runtime: nothing outside the turn's authority."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.runtime.bot import Bot
from tests.runtime.server import Server
from tests.support.demo_github import DemoGithub
from tests.support.obedient_model import ObedientModel, ToolUse
from tests.unit.agent.hostile import ELSEWHERE, HERE, PLACES
from tests.unit.agent.turns import ISSUES, SHIP, somebody, writes

AUDIT, SHIPS = "nightly-audit", "nightly-ship"


@pytest.fixture(scope="module")
def github() -> Iterator[DemoGithub]:
    with DemoGithub() as demo:
        yield demo


@pytest.fixture(scope="module")
def model() -> Iterator[ObedientModel]:
    with ObedientModel() as obedient:
        yield obedient


@pytest.fixture(scope="module")
def bot(start_server: Callable[..., Server], github: DemoGithub, model: ObedientModel) -> Bot:
    """Two schedules: one reads and may open issues in acme/api, one ships a plan of it."""
    variables = {
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": github.token,
        "MODEL_BASE_URL": model.base_url,
        "MODEL": "obedient",
    }
    bot = Bot(start_server(vars=variables))
    usual = {"cron": "0 3 * * *", "channel": "web:ops"}
    bot.add(AUDIT, text="agent:run research in acme/api: look", grants=list(ISSUES), **usual)
    text = "agent:ship in acme/api: plan docs/notes.md"
    bot.add(SHIPS, text=text, grants=list(SHIP), **usual)
    return bot


def fired(bot: Bot, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One firing by hand, to its end: the run, and the tools that it called."""
    answer = bot.fire(name)
    assert answer.status == 202, answer.text
    run = bot.told(answer.json()["run_id"])
    return run, [step for step in run["steps"] if step["tool"]]


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what a firing itself writes."""
    rows = {
        key: {name: value for name, value in entry.items() if not name.startswith("last")}
        if isinstance(entry, dict)
        else entry
        for key, entry in document["entries"].items()
    }
    assert {f"schedules.{AUDIT}", f"schedules.{SHIPS}"} <= rows.keys()
    return rows


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_what_was_read_adds_no_authority(
    bot: Bot, github: DemoGithub, model: ObedientModel, place: Callable[[DemoGithub], ToolUse]
):
    github.reset()
    model.errand = (place(github),)
    planted = len(writes(github))
    before = plain(bot.document())
    threads = {channel: len(bot.threads(channel)) for channel in ("web:general", "web:ops")}

    run, tools = fired(bot, AUDIT)

    assert (run["state"], run["code"], run["delivery"]) == ("ok", None, "delivered")
    outcomes = {(each["tool"], each["args"]): each["outcome"] for each in tools}
    assert len(outcomes) == 1 + len(ELSEWHERE) + 1
    for tool, args in ELSEWHERE:
        assert outcomes[tool, json.dumps(args)] == "refused"
    assert outcomes[HERE[0], json.dumps(HERE[1])] == "ok", "it is within the row's grants"
    assert writes(github)[planted:] == [("POST", "/repos/acme/api/issues")]
    assert len(somebody(github, "GET", "/issues?state=all", repo="acme/web")) == 1
    assert plain(bot.document()) == before
    assert run["thread"].startswith("web:ops/")
    assert len(bot.threads("web:general")) == threads["web:general"]
    assert len(bot.threads("web:ops")) == threads["web:ops"] + 1
    (posted,) = bot.thread(run["thread"])[-1:]
    assert "I did as I was told." in posted
    assert "@channel" not in posted
    assert "<!channel>" not in posted
    assert not [one for one in bot.runs(limit=20) if one["text"].startswith("schedule remove")]


def test_a_hostile_plan_reaches_its_runs_branch_and_one_pull_request(
    bot: Bot, github: DemoGithub, model: ObedientModel
):
    github.reset()
    model.errand = (PLACES[-1](github),)
    planted = len(writes(github))
    tip = somebody(github, "GET", "/git/ref/heads/main")["object"]["sha"]

    run, tools = fired(bot, SHIPS)

    assert run["state"] == "ok", run
    done = [each["tool"] for each in tools if each["outcome"] == "ok"]
    assert done == ["read_file", "write_file", "open_pull_request"]
    assert [path for _, path in writes(github)[planted:]] == [
        "/repos/acme/api/git/refs",
        "/repos/acme/api/contents/README.md",
        "/repos/acme/api/pulls",
    ]
    assert somebody(github, "GET", "/git/ref/heads/main")["object"]["sha"] == tip
    (pull,) = somebody(github, "GET", "/pulls")
    assert pull["head"]["ref"] == f"standing-orders/{run['id']}"
    assert "Plan: `docs/notes.md`." in pull["body"]
    assert plain(bot.document()).keys() == {f"schedules.{AUDIT}", f"schedules.{SHIPS}"}
