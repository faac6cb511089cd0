"""A repository's files and folders: read at a branch, written to one by a commit each."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bot.agent.github import GitHub, Subject, one_line, unreadable
from bot.agent.paths import quoted
from bot.ports import Json
from bot.words import Code, Refused

READ = 'the repository permission "Contents: read" (a classic token: the scope repo)'
WRITE = 'the repository permission "Contents: write" (a classic token: the scope repo)'


@dataclass(frozen=True, slots=True)
class File:
    """A file: ``text`` is None where it is binary or too large for GitHub to send.

    ``sha`` is git's name of the content, ``size`` its bytes. The text is raw: it is cleaned
    where it is shown.
    """

    path: str
    sha: str
    size: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder; ``kind`` is file, dir, symlink or submodule."""

    path: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies in a folder, one level deep."""

    path: str
    entries: tuple[Entry, ...]


async def read(
    github: GitHub, repo: str, path: str, *, ref: str | None = None, now_ms: int
) -> File | Folder | Refused:
    """The file or folder at ``path`` (from ``read_path``) on ``ref``, the default branch if None.

    Returns the codes of ``GitHub.call``; ``bad_value`` for what is neither, such as a symbolic
    link that leads nowhere.
    """
    subject = Subject(_named(repo, path), READ)
    answer = await github.call(
        "GET", _url(repo, path), subject, now_ms=now_ms, query={"ref": ref} if ref else None
    )
    if isinstance(answer, Refused):
        return answer
    try:
        shown = _BODY.validate_python(answer.body)
    except ValidationError:
        return unreadable(subject)
    if isinstance(shown, list):
        return Folder(path, tuple(Entry(each.path, each.type, each.size) for each in shown))
    if shown.type != "file":
        return Refused(Code.BAD_VALUE, f"{subject.name} is a {one_line(shown.type, 20)}, no file.")
    return File(shown.path, shown.sha, shown.size, _text(shown))


async def write(
    github: GitHub,
    repo: str,
    path: str,
    text: str,
    *,
    branch: str,
    sha: str | None,
    message: str,
    now_ms: int,
) -> Refused | None:
    """Commit ``text`` as the file at ``path`` on ``branch``; None when it is done.

    ``sha`` names the content that it replaces, None for a new file: GitHub refuses when the
    file is another by now.
    """
    body: dict[str, Json] = {
        "message": message,
        "content": b64encode(text.encode()).decode(),
        "branch": branch,
        **({} if sha is None else {"sha": sha}),
    }
    subject = Subject(_named(repo, path), WRITE)
    answer = await github.call("PUT", _url(repo, path), subject, now_ms=now_ms, body=body)
    return answer if isinstance(answer, Refused) else None


async def delete(
    github: GitHub, repo: str, path: str, *, branch: str, sha: str, message: str, now_ms: int
) -> Refused | None:
    """Commit the removal of the file at ``path`` from ``branch``; None when it is done."""
    body: Json = {"message": message, "sha": sha, "branch": branch}
    subject = Subject(_named(repo, path), WRITE)
    answer = await github.call("DELETE", _url(repo, path), subject, now_ms=now_ms, body=body)
    return answer if isinstance(answer, Refused) else None


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Entry(_Wire):
    path: str
    type: str
    size: int = 0


class _Shown(_Wire):
    path: str
    type: str
    sha: str
    size: int = 0
    encoding: str = ""
    content: str = ""


_BODY = TypeAdapter[_Shown | list[_Entry]](_Shown | list[_Entry])


def _text(shown: _Shown) -> str | None:
    if shown.encoding != "base64":
        return None
    try:
        text = b64decode(shown.content).decode()
    except ValueError:
        return None
    return None if "\0" in text else text


def _named(repo: str, path: str) -> str:
    return f"{one_line(path, 120)} in {repo}" if path else repo


def _url(repo: str, path: str) -> str:
    return f"/repos/{repo}/contents/{quoted(path)}" if path else f"/repos/{repo}/contents"
