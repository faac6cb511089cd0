"""Reading a command's header: plain forms, quoting, words, and where the header ends.

Chat clients turn straight quotes into curly ones, hyphens into dashes and blanks into
non-breaking ones. Here they are read as their plain forms, one character for one, so that a
position in the plain text is the same position in the text as it was written.

A value with blanks stands in double quotes. Inside them a backslash before ``"``, before
another backslash or before a character that has a plain form keeps that character as it is;
any other backslash is a backslash.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_PLAIN = {
    '"': "“”„‟«»″〝〞＂",
    "'": "‘’‚‛′＇",
    "-": "‐‑‒–—―−﹘﹣－",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u202f\u205f\u3000",
}
_FORMS = {ord(fancy): plain for plain, fancies in _PLAIN.items() for fancy in fancies}


def plain(text: str) -> str:
    """The text with curly quotes, long dashes and special blanks in their plain forms.

    The answer has the length of ``text``.
    """
    return text.translate(_FORMS)


class HeaderError(Exception):
    """What is wrong with a header, in a sentence."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a header; ``quoted`` when it stood in double quotes."""

    text: str
    quoted: bool = False

    def is_keyword(self, keywords: Iterable[str]) -> bool:
        """Whether it is one of the keywords, written bare and in any case."""
        return not self.quoted and self.text.lower() in keywords


COMMA = Word(",")
"""What ``Header.take`` answers for a comma between the items of a list."""


class Header:
    """A header being read from left to right.

    Where ``has_body``, it ends at the first colon outside quotes that white space or the end
    of the text follows.
    """

    def __init__(self, text: str, start: int, *, has_body: bool) -> None:
        self._text = text
        self._plain = plain(text)
        self._at = start
        self._has_body = has_body

    def take(self, *, commas: bool = False) -> Word | None:
        """The next word, or None at the end of the header.

        With ``commas`` a bare comma is a word of its own. Raises ``HeaderError`` on a quote that
        opens nothing or closes nothing.
        """
        self._skip_blanks()
        if self._at >= len(self._plain) or self._ends_at(self._at):
            return None
        if commas and self._plain[self._at] == ",":
            self._at += 1
            return COMMA
        return self._quoted(commas) if self._plain[self._at] == '"' else self._bare(commas)

    def peek(self, *, commas: bool = False) -> Word | None:
        """The next word without taking it."""
        start = self._at
        word = self.take(commas=commas)
        self._at = start
        return word

    def rest(self) -> str:
        """The rest of the line in its plain form, quotes and all.

        Raises ``HeaderError`` where more lines follow.
        """
        self._skip_blanks()
        line, *more = self._plain[self._at :].splitlines() or [""]
        if any(other.strip() for other in more):
            raise HeaderError(
                "This command is one line, and more lines follow it. Send one command a message."
            )
        self._at = len(self._plain)
        return line.strip()

    def body(self) -> str | None:
        """What follows the colon, as it was written; None where there is no such colon."""
        self._skip_blanks()
        if not self._ends_at(self._at):
            return None
        return self._text[self._at + 1 :].strip()

    def has_colon(self) -> bool:
        """Whether the header ends in a colon at all. Raises ``HeaderError`` on a bad quote."""
        start = self._at
        while self.take(commas=True) is not None:
            pass
        found = self._ends_at(self._at)
        self._at = start
        return found

    def _skip_blanks(self) -> None:
        while self._at < len(self._plain) and self._plain[self._at].isspace():
            self._at += 1

    def _ends_at(self, at: int) -> bool:
        if not self._has_body or self._plain[at : at + 1] != ":":
            return False
        following = self._plain[at + 1 : at + 2]
        return not following or following.isspace()

    def _stops_at(self, at: int, commas: bool) -> bool:
        """Whether a word ends before ``at``."""
        if at >= len(self._plain) or self._plain[at].isspace():
            return True
        return self._ends_at(at) or (commas and self._plain[at] == ",")

    def _bare(self, commas: bool) -> Word:
        start = self._at
        while not self._stops_at(self._at, commas):
            if self._plain[self._at] == '"':
                raise HeaderError(
                    f"A double quote stands inside {self._plain[start : self._at][:40]!r}. "
                    "Quotes go around a whole value, with a blank before the first."
                )
            self._at += 1
        return Word(self._plain[start : self._at])

    def _quoted(self, commas: bool) -> Word:
        made: list[str] = []
        at = self._at + 1
        while at < len(self._plain) and self._plain[at] != '"':
            escaped = self._text[at + 1 : at + 2]
            if self._plain[at] == "\\" and escaped and _needs_escape(escaped):
                made.append(escaped)
                at += 2
            else:
                made.append(self._plain[at])
                at += 1
        if at >= len(self._plain):
            raise HeaderError("A double quote is opened and never closed.")
        if not self._stops_at(at + 1, commas):
            raise HeaderError(
                f"Something follows the closing quote of {''.join(made)[:40]!r} without a blank."
            )
        self._at = at + 1
        return Word("".join(made), quoted=True)


def quote(value: str) -> str:
    """``value`` in double quotes, so that it is read back as it is."""
    return '"' + "".join(f"\\{char}" if _needs_escape(char) else char for char in value) + '"'


def bare_or_quoted(value: str, reserved: Iterable[str] = ()) -> str:
    """``value`` as it is where that reads back as one word, else quoted.

    ``reserved`` are the keywords that a bare word would be taken for.
    """
    unsafe = (
        not value
        or value.endswith(":")
        or value.lower() in reserved
        or any(char.isspace() or char == "," or _needs_escape(char) for char in value)
    )
    return quote(value) if unsafe else value


def _needs_escape(char: str) -> bool:
    return char in '"\\' or ord(char) in _FORMS
