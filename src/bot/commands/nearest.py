"""Whether a text is a command, a command gone wrong, or prose.

The rule, for texts from chat:

1. A text whose first words are a command's name is that command, and malformed if the rest does
   not fit. Only names of one plain word (``help``, ``confirm``, ``advisories``, ``whoami``) also
   begin ordinary sentences: where the rest does not fit and is three words or more, the text is
   prose; and ``help`` with what is not nearly a command's name is prose.
2. A family word (``schedule``) that stands alone is a command gone wrong, and so is one with a
   single word after it (``schedule frobnicate``) or a slip of the pen from a verb of the family
   (``schedule ad x``), a slip in the family word before a right verb (``shedule add``), a slip in
   a one-word command that stands alone, and whatever starts like ``agent:``.
3. Everything else is prose.

A slip is one letter left out, put in or swapped with its neighbour, or one wrong letter in a
word of five or more: ``run lint`` is not a misspelt ``run list``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

SENTENCE_WORDS = 3
_COMPARED = 80
"""How many characters of a text are compared, whatever its length."""


@dataclass(frozen=True, slots=True)
class Near:
    """No command: the nearest ones, and whether the text is ``close`` enough to mean them."""

    detail: str
    names: tuple[str, ...]
    close: bool


def find(text: str, names: Iterable[str]) -> tuple[str, int] | Near:
    """The command that the text's first words name and where its name ends, or the nearest.

    ``text`` is in its plain form, without blanks around it.
    """
    known = tuple(names)
    said = text.split(maxsplit=2)[:2]
    first = said[0].lower() if said else ""
    both = " ".join(said)[:_COMPARED].lower()
    for name in known:
        if name in (first, both):
            return name, _end_of(text, len(name.split()))
    family = tuple(name for name in known if family_of(name) == first)
    if family and len(said) == 1:
        return Near(f"{first!r} alone is not a command.", family, close=True)
    meant = _meant(first, both, known, family)
    if meant is not None:
        return Near(f"There is no command {both[:60]!r}. Did you mean {meant}?", (meant,), True)
    guess = difflib.get_close_matches(both, family or known, n=1, cutoff=0.0 if family else 0.6)
    guess = guess or [name for name in known if name == "help"]
    bare = bool(family) and len(text.split(maxsplit=2)) == 2
    if bare:
        guess = [*guess, *(name for name in family if name not in guess)]
    detail = f"There is no command {both[:60]!r}." if both else "The text is empty."
    return Near(detail, tuple(guess), close=bare)


def family_of(name: str) -> str:
    """The word that a command's name starts with: ``schedule``, ``agent``."""
    return name.split()[0].partition(":")[0]


def is_sentence(name: str, rest: str) -> bool:
    """Whether a text that starts with ``name`` and does not fit it is an ordinary sentence."""
    return name.isalpha() and len(rest.split(maxsplit=SENTENCE_WORDS)) >= SENTENCE_WORDS


def is_slip(said: str, meant: str) -> bool:
    """Whether ``said`` is ``meant`` with one slip of the pen."""
    if said == meant or abs(len(said) - len(meant)) > 1:
        return False
    start = 0
    while start < min(len(said), len(meant)) and said[start] == meant[start]:
        start += 1
    if len(said) != len(meant):
        shorter, longer = sorted((said, meant), key=len)
        return shorter[start:] == longer[start + 1 :]
    swapped = said[start : start + 2][::-1] == meant[start : start + 2]
    if swapped and said[start + 2 :] == meant[start + 2 :]:
        return True
    return len(meant) >= 5 and said[start + 1 :] == meant[start + 1 :]


def closest(said: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``said`` is nearest to, if any is near."""
    near = difflib.get_close_matches(said[:_COMPARED], list(known), n=1)
    return near[0] if near else None


def close_names(said: str, names: Iterable[str]) -> tuple[str, ...]:
    """The commands and families that ``said`` is a slip of, word by word."""
    known = dict.fromkeys(part for name in names for part in (family_of(name), name))
    return tuple(name for name in known if _is_slip_of_words(said, name))


def _is_slip_of_words(said: str, name: str) -> bool:
    pairs = list(zip(said.split(), name.split(), strict=False))
    if len(said.split()) != len(name.split()):
        return False
    wrong = [(got, meant) for got, meant in pairs if got != meant]
    return len(wrong) == 1 and is_slip(*wrong[0])


def _meant(first: str, both: str, known: tuple[str, ...], family: tuple[str, ...]) -> str | None:
    for name in family or known:
        if " " in name and _is_slip_of_words(both, name):
            return name
    stem = first.partition(":")[0]
    paths = [name for name in known if ":" in name and family_of(name) == stem]
    if ":" in first and paths:
        return closest(first, paths) or paths[0]
    if first == both:
        return next((name for name in known if " " not in name and is_slip(first, name)), None)
    return None


def _end_of(text: str, words: int) -> int:
    """Where the first ``words`` words of the text end."""
    at = 0
    for _ in range(words):
        while text[at].isspace():
            at += 1
        while at < len(text) and not text[at].isspace():
            at += 1
    return at
