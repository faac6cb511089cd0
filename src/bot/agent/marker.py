"""What the bot writes on GitHub carries which run wrote it, so that it is found again. Pure."""

from __future__ import annotations

import re
from hashlib import sha256

from bot.agent.untrusted import clean
from bot.runs.ledger import Run

_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,100}", re.ASCII)
_MARKER = re.compile(r"<!-- standing-orders run:([\w.:-]+) key:([\w.:-]+) -->", re.ASCII)
_OPENING = re.compile(r"<!--(?=\s*standing-orders)", re.IGNORECASE)
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_MENTION = re.compile(r"(?<!\w)@[A-Za-z0-9][\w-]*(?:[./][\w-]+)*", re.ASCII)


def marker(run_id: str, key: str) -> str:
    """The comment that marks one writing call of one run; it does not show in the page."""
    return f"<!-- standing-orders run:{_plain(run_id)} key:{_plain(key)} -->"


def signed(body: str, run: Run, key: str, note: str = "") -> str:
    """``body`` as it is posted: harmless, with a line that names the run, and the marker.

    Nobody is mentioned by it, and it holds no marker but the one at its end, so that a text
    from outside cannot pass for the work of a run. ``note`` stands before the run's name.
    """
    said = f"{note} " if note else ""
    by = f"_{said}Written by Standing Orders: run `{run.id}` of `{run.actor}`._"
    return f"{harmless(body)}\n\n---\n{by}\n{marker(run.id, key)}"


def harmless(text: str) -> str:
    """``text`` cleaned, without markers, and with its mentions turned into code."""
    plain = _OPENING.sub("<!-- not of", clean(text).strip())
    if plain.count("```") % 2:
        plain += "\n```"
    parts = _CODE.split(plain)
    # The pattern's one group: code lies at the odd places.
    parts[::2] = [_unmentioned(part) for part in parts[::2]]
    return "".join(parts)


def keys_in(body: str, run_id: str) -> frozenset[str]:
    """The keys of ``run_id``'s markers in a body."""
    wanted = _plain(run_id)
    return frozenset(key for run, key in _MARKER.findall(body) if run == wanted)


def carries(body: str, run_id: str, key: str) -> bool:
    """Whether a body carries the marker of that call."""
    return _plain(key) in keys_in(body, run_id)


def _unmentioned(part: str) -> str:
    # A backquote on its own would pair with the ones that are put around a mention.
    return _MENTION.sub(lambda found: f"`{found[0]}`", part.replace("`", r"\`"))


def _plain(text: str) -> str:
    """A text as it stands in a marker: itself, or its digest where it could end the comment."""
    if _PLAIN.fullmatch(text):
        return text
    return sha256(text.encode()).hexdigest()[:32]
