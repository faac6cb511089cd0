"""What a command's syntax is made of, declared as data, and the usage line it prints."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Value = str | list[str] | bool | None
Args = dict[str, Value]


class Kind(StrEnum):
    """What an argument's value is made of."""

    WORD = "word"
    """One word, quoted where it holds blanks."""
    QUOTED = "quoted"
    """One word that must be quoted."""
    WORDS = "words"
    """Every word that is left in the header."""
    COMMAND = "command"
    """Every word that is left, which name a command or a family of commands."""
    LINE = "line"
    """The rest of the line, quotes and colons included, in its plain form."""
    LIST = "list"
    """Items of one or more words, with commas between them."""
    FLAG = "flag"
    """The keyword alone."""
    BODY = "body"
    """What follows the header's colon, as it was written."""


@dataclass(frozen=True, slots=True)
class Arg:
    """One argument: its name, how the usage shows it, and what it is made of.

    ``forms``: the phrases that a ``WORDS`` argument may be; in a form a word with a digit
    stands for any word. ``prefix``: the word that a ``BODY`` must start with; such a body is
    one line.
    """

    name: str
    shown: str
    kind: Kind = Kind.WORD
    optional: bool = False
    forms: tuple[str, ...] = ()
    prefix: str | None = None
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A keyword and the argument after it; a flag is its keyword alone."""

    keyword: str
    arg: Arg


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a command is written after its name."""

    args: tuple[Arg, ...] = ()
    clauses: tuple[Clause, ...] = ()
    body: Arg | None = None

    @property
    def all_args(self) -> tuple[Arg, ...]:
        """Every argument, in the order of the usage."""
        body = (self.body,) if self.body else ()
        return (*self.args, *(clause.arg for clause in self.clauses), *body)

    @property
    def keywords(self) -> dict[str, Clause]:
        """Its clauses by keyword."""
        return {clause.keyword: clause for clause in self.clauses}

    def usage(self, name: str) -> str:
        """How the command is written, as the contract writes it."""
        parts = [name]
        parts += [f"[{arg.shown}]" if arg.optional else arg.shown for arg in self.args]
        for clause in self.clauses:
            flag = clause.arg.kind is Kind.FLAG
            text = clause.keyword if flag else f"{clause.keyword} {clause.arg.shown}"
            parts.append(f"[{text}]" if clause.arg.optional else text)
        header = " ".join(parts)
        return f"{header}: {shown_body(self.body)}" if self.body else header


def word(name: str, shown: str | None = None, *, optional: bool = False) -> Arg:
    """One word."""
    return Arg(name, shown or name.upper(), optional=optional)


def quoted(name: str) -> Arg:
    """One word in double quotes."""
    return Arg(name, f'"{name.upper()}"', Kind.QUOTED)


def words(name: str, *, optional: bool = False, forms: tuple[str, ...] = ()) -> Arg:
    """All the words that are left; with ``forms``, one of those phrases."""
    return Arg(name, "|".join(forms) or name.upper(), Kind.WORDS, optional, forms)


def line(name: str, *, optional: bool = False) -> Arg:
    """The rest of the line."""
    return Arg(name, name.upper(), Kind.LINE, optional)


def body(name: str, *, prefix: str | None = None, may_be_empty: bool = False) -> Arg:
    """What follows the colon. One that ``may_be_empty`` is judged by its command."""
    return Arg(name, name.upper(), Kind.BODY, prefix=prefix, may_be_empty=may_be_empty)


def clause(keyword: str, name: str | None = None, shown: str | None = None) -> Clause:
    """A clause that must be there."""
    return Clause(keyword, word(name or keyword, shown))


def option(keyword: str, name: str | None = None, shown: str | None = None) -> Clause:
    """A clause that may be left out."""
    return Clause(keyword, word(name or keyword, shown, optional=True))


def option_line(keyword: str, name: str) -> Clause:
    """A clause that may be left out and takes the rest of the line."""
    return Clause(keyword, line(name, optional=True))


def option_list(keyword: str, shown: str) -> Clause:
    """A clause that may be left out and takes a list."""
    return Clause(keyword, Arg(keyword, shown, Kind.LIST, optional=True))


def flag(keyword: str) -> Clause:
    """A keyword that is there or not."""
    return Clause(keyword, Arg(keyword, keyword, Kind.FLAG, optional=True))


def shown_body(arg: Arg) -> str:
    """How the usage shows a body, its prefix included."""
    return f"{arg.prefix} {arg.shown}" if arg.prefix else arg.shown
