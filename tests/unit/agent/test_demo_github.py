"""The demo GitHub keeps GitHub's manners where the bot relies on them."""

import base64

import pytest

from bot.agent.github import Answer, GitHub, Subject
from bot.words import Code
from tests.support.demo_github import DemoGithub, UrllibHttp
from tests.support.drive import run

NOW_MS = 1_796_000_000_000
API = "/repos/acme/api"


@pytest.fixture(scope="module")
def running():
    with DemoGithub() as demo:
        yield demo


@pytest.fixture
def demo(running):
    running.reset()
    return running


def ask(demo, method, path, body=None, **query):
    subject = Subject("acme/api", "nothing")
    work = demo.client().call(method, path, subject, now_ms=NOW_MS, query=query, body=body)
    return run(work)


def got(demo, path, **query):
    answer = ask(demo, "GET", path, **query)
    assert isinstance(answer, Answer), answer
    return answer.body


def make(demo, path, body, method="POST"):
    answer = ask(demo, method, path, body)
    assert isinstance(answer, Answer), answer
    return answer.body


def tip(demo, branch="main"):
    return got(demo, f"{API}/git/ref/heads/{branch}")["object"]["sha"]


class TestFiles:
    def test_a_folder_lists_files_and_folders(self, demo):
        entries = {each["path"]: each["type"] for each in got(demo, f"{API}/contents")}
        assert entries == {
            "README.md": "file",
            "docs": "dir",
            "package.json": "file",
            "src": "dir",
        }
        inside = got(demo, f"{API}/contents/src")
        assert [each["path"] for each in inside] == ["src/orders.mjs", "src/server.mjs"]

    def test_a_file_is_base64_with_gits_own_name(self, demo):
        file = got(demo, f"{API}/contents/README.md")
        text = base64.b64decode(file["content"])
        assert text == b"# acme api\n\nTakes orders over HTTP. This repository is a demo.\n"
        assert (file["encoding"], file["size"]) == ("base64", len(text))
        # git hash-object of that text
        assert file["sha"] == "7de256197f7be60a68408dfdebb5722102f889b7"

    @pytest.mark.parametrize("path", ["/contents/none.md", "/contents/src/none", "/branches/none"])
    def test_what_is_not_there_is_404(self, demo, path):
        assert ask(demo, "GET", API + path).code is Code.GITHUB_NOT_FOUND

    def test_code_is_searched_within_a_repository(self, demo):
        found = got(demo, "/search/code", q='"orders()" repo:acme/api extension:mjs')
        assert [each["path"] for each in found["items"]] == ["src/orders.mjs", "src/server.mjs"]
        assert got(demo, "/search/code", q="orders repo:acme/web")["total_count"] == 0


class TestIssues:
    def test_one_is_made_and_found_by_its_marker(self, demo):
        marker = "standing-orders:run-7"
        made = make(demo, f"{API}/issues", {"title": "T", "body": f"text\n<!-- {marker} -->"})
        assert got(demo, f"{API}/issues/{made['number']}")["body"] == f"text\n<!-- {marker} -->"
        listed = got(demo, f"{API}/issues", state="all", per_page=100)
        assert [each["number"] for each in listed if marker in each["body"]] == [made["number"]]
        found = got(demo, "/search/issues", q=f'"{marker}" in:body repo:acme/api is:issue')
        assert [each["number"] for each in found["items"]] == [made["number"]]
        elsewhere = got(demo, "/search/issues", q=f'"{marker}" repo:acme/web')
        assert elsewhere["items"] == []

    def test_one_whose_answer_was_lost_is_there(self, demo):
        demo.fail(f"{API}/issues", method="POST", drop=True, after=True)
        lost = ask(demo, "POST", f"{API}/issues", {"title": "T", "body": "marker-1"})
        assert lost.code is Code.GITHUB_UNAVAILABLE
        assert got(demo, "/search/issues", q="marker-1")["total_count"] == 1

    def test_closed_ones_come_only_when_asked_for(self, demo):
        numbers = {
            state: [each["number"] for each in got(demo, f"{API}/issues", state=state)]
            for state in ("open", "closed", "all")
        }
        assert numbers == {"open": [1], "closed": [2], "all": [2, 1]}
        assert [each["number"] for each in got(demo, f"{API}/issues")] == [1]

    def test_they_are_closed_and_commented_on(self, demo):
        make(demo, f"{API}/issues/1", {"state": "closed"}, "PATCH")
        assert got(demo, f"{API}/issues/1")["state"] == "closed"
        make(demo, f"{API}/issues/1/comments", {"body": "Why?"})
        (comment,) = got(demo, f"{API}/issues/1/comments")
        assert (comment["body"], comment["user"]["login"]) == ("Why?", "demo-standing-orders-bot")
        assert got(demo, f"{API}/issues/1")["comments"] == 1
        assert got(demo, f"{API}/issues/2/comments") == []

    def test_one_without_a_title_is_refused(self, demo):
        assert ask(demo, "POST", f"{API}/issues", {"body": "x"}).code is Code.BAD_VALUE

    def test_lists_go_page_by_page(self, demo):
        for number in range(3):
            make(demo, f"{API}/issues", {"title": f"T{number}"})
        work = demo.client().pages(
            f"{API}/issues", Subject("x", "y"), now_ms=NOW_MS, query={"per_page": 2}
        )
        assert [each["number"] for each in run(work).items] == [5, 4, 3, 1]


class TestAChange:
    def test_goes_from_a_branch_to_a_pull_request(self, demo):
        branch = "plan/json-merge"
        make(demo, f"{API}/git/refs", {"ref": f"refs/heads/{branch}", "sha": tip(demo)})
        file = got(demo, f"{API}/contents/README.md", ref=branch)
        change = {
            "message": "Say more",
            "content": base64.b64encode(b"# acme api\n\nMore.\n").decode(),
            "branch": branch,
        }
        assert ask(demo, "PUT", f"{API}/contents/README.md", change).code is Code.BAD_VALUE
        stale = {**change, "sha": "0" * 40}
        assert ask(demo, "PUT", f"{API}/contents/README.md", stale).code is Code.BAD_VALUE
        written = make(demo, f"{API}/contents/README.md", {**change, "sha": file["sha"]}, "PUT")
        assert written["commit"]["sha"] == tip(demo, branch) != tip(demo)
        on_main = got(demo, f"{API}/contents/README.md")
        assert on_main["sha"] == file["sha"]

        opening = {"title": "Say more", "head": branch, "base": "main", "body": "plan"}
        pull = make(demo, f"{API}/pulls", opening)
        assert (pull["head"]["ref"], pull["base"]["ref"]) == (branch, "main")
        again = ask(demo, "POST", f"{API}/pulls", opening)
        assert again.code is Code.BAD_VALUE
        found = got(demo, f"{API}/pulls", head=f"acme:{branch}")
        assert [each["number"] for each in found] == [pull["number"]]
        assert got(demo, f"{API}/pulls/{pull['number']}")["state"] == "open"

    def test_shows_what_it_changes_and_may_take_a_file_away(self, demo):
        make(demo, f"{API}/git/refs", {"ref": "refs/heads/b", "sha": tip(demo)})
        sha = got(demo, f"{API}/contents/README.md")["sha"]
        gone = {"message": "No readme", "branch": "b"}
        path = f"{API}/contents/README.md"
        assert ask(demo, "DELETE", path, gone).code is Code.BAD_VALUE
        assert ask(demo, "DELETE", path, {**gone, "sha": "0" * 40}).code is Code.BAD_VALUE
        make(demo, path, {**gone, "sha": sha}, "DELETE")
        assert ask(demo, "GET", path, ref="b").code is Code.GITHUB_NOT_FOUND
        assert got(demo, path)["sha"] == sha
        pull = make(demo, f"{API}/pulls", {"title": "T", "head": "b", "base": "main"})
        (change,) = got(demo, f"{API}/pulls/{pull['number']}/files")
        assert (change["filename"], change["status"]) == ("README.md", "removed")
        assert (change["additions"], change["deletions"]) == (0, 3)
        assert change["patch"].startswith("@@ -1,3 +1,0 @@\n-# acme api\n-\n-Takes orders")

    def test_a_branch_is_made_once_and_from_a_known_tip(self, demo):
        new = {"ref": "refs/heads/b", "sha": tip(demo)}
        make(demo, f"{API}/git/refs", new)
        assert ask(demo, "POST", f"{API}/git/refs", new).code is Code.BAD_VALUE
        unknown = {"ref": "refs/heads/c", "sha": "0" * 40}
        assert ask(demo, "POST", f"{API}/git/refs", unknown).code is Code.BAD_VALUE
        assert [each["name"] for each in got(demo, f"{API}/branches")] == ["b", "main"]

    def test_a_pull_request_needs_a_commit(self, demo):
        make(demo, f"{API}/git/refs", {"ref": "refs/heads/b", "sha": tip(demo)})
        opening = {"title": "T", "head": "b", "base": "main"}
        assert ask(demo, "POST", f"{API}/pulls", opening).code is Code.BAD_VALUE


def test_an_advisory_is_planted(demo):
    demo.control("POST", "advisory", {"repo": "acme/quiet", "summary": "Bad", "package": "p"})
    (alert,) = got(demo, "/repos/acme/quiet/dependabot/alerts", state="open")
    assert alert["security_advisory"]["summary"] == "Bad"
    assert alert["dependency"]["package"]["name"] == "p"


class TestTheDoor:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 401),
            ({"authorization": "Bearer wrong"}, 401),
            ({"authorization": "Bearer {token}"}, 200),
            ({"authorization": "Bearer {token}", "user-agent": ""}, 403),
            ({"authorization": "Bearer {token}", "x-github-api-version": "1999-01-01"}, 400),
        ],
    )
    def test_asks_for_what_github_asks_for(self, demo, headers, status):
        filled = {name: value.format(token=demo.token) for name, value in headers.items()}
        reply = run(UrllibHttp().send("GET", demo.url + API, headers=filled))
        assert reply.status == status

    def test_keeps_a_log_without_the_token(self, demo):
        make(demo, f"{API}/issues", {"title": "T"})
        (entry,) = demo.requests()
        assert (entry["method"], entry["path"]) == ("POST", f"{API}/issues")
        assert (entry["body"], entry["status"]) == ({"title": "T"}, 201)
        assert entry["authorized"]
        assert demo.token not in str(entry)

    def test_a_failure_comes_as_often_as_told_and_then_no_more(self, demo):
        demo.fail(API, status=503, times=2)
        codes = [getattr(ask(demo, "GET", API), "code", None) for _ in range(3)]
        assert codes == [Code.GITHUB_UNAVAILABLE, Code.GITHUB_UNAVAILABLE, None]

    def test_a_failure_elsewhere_is_not_met(self, demo):
        demo.fail("/repos/acme/web", status=503)
        demo.fail(API, method="POST", status=503)
        assert got(demo, API)["full_name"] == "acme/api"

    def test_a_slow_answer_runs_into_the_callers_timeout(self, demo):
        class Hasty(UrllibHttp):
            async def send(self, *args, **options):
                return await super().send(*args, **{**options, "timeout_s": 0.1})

        demo.fail(API, delay_ms=30_000)
        github = GitHub(Hasty(), demo.url, demo.token)
        answer = run(github.call("GET", API, Subject("acme/api", "x"), now_ms=NOW_MS))
        assert answer.code is Code.GITHUB_UNAVAILABLE


class TestTheProcess:
    def test_ends_on_sigterm(self):
        assert DemoGithub().stop() == 0

    def test_ends_when_its_owner_lets_go_of_it(self):
        assert DemoGithub().close_stdin() == 0

    def test_keeps_its_issues_in_a_file(self, tmp_path):
        options = ("--state", str(tmp_path / "deep" / "state.json"), "--token", "kept")
        with DemoGithub(*options) as demo:
            made = make(demo, f"{API}/issues", {"title": "T", "body": "stays"})
        with DemoGithub(*options) as demo:
            assert demo.token == "kept"
            assert got(demo, f"{API}/issues/{made['number']}")["body"] == "stays"
