"""``create_issue``: once for one call of a run, whatever is lost, repeated or turned off."""

import pytest

from bot.agent.issues import PAGE
from bot.agent.marker import marker
from bot.agent.opening import MAX_A_RUN, MAX_LOOKED
from bot.words import Code
from tests.unit.agent.turns import ISSUES, Turn, somebody, writes

LISTED = "/repos/acme/api/issues"


@pytest.fixture
def turn(github):
    return Turn("research", *ISSUES, demo=github)


def create(turn, title="Update demo-jwt", body="It is old.", **options):
    return turn.use("create_issue", title=title, body=body, **options)


def opened(github):
    """The issues that were opened in this test, oldest first."""
    found = somebody(github, "GET", "/issues?state=all&per_page=100")
    return sorted((each for each in found if each["number"] > 2), key=lambda each: each["number"])


def posts(github):
    return [path for method, path in writes(github) if (method, path) == ("POST", LISTED)]


class TestAnIssue:
    def test_is_opened_with_its_run_in_it(self, turn, github):
        result = create(turn, key="run1-tool-2-1")
        assert result.text == f"Opened acme/api#3 {github.url}/acme/api/issues/3"
        assert not result.untrusted
        (issue,) = opened(github)
        assert issue["title"] == "Update demo-jwt"
        assert issue["body"].startswith(
            "It is old.\n\n---\n_Written by Standing Orders: run `run1`"
        )
        assert issue["body"].endswith(marker("run1", "run1-tool-2-1"))

    def test_has_a_title_of_one_line_and_mentions_nobody(self, turn, github):
        create(turn, title="Update\n\n@all\u202e now", body="cc @acme/everybody")
        (issue,) = opened(github)
        assert issue["title"] == "Update @all now"
        assert issue["body"].startswith("cc `@acme/everybody`\n")

    @pytest.mark.parametrize("title", ["", "x" * 201, None, 7])
    def test_has_a_title(self, turn, github, title):
        assert create(turn, title=title).text.startswith("bad_value: title: ")
        assert writes(github) == []

    def test_has_a_title_that_shows(self, turn, github):
        assert create(turn, title="\u200b\u202e").text == "bad_value: An issue needs a title."
        assert writes(github) == []

    def test_is_bounded(self, turn, github):
        assert create(turn, body="x" * 20_001).text.startswith("bad_value: body: ")
        assert writes(github) == []


class TestOnce:
    def test_the_same_call_again_finds_it(self, turn, github):
        create(turn, key="k")
        again = create(turn, key="k", title="Another title by now", body="Another body")
        assert again.text.startswith("This run had opened acme/api#3 ")
        assert len(posts(github)) == 1

    def test_a_call_whose_answer_was_lost_finds_it_at_once(self, turn, github):
        github.fail(LISTED, method="POST", drop=True, after=True)
        result = create(turn)
        assert result.text.startswith("Opened acme/api#3 ")
        assert len(opened(github)) == 1

    def test_a_call_that_never_arrived_says_that_it_is_not_known(self, turn, github):
        github.fail(LISTED, method="POST", drop=True)
        result = create(turn)
        assert result.text.startswith(f"{Code.GITHUB_UNAVAILABLE}: ")
        assert "is not opened twice" in result.text
        assert opened(github) == []
        assert create(turn).text.startswith("Opened acme/api#3 ")

    def test_a_lost_answer_and_a_lost_look_are_made_good_by_the_next_call(self, turn, github):
        github.fail(LISTED, method="POST", drop=True, after=True)
        # The look before it is let through, the one after it is not.
        github.fail(LISTED, method="GET", times=1)
        github.fail(LISTED, method="GET", status=502)
        assert create(turn, key="k1").text.startswith(f"{Code.GITHUB_UNAVAILABLE}: ")
        assert create(turn, key="k2").text.startswith("This run had opened acme/api#3 ")
        assert len(opened(github)) == 1

    @pytest.mark.parametrize("title", ["Update demo-jwt", " update   DEMO-JWT "])
    def test_the_models_own_repetition_of_a_title_finds_it(self, turn, github, title):
        create(turn)
        assert create(turn, title=title).text.startswith("This run had opened acme/api#3 ")
        assert len(posts(github)) == 1

    def test_one_that_somebody_closed_meanwhile_stays_closed(self, turn, github):
        create(turn, key="k")
        somebody(github, "PATCH", "/issues/3", state="closed")
        assert create(turn, key="k").text.startswith("This run had opened acme/api#3 ")
        assert create(turn).text.startswith("This run had opened acme/api#3 ")
        assert [issue["state"] for issue in opened(github)] == ["closed"]

    def test_another_title_is_another_issue(self, turn, github):
        create(turn, title="One")
        create(turn, title="Two")
        assert [issue["title"] for issue in opened(github)] == ["One", "Two"]

    def test_another_run_opens_its_own(self, turn, github):
        create(turn, key="k")
        other = Turn("research", *ISSUES, demo=github, run_id="run2")
        assert create(other, key="k").text.startswith("Opened acme/api#4 ")

    def test_a_title_that_somebody_else_used_is_not_this_runs(self, turn, github):
        somebody(github, "POST", "/issues", title="Update demo-jwt")
        assert create(turn).text.startswith("Opened acme/api#4 ")

    def test_a_pull_request_is_no_issue_of_the_run(self, github):
        turn = Turn("research", *ISSUES)
        pull = {"number": 9, "title": "T", "state": "open", "pull_request": {}}
        turn.reply([{**pull, "body": marker("run1", "key-1")}])
        turn.reply({"number": 10, "title": "T", "state": "open"}, status=201)
        assert create(turn, title="T").text == "Opened acme/api#10"


class TestTheLook:
    def test_that_fails_opens_nothing(self, turn, github):
        github.fail(LISTED, method="GET", status=500)
        assert create(turn).text.startswith(f"{Code.GITHUB_UNAVAILABLE}: ")
        assert writes(github) == []

    def test_goes_back_as_far_as_the_run_does(self):
        turn = Turn("research", *ISSUES)
        before = "2026-03-02T07:59:59Z"
        after = "2026-03-02T08:00:01Z"
        for times in ((after, after), (after, before)):
            page = [
                {"number": n, "title": "T", "state": "open", "created_at": at}
                for n, at in enumerate(times)
            ]
            turn.reply(page, link='<https://api.github.example/x>; rel="next"')
        turn.reply({"number": 10, "title": "T", "state": "open"}, status=201)
        assert create(turn).text == "Opened acme/api#10"
        assert [method for method, _ in turn.asked] == ["GET", "GET", "POST"]
        assert turn.asked[1][1] == (
            f"{LISTED}?state=all&sort=created&direction=desc&per_page={PAGE}&page=2"
        )

    def test_always_reads_the_newest_page_so_that_clocks_may_disagree(self):
        turn = Turn("research", *ISSUES)
        old = {"number": 3, "title": "T", "state": "open", "created_at": "2001-01-01T00:00:00Z"}
        turn.reply([{**old, "body": marker("run1", "k")}])
        assert create(turn, key="k").text == "This run had opened acme/api#3"

    def test_is_bounded(self):
        turn = Turn("research", *ISSUES)
        page = [{"number": 3, "title": "T", "state": "open", "created_at": "2099-01-01T00:00:00Z"}]
        for _ in range(MAX_LOOKED):
            turn.reply(page, link='<https://api.github.example/x>; rel="next"')
        turn.reply({"number": 10, "title": "T", "state": "open"}, status=201)
        assert create(turn).ok
        assert len(turn.asked) == MAX_LOOKED + 1


class TestRefused:
    def test_after_as_many_as_a_run_may_open(self):
        turn = Turn("research", *ISSUES)
        issue = {"title": "T", "state": "open", "created_at": "2001-01-01T00:00:00Z"}
        turn.reply(
            [
                {**issue, "number": n, "title": f"T{n}", "body": marker("run1", f"k{n}")}
                for n in range(MAX_A_RUN)
            ]
        )
        assert create(turn).text.startswith(f"{Code.TOO_MANY}: ")
        assert [method for method, _ in turn.asked] == ["GET"]

    def test_in_githubs_words_where_issues_are_turned_off(self, turn, github):
        message = "Issues has been disabled in this repository."
        github.fail(LISTED, method="POST", status=410, body={"message": message})
        result = create(turn)
        assert result.text.startswith(f"{Code.GITHUB_NOT_FOUND}: ")
        assert len(posts(github)) == 1

    @pytest.mark.parametrize(
        "grants",
        [
            ("agent:run:research",),
            ("agent:run:research", "github:issue-write on acme/web"),
            ("agent:run:research", "agent:ship on acme/api"),
        ],
    )
    def test_without_the_grant_on_the_repository(self, github, grants):
        turn = Turn("research", *grants, demo=github)
        assert create(turn).text == (
            "forbidden: This turn does not hold github:issue-write on acme/api."
        )
        assert github.requests() == []

    def test_elsewhere_without_the_grant_there(self, turn, github):
        assert create(turn, repo="acme/web").text == (
            "forbidden: This turn does not hold github:issue-write on acme/web."
        )
        assert github.requests() == []

    def test_elsewhere_with_it_too(self, github):
        turn = Turn("research", "all", demo=github)
        assert create(turn, repo="acme/web").text == (
            "forbidden: In this turn create_issue writes in acme/api alone."
        )
        assert github.requests() == []
