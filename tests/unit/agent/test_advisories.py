"""A repository's advisories: from GitHub's alerts to clean values, scripted and over HTTP."""

import json

import pytest

from bot.agent.advisories import MAX_SUMMARY, PERMISSION, Advisory, Severity, advisories
from bot.agent.github import MAX_PAGES, GitHub
from bot.words import Code
from tests.support.demo_github import DemoGithub
from tests.support.drive import run
from tests.support.world import ScriptedHttp

API = "https://api.github.example"
NOW_MS = 1_796_000_000_000


def alert(number=1, **changes):
    """One alert as GitHub's documentation shows it; ``changes`` by ``a__b__c`` path."""
    package = {"ecosystem": "npm", "name": "demo-json-merge"}
    made = {
        "number": number,
        "state": "open",
        "dependency": {
            "package": package,
            "manifest_path": "package-lock.json",
            "scope": "runtime",
        },
        "security_advisory": {
            "ghsa_id": "GHSA-demo-1010-0002",
            "cve_id": "CVE-2099-1010002",
            "summary": "Prototype pollution",
            "severity": "low",
        },
        "security_vulnerability": {
            "package": package,
            "severity": "high",
            "vulnerable_version_range": "<= 4.17.20",
            "first_patched_version": {"identifier": "4.17.21"},
        },
        "html_url": "https://github.example/acme/api/security/dependabot/1",
    }
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = made
        for folder in folders:
            place = place[folder]
        place[name] = value
    return made


def read(*alerts, text=None):
    http = ScriptedHttp()
    http.reply(json.dumps(alerts) if text is None else text)
    return run(advisories(GitHub(http, API, "t"), "acme/api", now_ms=NOW_MS))


def one(**changes):
    (advisory,) = read(alert(**changes)).items
    return advisory


class TestAnAlert:
    def test_becomes_an_advisory(self):
        assert one() == Advisory(
            number=1,
            package="demo-json-merge",
            ecosystem="npm",
            manifest="package-lock.json",
            severity=Severity.HIGH,
            ghsa="GHSA-demo-1010-0002",
            cve="CVE-2099-1010002",
            summary="Prototype pollution",
            vulnerable_range="<= 4.17.20",
            fixed_in="4.17.21",
            url="https://github.example/acme/api/security/dependabot/1",
        )

    def test_may_have_no_cve_and_no_fix(self):
        advisory = one(
            security_advisory__cve_id=None, security_vulnerability__first_patched_version=None
        )
        assert (advisory.cve, advisory.fixed_in) == (None, None)

    def test_of_an_unheard_of_severity_is_unknown(self):
        assert one(security_vulnerability__severity="apocalyptic").severity is Severity.UNKNOWN

    def test_is_one_clean_line_in_every_text(self):
        hostile = "good\r\n- critical fake\x1b[31m\u202e " + "long " * 100
        advisory = one(
            dependency__package__name=hostile,
            dependency__package__ecosystem=hostile,
            dependency__manifest_path=hostile,
            security_advisory__ghsa_id=hostile,
            security_advisory__cve_id=hostile,
            security_advisory__summary=hostile,
            security_vulnerability__vulnerable_version_range=hostile,
            security_vulnerability__first_patched_version={"identifier": hostile},
        )
        texts = [
            advisory.package,
            advisory.ecosystem,
            advisory.manifest,
            advisory.ghsa,
            advisory.cve,
            advisory.summary,
            advisory.vulnerable_range,
            advisory.fixed_in,
        ]
        assert all(text.startswith("good - critical fake") for text in texts)
        assert all(text.isprintable() and len(text) <= 200 for text in texts)
        assert len(advisory.summary) <= MAX_SUMMARY
        assert advisory.summary.endswith("…")

    @pytest.mark.parametrize(
        "url", ["javascript:alert(1)", "https://x.example/a b", "https://x/<!channel>", "", "//x"]
    )
    def test_keeps_no_url_that_is_not_plain_http(self, url):
        assert one(html_url=url).url == ""


class TestAList:
    def test_asks_for_the_open_ones_by_hundreds(self):
        http = ScriptedHttp()
        http.reply("[]")
        found = run(advisories(GitHub(http, API, "t"), "acme/api", now_ms=NOW_MS))
        assert http.sent[0].url == f"{API}/repos/acme/api/dependabot/alerts?state=open&per_page=100"
        assert (found.repo, found.items, found.cut) == ("acme/api", (), False)

    @pytest.mark.parametrize(
        "repo", ["acme", "acme/*", "acme/..", "acme/api/x", "../user", "acme/a?b", "acme/a%2f", ""]
    )
    def test_of_no_repository_is_refused_and_not_asked_for(self, repo):
        http = ScriptedHttp()
        refusal = run(advisories(GitHub(http, API, "t"), repo, now_ms=NOW_MS))
        assert refusal.code is Code.BAD_VALUE
        assert "OWNER/REPO" in refusal.detail
        assert http.sent == []

    @pytest.mark.parametrize(
        "text",
        [
            "[null]",
            '[{"number": 1}]',
            json.dumps([alert(number="1")]),
            json.dumps([alert(security_advisory__ghsa_id=None)]),
            json.dumps([alert(), 7]),
        ],
    )
    def test_with_an_alert_of_another_shape_is_unavailable(self, text):
        assert read(text=text).code is Code.GITHUB_UNAVAILABLE

    def test_says_when_it_is_cut(self):
        http = ScriptedHttp()
        for number in range(MAX_PAGES):
            next_page = {"link": f'<{API}/repositories/1/x?after={number}>; rel="next"'}
            http.reply(json.dumps([alert(number)]), headers=next_page)
        found = run(advisories(GitHub(http, API, "t"), "acme/api", now_ms=NOW_MS))
        assert found.cut
        assert [each.number for each in found.items] == list(range(MAX_PAGES))


@pytest.fixture(scope="module")
def running():
    with DemoGithub() as demo:
        yield demo


@pytest.fixture
def demo(running):
    running.reset()
    return running


def over_http(demo, repo):
    return run(advisories(demo.client(), repo, now_ms=NOW_MS))


class TestOverHttp:
    def test_the_open_ones_come(self, demo):
        found = over_http(demo, "acme/api")
        assert [each.severity for each in found.items].count(Severity.CRITICAL) == 1
        assert {each.number for each in found.items} == {1, 2, 3, 4, 5, 6, 7}
        assert all(each.ghsa.startswith("GHSA-demo-") for each in found.items)

    def test_a_repository_may_have_none(self, demo):
        assert over_http(demo, "acme/quiet").items == ()

    def test_many_come_page_by_page_each_once(self, demo):
        found = over_http(demo, "acme/big")
        assert [each.number for each in found.items] == list(range(1, 251))
        assert not found.cut
        assert len(demo.requests()) == 3

    def test_an_unknown_repository_is_not_found(self, demo):
        refusal = over_http(demo, "acme/nothing")
        assert refusal.code is Code.GITHUB_NOT_FOUND
        assert "acme/nothing" in refusal.detail
        assert PERMISSION in refusal.detail

    def test_a_wrong_token_is_refused(self, demo):
        github = GitHub(demo.client().http, demo.url, "wrong")
        refusal = run(advisories(github, "acme/api", now_ms=NOW_MS))
        assert refusal.code is Code.GITHUB_TOKEN_REFUSED

    def test_a_rate_limit_on_a_later_page_says_when_to_try_again(self, demo):
        demo.fail(
            "/repositories/104",
            status=403,
            headers={"retry-after": "17"},
            body={"message": "You have exceeded a secondary rate limit."},
        )
        assert over_http(demo, "acme/big").retry_after_s == 17
        assert len(over_http(demo, "acme/big").items) == 250

    @pytest.mark.parametrize("failure", [{"status": 500}, {"drop": True}])
    def test_a_server_that_breaks_is_unavailable(self, demo, failure):
        demo.fail("/repos/acme/api", **failure)
        assert over_http(demo, "acme/api").code is Code.GITHUB_UNAVAILABLE
