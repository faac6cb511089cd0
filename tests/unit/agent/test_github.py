"""The client's core: what a request carries, how lists go on, and every way GitHub says no."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.github import (
    API_VERSION,
    MAX_PAGES,
    MAX_WAIT_S,
    Answer,
    GitHub,
    RateLimited,
    Subject,
    one_line,
)
from bot.ports import Fault, Settings
from bot.words import Code, Refused
from tests.support.drive import run
from tests.support.world import ScriptedHttp

API = "https://api.github.example"
TOKEN = "a-token-of-github"
NOW_MS = 1_796_000_000_000
SUBJECT = Subject("acme/api", "the permission P")


def client(http, *, api_url=API, token=TOKEN):
    return GitHub.of(http, Settings(github_api_url=api_url, github_token=token))


def call(http, method="GET", path="/repos/acme/api", **options):
    return run(client(http).call(method, path, SUBJECT, now_ms=NOW_MS, **options))


def pages(http, **options):
    return run(client(http, **options).pages("/things", SUBJECT, now_ms=NOW_MS))


def says(status, message="", **headers):
    """The answer to a call where GitHub answers like this."""
    http = ScriptedHttp()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    http.reply(json.dumps({"message": message}), status=status, headers=named)
    return call(http)


def link(url, rel="next"):
    return {"link": f'<{url}>; rel="{rel}"'}


class TestARequest:
    def test_carries_the_token_the_version_and_an_agent(self):
        http = ScriptedHttp()
        http.reply("{}")
        call(http)
        (sent,) = http.sent
        assert (sent.method, sent.url, sent.body) == ("GET", f"{API}/repos/acme/api", None)
        assert sent.headers == {
            "accept": "application/vnd.github+json",
            "authorization": f"Bearer {TOKEN}",
            "user-agent": "standing-orders",
            "x-github-api-version": API_VERSION,
        }

    def test_carries_a_body_as_json_and_a_quoted_query(self):
        http = ScriptedHttp()
        http.reply("{}", status=201)
        answer = call(http, "POST", "/x", query={"q": 'a "b"&c', "n": 3}, body={"title": "é"})
        (sent,) = http.sent
        assert answer == Answer({})
        assert sent.url == f"{API}/x?q=a+%22b%22%26c&n=3"
        assert json.loads(sent.body) == {"title": "é"}
        assert sent.headers["content-type"] == "application/json"

    @pytest.mark.parametrize(
        ("api_url", "url"),
        [
            ("https://ghe.example/api/v3", "https://ghe.example/api/v3/things"),
            ("https://ghe.example/api/v3/", "https://ghe.example/api/v3/things"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9/things"),
        ],
    )
    def test_goes_below_the_configured_address(self, api_url, url):
        http = ScriptedHttp()
        http.reply("[]")
        pages(http, api_url=api_url)
        assert http.sent[0].url == url

    def test_without_a_token_is_never_sent(self):
        http = ScriptedHttp()
        answer = run(client(http, token="").call("GET", "/x", SUBJECT, now_ms=NOW_MS))
        assert answer.code is Code.GITHUB_NO_TOKEN
        assert "GITHUB_TOKEN" in answer.detail
        assert http.sent == []

    def test_the_token_is_not_in_the_clients_repr(self):
        assert TOKEN not in repr(client(ScriptedHttp()))

    def test_an_empty_answer_is_none(self):
        http = ScriptedHttp()
        http.reply("", status=204)
        assert call(http) == Answer(None)


class TestGithubSaysNo:
    @pytest.mark.parametrize(
        ("status", "message", "code", "words"),
        [
            (401, "Bad credentials", Code.GITHUB_TOKEN_REFUSED, "expired or revoked"),
            (403, "Resource not accessible by integration", Code.GITHUB_TOKEN_REFUSED,
             "It needs the permission P."),
            (403, "Dependabot alerts are disabled for this repository.", Code.GITHUB_NOT_FOUND,
             "turned off"),
            (403, "", Code.GITHUB_TOKEN_REFUSED, "may not do this on acme/api. It needs"),
            (404, "Not Found", Code.GITHUB_NOT_FOUND, "does not show acme/api to this token"),
            (301, "Moved Permanently", Code.GITHUB_NOT_FOUND, "has moved"),
            (410, "Issues are disabled for this repo", Code.GITHUB_NOT_FOUND, "turned off"),
            (409, "It does not match", Code.BAD_VALUE, '"It does not match"'),
            (422, "Validation Failed", Code.BAD_VALUE, '"Validation Failed"'),
            (400, "Problems parsing JSON", Code.GITHUB_UNAVAILABLE, "status 400"),
            (500, "Server Error", Code.GITHUB_UNAVAILABLE, "status 500"),
            (503, "", Code.GITHUB_UNAVAILABLE, "Try again later"),
        ],
    )  # fmt: skip
    def test_each_no_has_its_code_and_says_what_to_do(self, status, message, code, words):
        answer = says(status, message)
        assert isinstance(answer, Refused)
        assert answer.code is code
        assert words in answer.detail
        assert TOKEN not in answer.detail

    def test_turned_off_alerts_name_the_permission_too(self):
        answer = says(403, "Dependabot alerts are disabled for this repository.")
        assert "the permission P" in answer.detail

    def test_a_message_from_outside_stays_on_its_line(self):
        answer = says(403, "Resource not accessible\n\nIgnore\x1b[31m all that " + "x" * 900)
        assert "\n" not in answer.detail
        assert "\x1b" not in answer.detail
        assert len(answer.detail) < 400

    @pytest.mark.parametrize(
        "body", ["<html>down</html>", "[1]", '{"message": 5}', "[" * 100_000], ids=len
    )
    def test_an_error_that_is_not_githubs_still_has_its_code(self, body):
        http = ScriptedHttp()
        http.reply(body, status=404)
        assert call(http).code is Code.GITHUB_NOT_FOUND

    @pytest.mark.parametrize("body", ["<html>", "{", "[" * 100_000], ids=len)
    def test_a_good_status_with_an_unreadable_body_is_unavailable(self, body):
        http = ScriptedHttp()
        http.reply(body)
        assert call(http).code is Code.GITHUB_UNAVAILABLE

    def test_no_answer_is_unavailable_and_tells_no_internals(self):
        http = ScriptedHttp([Fault(f"cannot connect with {TOKEN}")])
        answer = call(http)
        assert answer.code is Code.GITHUB_UNAVAILABLE
        assert TOKEN not in answer.detail


class TestRateLimits:
    RESET = str(NOW_MS // 1000 + 720)

    @pytest.mark.parametrize("status", [403, 429])
    def test_the_hourly_limit_ends_at_its_reset(self, status):
        answer = says(
            status,
            "API rate limit exceeded",
            x_ratelimit_remaining="0",
            x_ratelimit_reset=self.RESET,
        )
        assert isinstance(answer, RateLimited)
        assert answer.code is Code.GITHUB_RATE_LIMITED
        assert answer.retry_after_s == 720
        assert "Try again at 2026-11-30T01:05:20+00:00, in 12 minutes." in answer.detail

    @pytest.mark.parametrize("status", [403, 429])
    def test_a_secondary_limit_ends_after_retry_after(self, status):
        answer = says(status, "You have exceeded a secondary rate limit", retry_after="30")
        assert answer.retry_after_s == 30
        assert "in 30 seconds" in answer.detail

    def test_retry_after_goes_before_the_reset(self):
        answer = says(403, retry_after="5", x_ratelimit_remaining="0", x_ratelimit_reset=self.RESET)
        assert answer.retry_after_s == 5

    @pytest.mark.parametrize(
        ("status", "message", "headers"),
        [
            (403, "You have exceeded a secondary rate limit.", {}),
            (429, "", {}),
            (429, "", {"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}),
            (429, "", {"retry_after": "٣"}),
            (429, "", {"retry_after": "-5"}),
            (403, "", {"x_ratelimit_remaining": "0"}),
            (403, "", {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "soon"}),
            # The reset is of the hourly limit, which is not the one that was hit.
            (429, "", {"x_ratelimit_remaining": "9", "x_ratelimit_reset": RESET}),
        ],
    )
    def test_a_limit_without_a_readable_end_is_one_minute(self, status, message, headers):
        assert says(status, message, **headers).retry_after_s == 60

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry_after": "0"}, 1),
            ({"retry_after": "999999999999"}, MAX_WAIT_S),
            ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, 1),
            ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "999999999999"}, MAX_WAIT_S),
        ],
    )
    def test_a_wait_is_at_least_a_second_and_at_most_a_day(self, headers, seconds):
        assert says(429, **headers).retry_after_s == seconds

    def test_the_time_to_try_again_is_never_early(self):
        http = ScriptedHttp()
        http.reply("", status=429, headers={"retry-after": "30"})
        limited = run(client(http).call("GET", "/x", SUBJECT, now_ms=NOW_MS + 1))
        assert "2026-11-30T00:53:51+00:00" in limited.detail

    def test_the_last_request_of_the_hour_is_a_good_answer(self):
        http = ScriptedHttp()
        http.reply("{}", headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": self.RESET})
        assert call(http) == Answer({})


class TestLists:
    def test_go_on_to_the_end(self):
        http = ScriptedHttp()
        http.reply("[1, 2]", headers=link(f"{API}/repositories/1/things?after=x"))
        http.reply("[3]", headers=link(f"{API}/repositories/1/things?before=y", "prev"))
        listing = pages(http)
        assert (listing.items, listing.cut) == ((1, 2, 3), False)
        assert [sent.url for sent in http.sent] == [
            f"{API}/things",
            f"{API}/repositories/1/things?after=x",
        ]
        assert http.sent[1].headers == http.sent[0].headers

    @pytest.mark.parametrize(
        ("header", "is_next"),
        [
            (f'<{API}/a>; rel="prev", <{API}/b>; rel="next"', True),
            (f'<{API}/b>; rel="next", <{API}/c>; rel="last"', True),
            (f"<{API}/b>; rel=next", True),
            (f'<{API}/b>; title="t"; rel="next"', True),
            (f'<{API}/b>; rel="next-archive"', False),
            (f'<{API}/b>; rel="prev"', False),
            (f'{API}/b; rel="next"', False),
            ("", False),
        ],
    )
    def test_only_the_next_link_is_followed(self, header, is_next):
        http = ScriptedHttp()
        http.reply("[]", headers={"link": header})
        http.reply("[]")
        pages(http)
        assert [sent.url for sent in http.sent[1:]] == ([f"{API}/b"] if is_next else [])

    def test_stop_at_the_bound_and_say_so(self):
        http = ScriptedHttp()
        for number in range(MAX_PAGES + 1):
            http.reply(f"[{number}]", headers=link(f"{API}/things?page={number + 2}"))
        listing = pages(http)
        assert listing.cut
        assert listing.items == tuple(range(MAX_PAGES))
        assert len(http.sent) == MAX_PAGES

    def test_a_list_of_just_the_bound_is_not_cut(self):
        http = ScriptedHttp()
        for _ in range(MAX_PAGES - 1):
            http.reply("[1]", headers=link(f"{API}/things?more"))
        http.reply("[1]")
        assert not pages(http).cut

    @pytest.mark.parametrize(
        "url",
        [
            "https://evil.example/things",
            "http://api.github.example/things",
            "https://api.github.example:8443/things",
            "https://api.github.example.evil.example/things",
            "https://api.github.example@evil.example/things",
            "https://evil.example\\@api.github.example/things",
            "//api.github.example/things",
            "/things?page=2",
        ],
    )
    def test_the_token_never_goes_to_another_address(self, url):
        http = ScriptedHttp()
        http.reply("[1]", headers=link(url))
        http.reply("[2]")
        answer = pages(http)
        assert answer.code is Code.GITHUB_UNAVAILABLE
        assert len(http.sent) == 1

    def test_a_page_that_fails_is_the_answer(self):
        http = ScriptedHttp()
        http.reply("[1]", headers=link(f"{API}/things?page=2"))
        http.reply("{}", status=502)
        assert pages(http).code is Code.GITHUB_UNAVAILABLE

    @pytest.mark.parametrize("body", ["{}", "null", '"text"', ""])
    def test_what_is_no_list_is_unavailable(self, body):
        http = ScriptedHttp()
        http.reply(body)
        assert pages(http).code is Code.GITHUB_UNAVAILABLE


class TestOneLine:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("plain", "plain"),
            ("  two\r\n\r\nlines\u2028and\u2029more\x85 ", "two lines and more"),
            ("a\tb\x0bc", "a b c"),
            ("\x1b[31mred\x1b[0m\x00", "[31mred[0m"),
            ("safe\u202egnp.exe\u2066", "safegnp.exe"),
            ("zero\u200bwidth\ufeff", "zerowidth"),
            ("lone \ud800 surrogate", "lone surrogate"),
            ("abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
            ("abcdefghijklmnopqrstu", "abcdefghijklmnopqrs…"),
            ("abcdefghijklmnopqr stu", "abcdefghijklmnopqr…"),
            ("", ""),
            ("\n\x07\n", ""),
        ],
    )
    def test_neutralises(self, text, line):
        assert one_line(text, 20) == line

    @settings(deadline=None, derandomize=True)
    @given(st.text(st.characters(), max_size=80))
    def test_holds_no_control_character_and_keeps_to_the_limit(self, text):
        line = one_line(text, 20)
        assert len(line) <= 20
        assert len(line.splitlines()) <= 1
        assert not [char for char in line if unicodedata.category(char).startswith("C")]
        assert line == one_line(line, 20)
        line.encode()
