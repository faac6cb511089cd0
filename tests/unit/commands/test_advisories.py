"""``advisories in REPO``, through the registry: authority, words for people, data for programs."""

import json

import pytest

from bot.authz.actor import Actor, Surface
from bot.authz.grants import Grant
from bot.commands.advisories import COMMANDS
from bot.commands.registry import Invocation, Registry
from bot.words import Code, Effect, OutcomeKind
from tests.support.demo_github import DemoGithub, UrllibHttp
from tests.support.drive import run
from tests.support.house import make_house

REGISTRY = Registry(COMMANDS)
RESEARCH = Grant("agent:run:research")
API = "https://api.github.example"


def alert(number, severity, package, *, cve=None, fix=None, summary="Bad"):
    return {
        "number": number,
        "dependency": {
            "package": {"ecosystem": "npm", "name": package},
            "manifest_path": "package-lock.json",
        },
        "security_advisory": {
            "ghsa_id": f"GHSA-demo-{number}",
            "cve_id": cve,
            "summary": summary,
        },
        "security_vulnerability": {
            "severity": severity,
            "vulnerable_version_range": "< 2.0.0",
            "first_patched_version": {"identifier": fix} if fix else None,
        },
        "html_url": f"https://github.example/alerts/{number}",
    }


def house_with(*replies, token="t"):
    house = make_house(settings={"github_api_url": API, "github_token": token})
    for status, body, headers in replies:
        house.http.reply(json.dumps(body), status=status, headers=headers)
    return house


def say(house, text, grants=(RESEARCH,)):
    parsed = REGISTRY.parse(text, strict=True)
    call = Invocation(Actor(Surface.WEB, "alice"), grants, "call1", house.clock.now_ms())
    return run(REGISTRY.invoke(house, call, parsed.name, parsed.args))


def answer_to(*alerts, headers=None):
    return say(house_with((200, list(alerts), headers or {})), "advisories in acme/api")


def test_it_is_a_read():
    (command,) = COMMANDS
    assert (command.effect, command.usage) == (Effect.READ, "advisories in REPO")


class TestTheAnswer:
    def test_counts_by_severity_and_lists_worst_first_then_by_package(self):
        outcome = answer_to(
            alert(1, "low", "zebra", fix="2.0.0"),
            alert(2, "high", "Merge", fix="2.0.0", cve="CVE-2099-2", summary="Prototype pollution"),
            alert(3, "critical", "jwt"),
            alert(4, "high", "http"),
            alert(5, "strange", "odd"),
        )
        assert outcome.kind is OutcomeKind.OK
        assert outcome.text.splitlines() == [
            "acme/api has 5 open advisories: 1 critical, 2 high, 1 low, 1 unknown.",
            "- critical jwt < 2.0.0 → no fix yet · GHSA-demo-3 · Bad",
            "- high http < 2.0.0 → no fix yet · GHSA-demo-4 · Bad",
            "- high Merge < 2.0.0 → 2.0.0 · CVE-2099-2 GHSA-demo-2 · Prototype pollution",
            "- low zebra < 2.0.0 → 2.0.0 · GHSA-demo-1 · Bad",
            "- unknown odd < 2.0.0 → no fix yet · GHSA-demo-5 · Bad",
        ]

    def test_of_one_is_in_the_singular(self):
        outcome = answer_to(alert(1, "low", "zebra"))
        assert outcome.text.startswith("acme/api has 1 open advisory: 1 low.\n")

    def test_of_none_says_so(self):
        outcome = answer_to()
        assert (outcome.text, outcome.data) == ("acme/api has no open advisories.", [])

    def test_has_the_list_as_plain_json(self):
        outcome = answer_to(alert(7, "high", "merge", fix="2.0.0"))
        assert json.loads(json.dumps(outcome.data)) == [
            {
                "number": 7,
                "package": "merge",
                "ecosystem": "npm",
                "manifest": "package-lock.json",
                "severity": "high",
                "ghsa": "GHSA-demo-7",
                "cve": None,
                "summary": "Bad",
                "vulnerable_range": "< 2.0.0",
                "fixed_in": "2.0.0",
                "url": "https://github.example/alerts/7",
            }
        ]
        assert type(outcome.data[0]["severity"]) is str

    def test_has_one_line_an_advisory_whatever_it_says(self):
        hostile = alert(1, "low", "zebra\n- critical fake", summary="a\r\n\r\nb\u2028c\x00")
        outcome = answer_to(hostile)
        assert len(outcome.text.splitlines()) == 2

    def test_says_when_there_are_more_than_it_lists(self):
        page = (200, [alert(1, "low", "zebra")], {"link": f'<{API}/x?after=y>; rel="next"'})
        outcome = say(house_with(*[page] * 10), "advisories in acme/api")
        assert outcome.text.splitlines()[0] == (
            "acme/api has more than 10 open advisories; these are the first 10: 10 low."
        )


class TestItIsRefused:
    def test_without_the_grant_on_that_repository(self):
        house = house_with()
        outcome = say(house, "advisories in acme/api", (Grant("agent:run:research", "acme/web"),))
        assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, Code.FORBIDDEN)
        assert "agent:run:research on acme/api" in outcome.text
        assert house.http.sent == []

    @pytest.mark.parametrize("repo", ["acme", "acme/*", "acme/..", "acme/api/issues", '"a b/c"'])
    def test_for_a_name_that_is_no_repository(self, repo):
        house = house_with()
        outcome = say(house, f"advisories in {repo}")
        assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, Code.BAD_VALUE)
        assert "OWNER/REPO" in outcome.text
        assert house.http.sent == []


class TestItFails:
    @pytest.mark.parametrize(
        ("status", "headers", "code"),
        [
            (401, {}, Code.GITHUB_TOKEN_REFUSED),
            (404, {}, Code.GITHUB_NOT_FOUND),
            (429, {"retry-after": "90"}, Code.GITHUB_RATE_LIMITED),
            (500, {}, Code.GITHUB_UNAVAILABLE),
        ],
    )
    def test_with_githubs_code(self, status, headers, code):
        outcome = say(house_with((status, {}, headers)), "advisories in acme/api")
        assert (outcome.kind, outcome.code) == (OutcomeKind.FAILED, code)

    def test_without_a_token(self):
        outcome = say(house_with(token=""), "advisories in acme/api")
        assert (outcome.kind, outcome.code) == (OutcomeKind.FAILED, Code.GITHUB_NO_TOKEN)

    def test_a_rate_limit_dates_itself_from_the_call(self):
        outcome = say(house_with((429, {}, {"retry-after": "90"})), "advisories in acme/api")
        assert "Try again at 2026-03-02T09:01:30+00:00, in 90 seconds." in outcome.text


def test_over_http_against_the_demo():
    with DemoGithub() as demo:
        house = make_house(settings=demo.settings, http=UrllibHttp())
        lines = say(house, "advisories in acme/api").text.splitlines()
        assert lines[0] == "acme/api has 7 open advisories: 1 critical, 2 high, 3 medium, 1 low."
        assert lines[2] == (
            "- high demo-http-proxy >= 2.0.0, < 2.8.4 → 2.8.4 · GHSA-demo-1010-0003 · "
            "Request smuggling with two content-length headers"
        )
        assert len(lines) == 8
        assert say(house, "advisories in acme/quiet").text == ("acme/quiet has no open advisories.")
        assert say(house, "advisories in acme/big").text.startswith(
            "acme/big has 250 open advisories: 62 critical, 62 high, 63 medium, 63 low.\n"
        )
