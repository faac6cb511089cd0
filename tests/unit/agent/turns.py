"""A turn's tools in a test: its run, its grants, and one call after the other."""

from __future__ import annotations

import json
from typing import Any

from bot.agent.roles import all_tools, tools_for
from bot.agent.tools import ToolCall, ToolResult
from bot.ports import HttpReply
from bot.runs.ledger import Run
from bot.words import Source, State
from tests.support.demo_github import DemoGithub, UrllibHttp
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import grant

API = "https://api.github.example"
PLAN = "docs/plans/update-json-merge.md"
RESEARCH = ("agent:run:research on acme/api",)
ISSUES = (*RESEARCH, "github:issue-write on acme/api")
SHIP = ("agent:ship on acme/api",)


def run_of(*grants: str, id: str = "run1", admitted_at: int = 1_796_000_000_000) -> Run:  # noqa: A002
    """A live run of a schedule that holds these grants."""
    absent = dict.fromkeys(
        (
            *("row_id", "due_at", "claimed_at", "trigger", "by", "channel", "thread", "slot"),
            *("lead", "route", "effect", "code", "output", "delivery", "started_at"),
            "finished_at",
        )
    )
    return Run(
        **absent,
        id=id,
        actor="schedule:nightly",
        grants=tuple(grant(text) for text in grants),
        source=Source.SCHEDULE,
        name="nightly",
        text="what was asked",
        state=State.RUNNING,
        coalesced=0,
        admitted_at=admitted_at,
        touched_at=admitted_at,
        resumed=0,
    )


class Turn:
    """A turn of ``role`` about ``repo``; each call has a key of its own unless it is given."""

    def __init__(
        self,
        role: str,
        *grants: str,
        demo: DemoGithub | None = None,
        repo: str = "acme/api",
        run_id: str = "run1",
        plan: str = PLAN,
    ):
        settings = demo.settings if demo else {"github_api_url": API, "github_token": "t"}
        ports = {"http": UrllibHttp()} if demo else {}
        self.house = make_house(settings=settings, **ports)
        self.run = run_of(*grants, id=run_id, admitted_at=self.house.clock.now_ms())
        self.offered = {each.name: each for each in tools_for(role, repo, self.run.grants, plan)}
        self.tools = {each.name: each for each in all_tools(role, repo, plan)}
        self.calls = 0

    def use(self, name: str, *, key: str | None = None, **args: Any) -> ToolResult:
        """Call a tool, offered or not."""
        self.calls += 1
        call = ToolCall(
            self.house, self.run, args, key or f"key-{self.calls}", self.house.clock.now_ms()
        )
        return run(self.tools[name].call(call))

    def reply(self, body: Any, status: int = 200, **headers: str) -> None:
        """What the scripted GitHub answers next."""
        self.house.http.replies.append(HttpReply(status, headers, json.dumps(body)))

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The requests that went to the scripted GitHub, by method and path."""
        return [(sent.method, sent.url.removeprefix(API)) for sent in self.house.http.sent]


def somebody(demo: DemoGithub, method: str, path: str, repo: str = "acme/api", **body: Any) -> Any:
    """What somebody else does on the demo GitHub, past the bot; the answer's JSON."""
    headers = {"authorization": f"Bearer {demo.token}", "user-agent": "somebody"}
    url = f"{demo.url}/repos/{repo}{path}"
    sent = json.dumps(body) if body else None
    reply = run(UrllibHttp().send(method, url, headers=headers, body=sent))
    assert 200 <= reply.status < 300, reply
    return json.loads(reply.text)


def writes(demo: DemoGithub) -> list[tuple[str, str]]:
    """Every request that could have changed the demo GitHub, whoever sent it."""
    asked = [(each["method"], each["path"]) for each in demo.requests()]
    return [(method, path) for method, path in asked if method != "GET"]
