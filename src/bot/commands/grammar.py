"""The grammar of commands: how one is written, read, and written again (contract §5).

A command is ``NAME ARGUMENTS CLAUSES: BODY``. Arguments come first and in order, clauses after
them in any order, and where there is a body the header ends at the first colon followed by
white space. The pieces of a syntax are ``syntax.py``; how words and quotes are read is
``header.py``; whether a text is a command at all, or prose, is ``nearest.py``.

``parse`` and ``render`` are each other's inverse over arguments that ``bind`` has made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bot.commands import nearest
from bot.commands.header import COMMA, Header, HeaderError, bare_or_quoted, plain, quote
from bot.commands.syntax import (
    Arg,
    Args,
    Clause,
    Kind,
    Syntax,
    Value,
    body,
    clause,
    flag,
    line,
    option,
    option_line,
    option_list,
    quoted,
    shown_body,
    word,
    words,
)
from bot.words import Code, Refused

__all__ = [
    "MAX_TEXT",
    "Arg",
    "Args",
    "Clause",
    "Kind",
    "Malformed",
    "Named",
    "Parsed",
    "Prose",
    "Syntax",
    "Value",
    "bind",
    "body",
    "clause",
    "flag",
    "line",
    "option",
    "option_line",
    "option_list",
    "parse",
    "quoted",
    "render",
    "word",
    "words",
]

MAX_TEXT = 20_000
_NO_WIDTH = "\u200b"
# What is posted has a blank of no width in each mention and fence inside it. A command that is
# pasted back from there is the same command, so such a blank is no part of any.


class Named(Protocol):
    """What ``parse`` needs to know of a command."""

    @property
    def name(self) -> str:
        """Its name, ``schedule add``."""
        ...

    @property
    def syntax(self) -> Syntax:
        """How it is written."""
        ...


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command and its arguments: every argument of its syntax, None, [] or False if absent."""

    name: str
    args: Args


@dataclass(frozen=True, slots=True)
class Malformed:
    """A command that is not written right: what is wrong, and how the nearest one is written."""

    detail: str
    usage: str = ""

    @property
    def refusal(self) -> Refused:
        """The same as a refusal, usage and all."""
        usage = f"\nUsage: {self.usage}" if self.usage else ""
        return Refused(Code.BAD_COMMAND, self.detail + usage)


@dataclass(frozen=True, slots=True)
class Prose:
    """A text that is no command."""

    text: str


def parse(
    text: str, commands: Iterable[Named], *, strict: bool = False
) -> Parsed | Malformed | Prose:
    """Read a text as a command.

    ``strict`` is for doors where nothing is prose: what is no command is ``Malformed`` there,
    with the nearest command's usage. A text over ``MAX_TEXT`` characters is ``Malformed``
    without a look at it.
    """
    if len(text) > MAX_TEXT:
        return Malformed(
            f"The text has {len(text):,} characters, and at most {MAX_TEXT:,} are read."
        )
    text = text.replace(_NO_WIDTH, "").strip()
    syntaxes = {command.name: command.syntax for command in commands}
    found = nearest.find(plain(text), syntaxes)
    if isinstance(found, nearest.Near):
        usage = "\n".join(syntaxes[name].usage(name) for name in found.names)
        return Malformed(found.detail, usage) if found.close or strict else Prose(text)
    name, start = found
    try:
        return Parsed(name, _read(name, syntaxes, text, start))
    except _UnknownCommandError as problem:
        if not (strict or problem.close):
            return Prose(text)
        return Malformed(str(problem), syntaxes[name].usage(name))
    except HeaderError as problem:
        if not strict and nearest.is_sentence(name, plain(text)[start:]):
            return Prose(text)
        return Malformed(str(problem), syntaxes[name].usage(name))


def bind(name: str, syntax: Syntax, values: Mapping[str, Any]) -> Args | Malformed:
    """Arguments for a command from loose values, such as a model's JSON.

    Missing values become None, [] or False, whole numbers become text, a line loses its line
    breaks and is put in its plain form, a body and a phrase lose the blanks around them. What
    does not fit the syntax is ``Malformed``.
    """
    try:
        return _bind(name, syntax, values)
    except HeaderError as problem:
        return Malformed(str(problem), syntax.usage(name))


def render(name: str, syntax: Syntax, args: Mapping[str, Value]) -> str:
    """The command in chat form; ``parse`` reads ``args`` (as ``bind`` makes them) back."""
    keywords = syntax.keywords
    parts = [name]
    for arg in syntax.args:
        if args[arg.name] is not None:
            parts.append(_render_value(arg, args[arg.name], ()))
    for entry in syntax.clauses:
        value = args[entry.arg.name]
        if value in (None, False, []):
            continue
        parts.append(entry.keyword)
        if entry.arg.kind is not Kind.FLAG:
            parts.append(_render_value(entry.arg, value, keywords))
    if syntax.body is None:
        return " ".join(parts)
    prefix = f"{syntax.body.prefix} " if syntax.body.prefix else ""
    return f"{' '.join(parts)}: {prefix}{args[syntax.body.name]}"


class _UnknownCommandError(HeaderError):
    def __init__(self, name: str, close: tuple[str, ...]) -> None:
        self.close = close
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        super().__init__(f"There is no command {name[:60]!r}.{hint}")


def _read(name: str, syntaxes: Mapping[str, Syntax], text: str, start: int) -> Args:
    syntax = syntaxes[name]
    header = Header(text, start, has_body=syntax.body is not None)
    if syntax.body is not None and not header.has_colon():
        raise HeaderError(
            "The colon is missing. Write a colon and a blank, then "
            f"{shown_body(syntax.body)}, after the rest."
        )
    values: dict[str, Any] = {}
    for arg in syntax.args:
        values[arg.name] = _read_value(arg, header, {})
        if arg.kind is Kind.COMMAND and values[arg.name] is not None:
            _check_command(values[arg.name], syntaxes)
    _read_clauses(syntax, header, values)
    if syntax.body is not None:
        values[syntax.body.name] = _without_prefix(syntax.body, header.body() or "")
    return _bind(name, syntax, values)


def _read_clauses(syntax: Syntax, header: Header, values: dict[str, Any]) -> None:
    keywords = syntax.keywords
    while (found := header.take()) is not None:
        entry = None if found.quoted else keywords.get(found.text.lower())
        if entry is None:
            raise HeaderError(_unexpected(found.text, keywords))
        if entry.arg.name in values:
            raise HeaderError(f"{entry.keyword!r} is there twice.")
        if entry.arg.kind is Kind.FLAG:
            values[entry.arg.name] = True
            continue
        value = _read_value(entry.arg, header, keywords)
        if value is None or value == []:
            raise HeaderError(f"{entry.keyword!r} has no {entry.arg.shown} after it.")
        values[entry.arg.name] = value


def _read_value(arg: Arg, header: Header, keywords: Mapping[str, Clause]) -> Any:
    """One argument's value; None where the header has ended or a keyword stands there."""
    if arg.kind is Kind.LINE:
        return header.rest() or None
    if arg.kind in (Kind.WORDS, Kind.COMMAND):
        found = [taken.text for taken in iter(header.take, None)]
        return " ".join(found) if found else None
    if arg.kind is Kind.LIST:
        return _read_list(header, keywords)
    taken = header.peek()
    if taken is None or taken.is_keyword(keywords):
        return None
    if arg.kind is Kind.QUOTED and not taken.quoted:
        raise HeaderError(
            f"{taken.text[:40]!r} stands where {arg.shown} belongs. Put all of it in double "
            "quotes" + (', such as "0 9 * * 1-5".' if arg.name == "cron" else ".")
        )
    header.take()
    return taken.text


def _read_list(header: Header, keywords: Mapping[str, Clause]) -> list[str]:
    items: list[str] = []
    item: list[str] = []
    while (found := header.peek(commas=True)) is not None and not found.is_keyword(keywords):
        header.take(commas=True)
        if found is not COMMA:
            item.append(found.text)
            continue
        items.append(" ".join(item))
        item = []
    if items or item:
        items.append(" ".join(item))
    if "" in items:
        raise HeaderError("A list has nothing before or after one of its commas.")
    return items


def _check_command(name: str, syntaxes: Iterable[str]) -> None:
    wanted = name.lower()
    if not any(wanted in (known, nearest.family_of(known)) for known in syntaxes):
        raise _UnknownCommandError(name, nearest.close_names(wanted, syntaxes))


def _without_prefix(arg: Arg, text: str) -> str:
    if arg.prefix is None:
        return text
    first, *rest = text.split(maxsplit=1)[:2] or [""]
    if first.lower() != arg.prefix:
        raise HeaderError(f"After the colon comes {shown_body(arg)}.")
    return rest[0] if rest else ""


def _bind(name: str, syntax: Syntax, values: Mapping[str, Any]) -> Args:
    args = {arg.name: _bind_value(arg, values.get(arg.name)) for arg in syntax.all_args}
    unknown = sorted(set(values) - set(args))
    if unknown:
        raise HeaderError(f"There is no argument {unknown[0][:40]!r}.")
    if len(render(name, syntax, args)) > MAX_TEXT:
        raise HeaderError(f"Written out, the command is over {MAX_TEXT:,} characters.")
    return args


def _bind_value(arg: Arg, value: Any) -> Value:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        value = value.replace(_NO_WIDTH, "")
    if arg.kind is Kind.FLAG:
        if value not in (None, True, False):
            raise HeaderError(f"{arg.shown} is there or not; it takes no value.")
        return bool(value)
    if arg.kind is Kind.LIST:
        return _bind_list(arg, value)
    if value is not None and not isinstance(value, str):
        raise HeaderError(f"{arg.shown} is a text.")
    given = value is not None
    value = _normal(arg, value or "")
    if value or (given and arg.may_be_empty):
        return value
    if not arg.optional:
        raise HeaderError(f"{arg.shown} is missing.")
    return None


def _bind_list(arg: Arg, value: Any) -> list[str]:
    items: list[Any] = [] if value is None else value
    if isinstance(value, list):
        items = [i.replace(_NO_WIDTH, "") if isinstance(i, str) else i for i in items]
    if not isinstance(value, list | None) or any(not isinstance(i, str) or not i for i in items):
        raise HeaderError(f"{arg.shown} is a list of texts.")
    if not items and not arg.optional:
        raise HeaderError(f"{arg.shown} is missing.")
    return list(items)


def _normal(arg: Arg, value: str) -> str:
    if arg.kind is Kind.LINE:
        return " ".join(filter(None, (part.strip() for part in plain(value).splitlines())))
    if arg.kind is Kind.BODY:
        value = value.strip()
        if arg.prefix is not None and len(value.splitlines()) > 1:
            raise HeaderError(f"{arg.shown} is one line, and more lines follow it.")
        return value
    return _form_of(arg, value) if arg.forms and value else value


def _form_of(arg: Arg, value: str) -> str:
    given = value.split()
    for form in arg.forms:
        slots = form.split()
        made = [_word_of(got, slot) for got, slot in zip(given, slots, strict=False)]
        fits = all(
            any(char.isdigit() for char in slot) or got == slot
            for got, slot in zip(made, slots, strict=False)
        )
        if len(given) == len(slots) and fits:
            return " ".join(made)
    *most, last = arg.forms
    raise HeaderError(f"{value[:60]!r} is not one of {', '.join(most)} or {last}.")


def _word_of(got: str, slot: str) -> str:
    """A word of a phrase in its plain form: ``in 1 minute`` is ``in 1 minutes``."""
    if any(char.isdigit() for char in slot):
        return got
    return slot if f"{got.lower()}s" == slot else got.lower()


def _render_value(arg: Arg, value: Value, reserved: Iterable[str]) -> str:
    if isinstance(value, list):
        return ", ".join(_render_words(item, reserved) for item in value)
    text = str(value)
    if arg.kind is Kind.LINE:
        return text
    if arg.kind is Kind.QUOTED:
        return quote(text)
    if arg.kind in (Kind.WORDS, Kind.COMMAND):
        return _render_words(text, reserved)
    return bare_or_quoted(text, reserved)


def _render_words(text: str, reserved: Iterable[str]) -> str:
    parts = text.split(" ")
    bare = all(part and bare_or_quoted(part, reserved) == part for part in parts)
    return text if bare else quote(text)


def _unexpected(text: str, keywords: Mapping[str, Clause]) -> str:
    if not keywords:
        return f"The command ends before {text[:40]!r}."
    close = nearest.closest(text.lower(), keywords)
    hint = f"Did you mean {close}?" if close else f"Its clauses are {', '.join(keywords)}."
    return f"{text[:40]!r} is no clause of this command. {hint}"
