"""The demo model speaks the protocol, and its answers mean what the README's examples say."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bot.agent.ask import AgentAsk
from bot.agent.exchange import Asked, Reply, Unusable
from bot.agent.loop import offered
from bot.agent.model import ChatCompletions
from bot.agent.roles import all_tools
from bot.agent.untrusted import fence
from bot.commands.all import REGISTRY
from bot.commands.grammar import render
from bot.dispatch.route import choice, question
from bot.dispatch.todo import AskRouter, End, RunAgent, RunCommand
from tests.support.demo_github import UrllibHttp
from tests.support.demo_model import DemoModel
from tests.support.drive import run


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoModel]:
    with DemoModel() as started:
        yield started


def ask(demo: DemoModel, asked: Asked) -> Reply:
    model = ChatCompletions(UrllibHttp(), demo.url, demo.token, demo.model)
    reply = run(model.complete(asked, timeout_s=10))
    assert isinstance(reply, Reply), reply
    assert reply.text.startswith("demo model: "), "it says what it is in every answer"
    assert reply.tokens_in > 0
    return reply


def sorted_by(demo: DemoModel, text: str, *, has_own: bool = True) -> str:
    """What a text comes to: the command in chat form, the agent, or that it is unclear."""
    asked = AskRouter(text, has_own)
    todo = choice(REGISTRY, asked, ask(demo, question(REGISTRY, asked)))
    if isinstance(todo, RunCommand):
        command = REGISTRY.get(todo.name)
        assert command is not None
        return render(command.name, command.syntax, todo.args)
    if isinstance(todo, RunAgent):
        return todo.receipt.removeprefix("ran: ")
    assert isinstance(todo, End)
    return f"unclear: {todo.ending.text}"


class TestSorting:
    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("list schedules", "schedule list"),
            ("which schedules are there?", "schedule list"),
            ("show me the schedule nightly-audit", "schedule show nightly-audit"),
            ('when does "0 9 * * 1-5" fire next?', 'schedule preview "0 9 * * 1-5"'),
            ("“0 9 * * 1-5”: what does it mean?", 'schedule preview "0 9 * * 1-5"'),
            (
                'preview "0 9 * * *" in Europe/Berlin',
                'schedule preview "0 9 * * *" zone Europe/Berlin',
            ),
            (
                "every weekday at nine in web:ops, list the advisories of acme/api",
                'schedule add list-the-advisories "0 9 * * 1-5" in web:ops: '
                "list the advisories of acme/api",
            ),
            (
                "please Pause nightly-audit because we ship on Thursday",
                "schedule pause nightly-audit because we ship on Thursday",
            ),
            ("please remove the schedule nightly", "schedule remove nightly"),
            ("fire nightly-audit", "schedule fire nightly-audit"),
            ("what ran last night?", "run list"),
            ("which grants do I hold? what may i do", "whoami"),
            ("list the advisories of acme/api", "advisories in acme/api"),
            ("in acme/api: what does the server do?", "agent:run research in acme/api"),
            (
                "in acme/api: list the dependencies with a known advisory and open an issue for "
                "each",
                "agent:run research in acme/api",
            ),
            (
                "in acme/api: bump every dependency with a known advisory",
                "agent:ship in acme/api: plan plans/bump-every-dependency.md",
            ),
            ("bump every dependency", "agent:ship in OWNER/REPO: plan plans/bump-every"),
            (
                "in acme/api: change what docs/plans/a.md says",
                "agent:ship in acme/api: plan docs/plans/a.md",
            ),
            ("remind me in 45 minutes to stretch", "agent, personal"),
            (
                "every morning at 09:00, check my repos and message me on Telegram",
                "agent, personal",
            ),
            ("how is the weather?", "unclear: "),
            ("", "unclear: "),
        ],
    )
    def test_of(self, demo: DemoModel, text: str, command: str):
        assert sorted_by(demo, text).startswith(command)

    def test_of_a_reminder_for_nobody_is_unclear(self, demo: DemoModel):
        assert sorted_by(demo, "remind me in 45 minutes", has_own=False).startswith("unclear: ")

    def test_says_what_it_is_where_it_is_unsure(self, demo: DemoModel):
        assert "demo model: " in sorted_by(demo, "how is the weather?")


def talk(ask_text: str, *before: tuple[str, dict[str, Any], str]) -> list[Any]:
    """A conversation in which these calls were made and answered."""
    made = [
        {"id": str(at), "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for at, (n, a, _) in enumerate(before)
    ]
    told = [
        {"role": "tool", "tool_call_id": str(at), "content": t} for at, (*_, t) in enumerate(before)
    ]
    called = [{"role": "assistant", "content": None, "tool_calls": made}] if made else []
    return [
        {"role": "system", "content": "x"},
        {"role": "user", "content": ask_text},
        *called,
        *told,
    ]


def tools(ask_: AgentAsk, *names: str) -> list[Any]:
    made = all_tools(ask_.role, ask_.repo or "", ask_.text)
    return [offered(tool) for tool in made if not names or tool.name in names]


AUDIT = "in acme/api: list the dependencies with a known advisory and open an issue for each"
RESEARCH = AgentAsk("research", "acme/api", AUDIT)
ADVISORIES = (
    "list_advisories",
    {},
    fence(
        "acme/api: 2 open advisories, worst first:\n"
        "- critical demo-jwt < 3.2.1 (npm, package-lock.json), fixed in 3.2.1, CVE-2099-1 GHSA-1: "
        "Signature check is skipped\n"
        "- low demo-yaml = 1.0 (pip, requirements.txt), no fix yet, GHSA-2: Slow: very slow",
        "list_advisories",
    ),
)
ISSUES = ("list_issues", {}, "No open issues of acme/api on page 1.")


class TestTheAudit:
    def test_looks_before_it_opens(self, demo: DemoModel):
        reply = ask(demo, Asked(talk(AUDIT), tools(RESEARCH)))
        assert [call.name for call in reply.calls] == ["list_advisories", "list_issues"]

    def test_opens_one_for_each(self, demo: DemoModel):
        reply = ask(demo, Asked(talk(AUDIT, ADVISORIES, ISSUES), tools(RESEARCH)))
        assert [call.name for call in reply.calls] == ["create_issue"] * 2
        titles = [json.loads(call.arguments)["title"] for call in reply.calls]
        assert titles == [
            "demo-jwt < 3.2.1: Signature check is skipped",
            "demo-yaml = 1.0: Slow: very slow",
        ]

    def test_leaves_out_what_is_open(self, demo: DemoModel):
        known = fence(
            "The open issues:\n- #3 (open) demo-jwt < 3.2.1: Signature check is skipped, by bot",
            "list_issues",
        )
        asked = Asked(talk(AUDIT, ADVISORIES, ("list_issues", {}, known)), tools(RESEARCH))
        reply = ask(demo, asked)
        assert len(reply.calls) == 1

    def test_without_the_tool_says_what_it_would_open(self, demo: DemoModel):
        offered_tools = tools(RESEARCH, "list_advisories", "list_issues")
        reply = ask(demo, Asked(talk(AUDIT, ADVISORIES, ISSUES), offered_tools))
        assert reply.calls == ()
        assert "demo-jwt" in reply.text

    def test_ends_with_the_receipts(self, demo: DemoModel):
        opened = ("create_issue", {"title": "x"}, "Opened acme/api#3 http://x")
        reply = ask(demo, Asked(talk(AUDIT, ADVISORIES, ISSUES, opened), tools(RESEARCH)))
        assert "- Opened acme/api#3 http://x" in reply.text


def test_without_a_key_it_is_shut(demo: DemoModel):
    model = ChatCompletions(UrllibHttp(), demo.url, "wrong", demo.model)
    answer = run(model.complete(Asked(talk("hi")), timeout_s=10))
    assert answer == Unusable("it answered with status 401")


def test_ends_when_it_is_told_to():
    assert DemoModel().stop() == 0
