"""Paths inside a repository: which are refused, and how they are written into a URL. Pure."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote

from bot.agent.github import one_line
from bot.words import Code, Refused

MAX_PATH = 400
_KEPT_BY_PEOPLE = (".github/workflows", ".github/actions")


def read_path(text: str) -> str | Refused:
    """The path of a file or folder as GitHub names it; empty for the root.

    A slash at either end is left off. Refuses ``bad_value`` what could lead anywhere else: a
    ``.`` or ``..``, an empty part, a backslash, a control or invisible character.
    """
    path = text.removesuffix("/").removeprefix("/")
    if len(path) > MAX_PATH:
        return _bad(text, f"A path has at most {MAX_PATH} characters.")
    if "\\" in path or any(unicodedata.category(char).startswith("C") for char in path):
        return _bad(text, "Backslashes, control and invisible characters are not taken.")
    if path and any(part.strip() in ("", ".", "..") for part in path.split("/")):
        return _bad(text, "Write it from the root of the repository, such as src/app.py.")
    return path


def writable_path(text: str) -> str | Refused:
    """As ``read_path``, for a file that an agent may write.

    Workflow files are refused: they run with the repository's secrets as soon as a branch is
    pushed, before a person has read them.
    """
    path = read_path(text)
    if isinstance(path, Refused):
        return path
    if not path or text.endswith("/"):
        return _bad(text, "Name a file.")
    folded = path.lower()
    if ".git" in folded.split("/"):
        return _bad(text, "That is git's own folder.")
    if any(folded == kept or folded.startswith(f"{kept}/") for kept in _KEPT_BY_PEOPLE):
        return Refused(
            Code.FORBIDDEN, f"{one_line(path, 120)} runs with secrets: a person changes it by hand."
        )
    return path


def quoted(path: str) -> str:
    """A path as it stands in a URL: everything but the slashes is escaped."""
    return quote(path, safe="/")


def _bad(text: str, why: str) -> Refused:
    return Refused(Code.BAD_VALUE, f"{one_line(text, 120)!r} is not a path. {why}")
