"""A path from a model stays inside the repository, and a written one out of what runs by itself."""

from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.paths import MAX_PATH, quoted, read_path, writable_path
from bot.words import Code, Refused

ESCAPES = [
    "..",
    "../other",
    "src/../../x",
    "src/..",
    "./src",
    "src/./x",
    "src//x",
    "//x",
    " .. /x",
    "src\\..\\x",
    "a\nb",
    "a\x00b",
    "a\u202eb",
    "a\u200b/b",
    "x" * (MAX_PATH + 1),
]


class TestAReadPath:
    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("", ""),
            ("/", ""),
            ("README.md", "README.md"),
            ("/src/app.py", "src/app.py"),
            ("src/", "src"),
            (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
            ("a b/ü.txt", "a b/ü.txt"),
            ("..hidden/...", "..hidden/..."),
            ("%2e%2e/x", "%2e%2e/x"),
        ],
    )
    def test_is_from_the_root(self, text, path):
        assert read_path(text) == path

    @pytest.mark.parametrize("text", ESCAPES)
    def test_leads_nowhere_else(self, text):
        assert read_path(text).code is Code.BAD_VALUE

    @settings(deadline=None, derandomize=True)
    @given(st.text(st.sampled_from("./\\%2eE?#&ab \u3002"), max_size=20))
    def test_in_a_url_stays_below_contents(self, text):
        path = read_path(text)
        if isinstance(path, Refused):
            return
        base = "https://api.example/repos/acme/api/contents/"
        url = urljoin(base, f"./{quoted(path)}")
        assert url == base + quoted(path)
        assert not {"?", "#", "\\"} & set(quoted(path))
        # Some readers of URLs take an escaped dot for a dot.
        assert "%2e" not in quoted(path).lower().replace("%252e", "")


class TestAWrittenPath:
    def test_is_a_file(self):
        assert writable_path("src/app.py") == "src/app.py"

    @pytest.mark.parametrize("text", ["", "/", "src/", *ESCAPES])
    def test_is_no_folder_and_leads_nowhere_else(self, text):
        assert writable_path(text).code is Code.BAD_VALUE

    @pytest.mark.parametrize("text", [".git/config", "a/.GIT/hooks/x"])
    def test_is_not_gits_own(self, text):
        assert writable_path(text).code is Code.BAD_VALUE

    @pytest.mark.parametrize(
        "text",
        [
            ".github/workflows/ci.yml",
            "/.GitHub/Workflows/ci.yml",
            ".github/workflows",
            ".github/actions/setup/action.yml",
        ],
    )
    def test_is_nothing_that_runs_with_secrets_before_a_person_read_it(self, text):
        refusal = writable_path(text)
        assert refusal.code is Code.FORBIDDEN
        assert "by hand" in refusal.detail

    def test_may_lie_beside_those(self):
        assert writable_path(".github/CODEOWNERS.md") == ".github/CODEOWNERS.md"
        assert writable_path(".github/workflows-old/x") == ".github/workflows-old/x"
