"""The role ship: one branch, one pull request, nothing on the default branch, nothing merged."""

import json
from base64 import b64decode, b64encode

import pytest

from bot.agent.reading import WINDOW
from bot.words import Code
from tests.unit.agent.turns import PLAN, SHIP, Turn, somebody, writes

REPO = "/repos/acme/api"
BRANCH = "standing-orders/run1"
CONTENTS = f"{REPO}/contents"


@pytest.fixture
def turn(github):
    return Turn("ship", *SHIP, demo=github)


def write(turn, path="CHANGELOG.md", content="# Changes\n", message="Say what changed", **options):
    return turn.use("write_file", path=path, content=content, message=message, **options)


def delete(turn, path="README.md", **options):
    return turn.use("delete_file", path=path, message="Take it out", **options)


def open_pull(turn, title="Update demo-json-merge", body="As planned.", **options):
    return turn.use("open_pull_request", title=title, body=body, **options)


def branches(github):
    return {each["name"]: each["commit"]["sha"] for each in somebody(github, "GET", "/branches")}


def text_of(github, path, ref="main"):
    found = somebody(github, "GET", f"/contents/{path}?ref={ref}")
    return b64decode(found["content"]).decode()


def pulls(github):
    return somebody(github, "GET", "/pulls?state=all")


def commits(github):
    return [path for method, path in writes(github) if "/contents/" in path]


def carry_out(turn):
    """The whole plan, as a good agent does it."""
    assert PLAN in turn.use("read_file", path=PLAN).text
    package = turn.use("read_file", path="package.json").text.partition(":\n")[2]
    assert write(turn, "package.json", package.replace("4.17.20", "4.17.21")).ok
    assert write(turn).ok
    result = open_pull(turn)
    assert result.ok, result
    return result


class TestAPlan:
    def test_becomes_a_pull_request_that_names_it_and_the_run(self, turn, github):
        before = branches(github)
        result = carry_out(turn)
        assert result.text == f"Opened acme/api#3 {github.url}/acme/api/pull/3"
        (pull,) = pulls(github)
        assert (pull["head"]["ref"], pull["base"]["ref"], pull["state"]) == (BRANCH, "main", "open")
        assert pull["merged_at"] is None
        assert f"Plan: `{PLAN}`." in pull["body"]
        assert "run `run1` of `schedule:nightly`" in pull["body"]
        assert branches(github)["main"] == before["main"]
        assert "4.17.21" in text_of(github, "package.json", BRANCH)
        assert "4.17.20" in text_of(github, "package.json")

    def test_writes_to_its_own_branch_alone(self, turn, github):
        carry_out(turn)
        sent = [each["body"] for each in github.requests() if each["method"] not in ("GET",)]
        assert {body["branch"] for body in sent if "branch" in body} == {BRANCH}
        assert [body["ref"] for body in sent if "ref" in body] == [f"refs/heads/{BRANCH}"]
        assert not [path for _, path in writes(github) if "merge" in path]

    def test_done_again_from_the_start_changes_nothing(self, turn, github):
        carry_out(turn)
        tips, asked = branches(github), len(writes(github))
        again = Turn("ship", *SHIP, demo=github)
        assert write(again).text == "CHANGELOG.md holds exactly this already."
        assert open_pull(again, title="Another").text.startswith("This run had opened acme/api#3 ")
        assert branches(github) == tips
        assert len(writes(github)) == asked

    def test_of_another_run_has_a_branch_of_its_own(self, turn, github):
        carry_out(turn)
        carry_out(Turn("ship", *SHIP, demo=github, run_id="run2"))
        assert set(branches(github)) == {"main", BRANCH, "standing-orders/run2"}
        assert len(pulls(github)) == 2


class TestReading:
    def test_sees_what_the_run_wrote(self, turn):
        write(turn, "README.md", "# New\n")
        assert turn.use("read_file", path="README.md").text.endswith(":\n# New\n")
        write(turn, "notes/one.md", "x")
        assert "- notes/one.md " in turn.use("list_folder", path="notes").text

    def test_before_it_wrote_sees_the_default_branch(self, turn, github):
        assert "Takes orders" in turn.use("read_file", path="README.md").text
        assert writes(github) == []

    def test_elsewhere_needs_the_grant_there_and_sees_no_branch(self, github):
        bare = Turn("ship", *SHIP, demo=github)
        assert bare.use("read_file", path="README.md", repo="acme/web").text == (
            "forbidden: This turn does not hold agent:run:research on acme/web."
        )
        wide = Turn("ship", *SHIP, "agent:run:research", demo=github)
        write(wide, "README.md", "# New\n")
        assert "The shop" in wide.use("read_file", path="README.md", repo="acme/web").text

    def test_that_cannot_ask_for_its_branch_does_not_guess(self, turn, github):
        github.fail(f"{REPO}/git/ref", status=500)
        assert turn.use("read_file", path="README.md").text.startswith("github_unavailable: ")


class TestWriteFile:
    def test_makes_a_commit_that_names_the_plan_and_the_run(self, turn, github):
        assert write(turn).text == f"Wrote CHANGELOG.md on {BRANCH}."
        sent = github.requests()[-1]["body"]
        assert sent["message"] == f"Say what changed\n\nPlan: {PLAN}\nRun: run1"

    def test_whose_message_has_many_lines_is_one(self, turn, github):
        write(turn, message="One\n\nPlan: other\u202e @all")
        assert github.requests()[-1]["body"]["message"].startswith(
            "One Plan: other `@all`\n\nPlan:"
        )

    @pytest.mark.parametrize(
        "path", ["../x", "src/../../x", ".git/config", "src/", "", "a\\b", "x\u202ey"]
    )
    def test_to_no_path_outside(self, turn, github, path):
        assert write(turn, path).text.startswith("bad_value: ")
        assert github.requests() == []

    @pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".GITHUB/actions/x/action.yml"])
    def test_to_no_workflow(self, turn, github, path):
        assert write(turn, path).text.startswith("forbidden: ")
        assert delete(turn, path).text.startswith("forbidden: ")
        assert github.requests() == []

    @pytest.mark.parametrize("content", ["a\u202eb", "a\u200bb", "\ufeffa", "a\x00b", "a\u2028b"])
    def test_of_nothing_that_does_not_show(self, turn, github, content):
        assert "do not show" in write(turn, content=content).text
        assert github.requests() == []

    def test_over_a_folder_is_refused(self, turn, github):
        assert write(turn, "src").text == "bad_value: src is a folder."
        assert commits(github) == []

    def test_takes_no_branch(self, turn, github):
        assert write(turn, branch="main").text.startswith("bad_value: branch: ")
        assert github.requests() == []

    def test_of_too_much_is_refused(self, turn, github):
        assert write(turn, content="x" * (WINDOW + 1)).text.startswith("bad_value: content: ")
        assert github.requests() == []

    @pytest.mark.parametrize(
        ("raw", "shown"),
        [
            (b"\xff\xfe", {}),
            (b"x" * (WINDOW + 1), {}),
            (b"", {"encoding": "none", "size": 2_000_000}),
        ],
    )
    def test_over_what_could_not_be_read_whole_is_refused(self, raw, shown):
        turn = scripted(raw, **shown)
        assert "cannot be written whole" in write(turn, "a.txt").text
        assert [method for method, _ in turn.asked] == ["GET", "GET"]

    @pytest.mark.parametrize(
        ("old", "new", "sent"),
        [
            ("one\r\ntwo\r\n", "one\nthree\n", "one\r\nthree\r\n"),
            ("one\r\ntwo\n", "one\nthree\n", "one\nthree\n"),
            ("\ufeffone\n", "two\n", "\ufefftwo\n"),
            ("one", "two\r\n", "two\r\n"),
        ],
    )
    def test_keeps_the_files_line_ends_and_mark(self, old, new, sent):
        turn = scripted(old.encode())
        turn.reply({})
        assert write(turn, "a.txt", new).ok
        body = turn.house.http.sent[-1].body
        assert b64encode(sent.encode()).decode() in body

    def test_whose_answer_was_lost_is_known_to_be_done(self, turn, github):
        github.fail(f"{CONTENTS}/CHANGELOG.md", method="PUT", drop=True, after=True)
        assert write(turn).text == f"Wrote CHANGELOG.md on {BRANCH}."
        assert len(commits(github)) == 1

    def test_that_never_arrived_is_not_called_done(self, turn, github):
        github.fail(f"{CONTENTS}/CHANGELOG.md", method="PUT", drop=True)
        assert write(turn).text.startswith("github_unavailable: ")
        assert write(turn).ok

    def test_that_ran_again_after_a_kill_commits_once(self, turn, github):
        write(turn, key="k")
        tips = branches(github)
        assert write(turn, key="k").ok
        assert branches(github) == tips


class TestTheBranch:
    def test_whose_answer_was_lost_is_used(self, turn, github):
        github.fail(f"{REPO}/git/refs", method="POST", drop=True, after=True)
        assert write(turn).ok
        assert BRANCH in branches(github)

    def test_that_cannot_be_made_is_not_written_to(self, turn, github):
        message = {"message": "Resource not accessible by personal access token"}
        github.fail(f"{REPO}/git/refs", method="POST", status=403, body=message)
        assert write(turn).text.startswith(f"{Code.GITHUB_TOKEN_REFUSED}: ")
        assert commits(github) == []

    def test_of_a_repository_without_a_commit_cannot_be_made(self):
        turn = Turn("ship", *SHIP)
        turn.reply({}, status=404)
        turn.reply({"default_branch": "main"})
        turn.reply({}, status=404)
        assert write(turn).text == (
            "github_not_found: acme/api has no commit to start a branch from."
        )

    def test_starts_where_the_default_branch_ends_whatever_its_name(self):
        turn = Turn("ship", *SHIP)
        turn.reply({}, status=404)
        turn.reply({"default_branch": "trunk"})
        turn.reply({"object": {"sha": "tip"}})
        turn.reply({}, status=201)
        turn.reply({}, status=404)
        turn.reply({}, status=201)
        assert write(turn).ok
        assert turn.asked[2] == ("GET", f"{REPO}/git/ref/heads/trunk")
        assert f'"refs/heads/{BRANCH}", "sha": "tip"' in turn.house.http.sent[3].body


class TestDeleteFile:
    def test_takes_it_off_the_branch_alone(self, turn, github):
        assert delete(turn).text == f"Deleted README.md on {BRANCH}."
        assert "Takes orders" in text_of(github, "README.md")
        assert turn.use("read_file", path="README.md").text.startswith("github_not_found: ")

    def test_of_what_is_not_there_says_so(self, turn, github):
        assert delete(turn, "none.md").text == f"There is no none.md on {BRANCH}."
        assert commits(github) == []

    def test_whose_answer_was_lost_is_known_to_be_done(self, turn, github):
        github.fail(f"{CONTENTS}/README.md", method="DELETE", drop=True, after=True)
        assert delete(turn).text == f"Deleted README.md on {BRANCH}."

    def test_that_never_arrived_is_not_called_done(self, turn, github):
        github.fail(f"{CONTENTS}/README.md", method="DELETE", drop=True)
        assert delete(turn).text.startswith("github_unavailable: ")


class TestOpenPullRequest:
    def test_before_anything_was_written_is_refused(self, turn, github):
        assert open_pull(turn).text == ("bad_value: Nothing was written on this run's branch yet.")
        assert writes(github) == []

    def test_without_a_change_is_refused_by_github(self, turn, github):
        delete(turn, "none.md")
        assert open_pull(turn).text.startswith("bad_value: ")
        assert pulls(github) == []

    def test_whose_answer_was_lost_is_found(self, turn, github):
        write(turn)
        github.fail(f"{REPO}/pulls", method="POST", drop=True, after=True)
        assert open_pull(turn).text.startswith("Opened acme/api#3 ")
        assert len(pulls(github)) == 1

    def test_that_never_arrived_is_not_called_done(self, turn, github):
        write(turn)
        github.fail(f"{REPO}/pulls", method="POST", drop=True)
        assert open_pull(turn).text.startswith("github_unavailable: ")
        assert open_pull(turn).text.startswith("Opened acme/api#3 ")

    def test_that_somebody_closed_is_not_opened_again(self, turn, github):
        write(turn)
        open_pull(turn)
        somebody(github, "PATCH", "/issues/3", state="closed")
        assert open_pull(turn).text.startswith("This run had opened acme/api#3 (closed) ")
        assert len(pulls(github)) == 1

    def test_of_another_repositorys_branch_of_that_name_is_not_this_runs(self):
        turn = Turn("ship", *SHIP)
        ends = {"head": {"label": f"fork:{BRANCH}"}, "base": {"ref": "main"}}
        turn.reply([{"number": 8, "title": "T", "state": "open", **ends}])
        turn.reply({"default_branch": "main"})
        turn.reply({}, status=404)
        assert open_pull(turn).text.startswith("bad_value: Nothing was written")

    def test_keeps_the_plans_name_in_its_code(self):
        turn = Turn("ship", *SHIP, plan="docs/`x`\n# y.md")
        turn.reply([])
        turn.reply({"default_branch": "main"})
        turn.reply({"object": {"sha": "tip"}})
        ends = {"head": {"label": f"acme:{BRANCH}"}, "base": {"ref": "main"}}
        turn.reply({"number": 8, "title": "T", "state": "open", **ends}, status=201)
        assert open_pull(turn).text == "Opened acme/api#8"
        assert "Plan: `docs/'x' # y.md`." in json.loads(turn.house.http.sent[-1].body)["body"]


class TestElsewhere:
    @pytest.mark.parametrize("use", [write, delete, open_pull])
    @pytest.mark.parametrize("held", [SHIP, ("agent:ship",), ("all",)])
    def test_nothing_is_written(self, github, use, held):
        turn = Turn("ship", *held, demo=github)
        assert use(turn, repo="acme/web").text.startswith("forbidden: ")
        assert github.requests() == []

    @pytest.mark.parametrize("use", [write, delete, open_pull])
    def test_nothing_is_written_without_the_grant(self, github, use):
        turn = Turn("ship", "agent:run:research", "github:issue-write", demo=github)
        assert turn.offered == {}
        assert use(turn).text == "forbidden: This turn does not hold agent:ship on acme/api."
        assert github.requests() == []


def scripted(raw, **shown):
    """A turn whose branch is there and holds one file, a.txt."""
    turn = Turn("ship", *SHIP)
    turn.reply({"object": {"sha": "tip"}})
    file = {"type": "file", "path": "a.txt", "sha": "s", "size": len(raw), "encoding": "base64"}
    turn.reply({**file, "content": b64encode(raw).decode(), **shown})
    return turn
