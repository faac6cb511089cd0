"""The tools that read: what they ask GitHub, what they say, and where they stop."""

from base64 import b64encode

import pytest

from bot.agent.issues import MAX_COMMENTS
from bot.agent.reading import MAX_ADVISORIES, MAX_ENTRIES, MAX_PATCH, WINDOW
from bot.words import Code
from tests.unit.agent.turns import RESEARCH, Turn, somebody


@pytest.fixture
def turn():
    """A turn over a scripted GitHub."""
    return Turn("research", *RESEARCH)


@pytest.fixture
def live(github):
    """A turn over the demo GitHub."""
    return Turn("research", *RESEARCH, demo=github)


def file(data, path="a.txt", **changes):
    raw = data if isinstance(data, bytes) else data.encode()
    shown = {
        "type": "file",
        "path": path,
        "sha": "s1",
        "size": len(raw),
        "encoding": "base64",
        "content": b64encode(raw).decode(),
    }
    return {**shown, **changes}


def said(result):
    assert result.ok, result
    assert result.untrusted
    return result.text


class TestReadFile:
    def test_shows_it_with_its_place(self, live):
        assert said(live.use("read_file", path="src/orders.mjs")) == (
            "src/orders.mjs in acme/api, lines 1 to 5 of 5:\n"
            "// An order is {id, item, count}.\nexport function orders() {\n"
            "  return { status: 200, body: [] };\n}\n"
        )

    def test_asks_for_the_path_in_escaped_form(self, turn):
        turn.reply(file("x", path="a b/ü?.txt"))
        turn.use("read_file", path="/a b/ü?.txt")
        assert turn.asked == [("GET", "/repos/acme/api/contents/a%20b/%C3%BC%3F.txt")]

    @pytest.mark.parametrize("path", ["../../user", "src/../x", "/repos/../x", "a\\..\\b", "./x"])
    def test_asks_for_no_path_that_leads_elsewhere(self, turn, path):
        assert turn.use("read_file", path=path).text.startswith("bad_value: ")
        assert turn.asked == []

    def test_of_a_folder_says_so(self, live):
        assert live.use("read_file", path="src").text == "bad_value: src is a folder: list it."

    def test_that_is_not_there_says_which(self, live):
        result = live.use("read_file", path="none.md")
        assert result.text.startswith(f"{Code.GITHUB_NOT_FOUND}: ")
        assert "none.md in acme/api" in result.text

    @pytest.mark.parametrize(
        "shown",
        [
            file(b"\x89PNG\r\n\x1a\n\xff"),
            file(b"nul\0byte"),
            file("", encoding="none", content="", size=2_000_000),
            file("", content="!not base64!"),
        ],
    )
    def test_of_what_is_no_text_shows_none(self, turn, shown):
        turn.reply(shown)
        result = turn.use("read_file", path="a.txt")
        assert not result.ok
        assert f"{shown['size']:,} bytes" in result.text

    @pytest.mark.parametrize("kind", ["symlink", "submodule"])
    def test_of_what_is_no_file_is_refused(self, turn, kind):
        turn.reply(file("x", type=kind))
        assert (
            turn.use("read_file", path="a").text
            == f"bad_value: a in acme/api is a {kind}, no file."
        )

    @pytest.mark.parametrize("body", [None, 7, {}, {"type": "file"}, [7], {"type": 1, "path": "a"}])
    def test_of_another_shape_is_unavailable(self, turn, body):
        turn.reply(body)
        assert turn.use("read_file", path="a").text.startswith(f"{Code.GITHUB_UNAVAILABLE}: ")

    def test_comes_without_what_does_not_show_and_says_so(self, turn):
        turn.reply(file("one\u202e\r\ntwo\r\n"))
        assert said(turn.use("read_file", path="a.txt")) == (
            "a.txt in acme/api, lines 1 to 3 of 3; characters that do not show were left out:\n"
            "one\ntwo\n"
        )

    def test_says_nothing_of_line_ends(self, turn):
        turn.reply(file("one\r\ntwo\r\n"))
        assert "left out" not in said(turn.use("read_file", path="a.txt"))

    def test_of_a_long_one_goes_on_where_it_stopped(self, turn):
        lines = [f"{number:05} {'x' * 90}" for number in range(1, 1_201)]
        first_line, got = 1, []
        while first_line:
            turn.reply(file("\n".join(lines)))
            head, _, part = said(
                turn.use("read_file", path="a.txt", from_line=first_line)
            ).partition(":\n")
            assert len(part) <= WINDOW
            got += part.split("\n")
            first_line = int(head.split("from_line ")[1]) if "from_line" in head else 0
        assert got == lines
        assert len(turn.asked) == 3

    def test_cuts_a_line_that_is_too_long_and_goes_on_behind_it(self, turn):
        turn.reply(file(f"{'x' * (WINDOW + 5)}\nend"))
        text = said(turn.use("read_file", path="a.txt"))
        assert text.startswith("a.txt in acme/api, lines 1 to 1 of 2; go on with from_line 2:\n")
        assert text.endswith("x" * WINDOW)

    def test_from_beyond_its_end_shows_its_last_line(self, turn):
        turn.reply(file("one\ntwo"))
        assert said(turn.use("read_file", path="a.txt", from_line=99)).endswith("2 to 2 of 2:\ntwo")


class TestListFolder:
    def test_lists_one_level(self, live):
        assert said(live.use("list_folder")).splitlines() == [
            "The root in acme/api holds:",
            "- README.md (file, 63 bytes)",
            "- docs (dir)",
            "- package.json (file, 150 bytes)",
            "- src (dir)",
        ]
        assert "- src/orders.mjs (file, " in said(live.use("list_folder", path="src/"))

    def test_of_a_file_says_so(self, live):
        assert live.use("list_folder", path="README.md").text == (
            "bad_value: README.md is a file: read it."
        )

    def test_is_cut_and_one_line_an_entry(self, turn):
        hostile = {"type": "file", "path": "a\n- b (file)\u202e", "size": 1}
        turn.reply([hostile] * (MAX_ENTRIES + 5))
        lines = said(turn.use("list_folder")).splitlines()
        assert len(lines) == MAX_ENTRIES + 2
        assert lines[1] == "- a - b (file) (file, 1 bytes)"
        assert lines[-1] == "(and 5 more)"


class TestSearchCode:
    def test_finds_files(self, live):
        assert said(live.use("search_code", text="orders() return")).splitlines() == [
            "Files of acme/api that hold all of these words:",
            "- src/orders.mjs",
            "- src/server.mjs",
        ]

    def test_of_nothing_found_is_our_own_word(self, live):
        result = live.use("search_code", text="nowhere-at-all")
        assert (result.ok, result.untrusted) == (True, False)

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("two words", '"two"+"words"+repo:acme/api'),
            ("x repo:acme/secret", '"x"+"repo:acme/secret"+repo:acme/api'),
            ('x" repo:acme/secret "', '"x"+"repo:acme/secret"+repo:acme/api'),
            ("x OR org:acme", '"x"+"OR"+"org:acme"+repo:acme/api'),
        ],
    )
    def test_no_word_widens_it(self, turn, text, query):
        turn.reply({"total_count": 0, "items": []})
        turn.use("search_code", text=text)
        ((_, url),) = turn.asked
        sent = url.partition("q=")[2].partition("&")[0]
        assert sent.replace("%22", '"').replace("%3A", ":").replace("%2F", "/") == query

    def test_a_hit_elsewhere_is_not_shown(self, turn):
        hits = [
            {"path": path, "repository": {"full_name": name}}
            for path, name in (("ours", "Acme/API"), ("secret", "acme/secret"))
        ]
        turn.reply({"total_count": 2, "items": hits})
        text = said(turn.use("search_code", text="x"))
        assert "- ours" in text
        assert "- secret" not in text

    @pytest.mark.parametrize("text", ['" "', "one two three four five six seven eight nine"])
    def test_of_no_words_or_too_many_is_refused(self, turn, text):
        assert turn.use("search_code", text=text).text.startswith("bad_value: Search for 1 to 8")
        assert turn.asked == []


class TestListAdvisories:
    def test_lists_the_worst_first_with_what_an_issue_needs(self, live):
        lines = said(live.use("list_advisories")).splitlines()
        assert lines[0] == "acme/api: 7 open advisories, worst first:"
        assert lines[1] == (
            "- critical demo-jwt < 3.2.1 (npm, package-lock.json), fixed in 3.2.1, "
            "CVE-2099-1010001 GHSA-demo-1010-0001: "
            "Signature check is skipped for tokens with an empty algorithm"
        )
        assert any("demo-template = 0.4.0" in line and "no fix yet" in line for line in lines)

    def test_of_a_repository_without_any_says_so(self, github):
        turn = Turn("research", "agent:run:research", demo=github)
        result = turn.use("list_advisories", repo="acme/quiet")
        assert (result.text, result.untrusted) == ("acme/quiet has no open advisories.", False)

    def test_is_cut(self, github):
        turn = Turn("research", "agent:run:research", demo=github)
        lines = said(turn.use("list_advisories", repo="acme/big")).splitlines()
        assert lines[0] == "acme/big: 250 open advisories, worst first:"
        assert len(lines) == MAX_ADVISORIES + 2
        assert lines[-1] == "(and 100 more)"


class TestIssues:
    def test_list_by_state(self, live):
        assert said(live.use("list_issues")).splitlines() == [
            "The open issues of acme/api, page 1, newest first:",
            "- #1 (open) Orders without a count are accepted [bug], by demo-alice",
        ]
        both = said(live.use("list_issues", state="all")).splitlines()
        assert [line[:8] for line in both[1:]] == ["- #2 (cl", "- #1 (op"]

    @pytest.mark.parametrize("state", ["deleted", "", None, ["open"]])
    def test_list_by_no_other_state(self, turn, state):
        assert turn.use("list_issues", state=state).text.startswith("bad_value: state: ")
        assert turn.asked == []

    def test_leave_out_pull_requests_and_say_when_there_are_more(self, turn):
        shape = {"title": "T", "state": "open"}
        page = [{**shape, "number": 2, "pull_request": {}}, {**shape, "number": 1}]
        turn.reply(page, link='<https://api.github.example/x?page=3>; rel="next"')
        assert said(turn.use("list_issues", page=2)).splitlines() == [
            "The open issues of acme/api, page 2, newest first:",
            "- #1 (open) T, by ghost",
            "There are more: ask for page 3.",
        ]

    def test_that_are_none_are_our_own_word(self, github):
        turn = Turn("research", "agent:run:research", demo=github)
        result = turn.use("list_issues", repo="acme/quiet")
        assert (result.text, result.untrusted) == ("No open issues of acme/quiet on page 1.", False)

    def test_read_with_their_comments(self, live, github):
        somebody(github, "POST", "/issues/1/comments", body="Seen it too.\nTwice.")
        assert said(live.use("read_issue", number=1)) == (
            "- #1 (open) Orders without a count are accepted [bug], by demo-alice\n\n"
            "POST /orders takes `{}`.\n\n"
            "Comment by demo-standing-orders-bot:\nSeen it too.\nTwice."
        )

    def test_read_asks_for_a_bounded_number_of_comments(self, turn):
        turn.reply({"number": 7, "title": "T", "state": "open", "body": None, "user": None})
        turn.reply([])
        assert said(turn.use("read_issue", number=7)) == "- #7 (open) T, by ghost\n\n(no text)"
        assert turn.asked[1][1] == f"/repos/acme/api/issues/7/comments?per_page={MAX_COMMENTS}"

    @pytest.mark.parametrize("number", [0, -1, "1", 1.5, True, None, 10**12])
    def test_read_by_a_number_alone(self, turn, number):
        assert turn.use("read_issue", number=number).text.startswith("bad_value: number: ")
        assert turn.asked == []

    def test_with_a_title_of_many_lines_is_one_line(self, turn):
        turn.reply([{"number": 1, "title": "a\n- #2 (open) b\u202e", "state": "open"}])
        assert len(said(turn.use("list_issues")).splitlines()) == 2


class TestPulls:
    SHAPE = {
        "number": 4,
        "title": "T",
        "state": "open",
        "body": "Why.",
        "draft": False,
        "head": {"label": "acme:fix"},
        "base": {"ref": "main"},
        "user": {"login": "bo"},
    }

    @pytest.mark.parametrize(
        ("changes", "word"),
        [
            ({}, "open"),
            ({"draft": True}, "draft"),
            ({"state": "closed"}, "closed"),
            ({"state": "closed", "merged_at": "2026-11-01T00:00:00Z"}, "merged"),
        ],
    )
    def test_list(self, turn, changes, word):
        turn.reply([{**self.SHAPE, **changes}])
        line = f"- #4 ({word}) T, by bo, acme:fix into main"
        assert said(turn.use("list_pulls", state="all")).splitlines()[1] == line

    def test_read_with_what_they_change(self, turn):
        change = {"filename": "a.py", "status": "modified", "additions": 1, "deletions": 2}
        turn.reply(self.SHAPE)
        turn.reply([{**change, "patch": "+" * (MAX_PATCH + 1)}, {**change, "filename": "b.png"}])
        text = said(turn.use("read_pull", number=4))
        assert text.startswith("- #4 (open) T, by bo, acme:fix into main\n\nWhy.\n\n")
        assert f"modified a.py (+1 -2)\n{'+' * MAX_PATCH}\n(cut)" in text
        assert text.endswith("\n\nmodified b.png (+1 -2)")

    def test_that_are_not_there_are_not_found(self, live):
        assert live.use("read_pull", number=1).text.startswith(f"{Code.GITHUB_NOT_FOUND}: ")


class TestAnotherRepository:
    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("read_file", {"path": "README.md"}),
            ("list_folder", {}),
            ("search_code", {"text": "x"}),
            ("list_advisories", {}),
            ("list_issues", {}),
            ("read_issue", {"number": 1}),
            ("list_pulls", {}),
            ("read_pull", {"number": 1}),
        ],
    )
    def test_needs_the_grant_there(self, turn, tool, args):
        result = turn.use(tool, repo="acme/web", **args)
        assert result.text == "forbidden: This turn does not hold agent:run:research on acme/web."
        assert turn.asked == []

    def test_is_read_where_it_is_held(self, github):
        turn = Turn("research", *RESEARCH, "agent:run:research on acme/web", demo=github)
        assert "The shop's pages" in said(turn.use("read_file", path="README.md", repo="acme/web"))
