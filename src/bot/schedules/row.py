"""A stored schedule: one row of the org document, under ``schedules.<name>`` (contract §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from bot.authz.grants import Grant, parse_grants
from bot.schedules.cron import Cron, parse, parse_zone
from bot.words import Code, Refused

PREFIX = "schedules."
MAX_ROWS = 100
MAX_TEXT = 4000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
_WINDOW = re.compile(r"([1-9][0-9]{0,4})(m|h|d)", re.ASCII)
_MINUTES = {"m": 1, "h": 60, "d": 1440}


MAX_WHY = 300

LAST_MS = 253_370_764_800_000
Moment = Annotated[int, Field(ge=0, lt=LAST_MS)]
"""Epoch milliseconds before the year 9999: what can be shown as a date."""


class StoredRow(BaseModel):
    """The row as it is stored. Times are epoch milliseconds.

    ``last_fired_at`` is the base of the due arithmetic: a claim, a resume and a clock repair
    move it. ``last_claimed_at`` is when ``last_due_at`` was claimed and moves with claims
    alone, so that a claim with no run stays visible through a resume.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, strict=True, extra="allow"
    )

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")
    name: str
    cron: str
    zone: str
    text: str
    channel: str
    thread: Literal["new", "standing"]
    thread_key: str | None = None
    grants: list[str]
    enabled: bool = True
    paused_reason: str | None = None
    window: str | None = None
    created_by: str
    created_at: Moment
    last_fired_at: Annotated[int, Field(ge=0)] | None = None
    last_due_at: Moment | None = None
    last_run_id: str | None = None
    last_claimed_at: Moment | None = None
    last_skipped: bool | None = None
    coalesced: int | None = Field(default=None, ge=0, le=1_000_000)


@dataclass(frozen=True, slots=True)
class Row:
    """A stored row that parses, with its expression, zone, grants and window read."""

    stored: StoredRow
    cron: Cron
    zone: ZoneInfo
    grants: tuple[Grant, ...]
    window_ms: int | None

    @property
    def name(self) -> str:
        """The row's name."""
        return self.stored.name

    @property
    def key(self) -> str:
        """Its key in the org document."""
        return PREFIX + self.stored.name


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """An entry under ``schedules.`` that no longer parses, and why."""

    name: str
    entry: Any
    reason: str

    @property
    def key(self) -> str:
        """Its key in the org document."""
        return PREFIX + self.name

    @property
    def fields(self) -> Mapping[str, Any] | None:
        """The entry's fields, where it is an object at all."""
        entry = self.entry
        return cast("Mapping[str, Any]", entry) if isinstance(entry, Mapping) else None


def bad_name(name: str) -> Refused | None:
    """Whether a schedule may bear that name; None is yes."""
    if _NAME.fullmatch(name):
        return None
    return Refused(
        Code.BAD_NAME,
        f"{name[:80]!r} is not a schedule's name. Use 1 to 63 lower-case letters, digits and "
        "hyphens, starting with a letter or a digit.",
    )


def parse_window(text: str) -> int | Refused:
    """Read a window such as ``90m``, ``2h`` or ``1d`` as milliseconds."""
    match = _WINDOW.fullmatch(text)
    minutes = int(match[1]) * _MINUTES[match[2]] if match else 0
    if not 1 <= minutes <= 366 * 1440:
        return Refused(
            Code.BAD_WINDOW,
            f"{text[:40]!r} is not a window. Write a number with m, h or d, such as 90m or 2h, "
            "up to 366d.",
        )
    return minutes * 60_000


def bad_text(text: str) -> Refused | None:
    """Whether a schedule may carry that text; None is yes."""
    if "\0" in text:
        return Refused(Code.BAD_TEXT, "The text holds a NUL character. Write it without.")
    if text.strip() and len(text) <= MAX_TEXT:
        return None
    problem = "is empty" if not text.strip() else f"has {len(text):,} characters"
    return Refused(
        Code.BAD_TEXT, f"The text {problem}. Write 1 to {MAX_TEXT:,} characters after the colon."
    )


def read_row(name: str, entry: Any) -> Row | BrokenRow:
    """Read one stored entry; whatever is wrong with it becomes a ``BrokenRow``."""
    try:
        stored = StoredRow.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the row"
        return _broken(name, entry, f"{where}: {first['msg']}")
    if stored.name != name:
        return _broken(name, entry, f"name: the row under {name} calls itself {stored.name}")
    cron, zone = parse(stored.cron), parse_zone(stored.zone)
    grants = parse_grants(stored.grants)
    window = parse_window(stored.window) if stored.window is not None else None
    refusal = bad_name(name) or bad_text(stored.text)
    for part in (cron, zone, grants, window, refusal):
        if not isinstance(part, Refused):
            continue
        return _broken(name, entry, f"{part.code}: {part.detail}")
    assert isinstance(cron, Cron) and isinstance(zone, ZoneInfo)
    assert isinstance(grants, tuple) and not isinstance(window, Refused)
    return Row(stored, cron, zone, grants, window)


def _broken(name: str, entry: Any, reason: str) -> BrokenRow:
    kept = reason if len(reason) <= MAX_WHY else f"{reason[: MAX_WHY - 1]}…"
    return BrokenRow(name, entry, kept)


def rows_of(entries: Mapping[str, Any]) -> list[Row | BrokenRow]:
    """Every stored schedule of an org document, by name.

    Run ids are made from a row's id, so of rows that bear the same one only one may fire: the
    one that was created first, or else the first by name. Each other is broken.

    What was read of an entry is kept for as long as the document holds that same object: a
    tick reads again only the rows that were written since the last one.
    """
    rows = [_row_under(key, entries[key]) for key in sorted(entries) if key.startswith(PREFIX)]
    bearers: dict[str, Row] = {}
    for row in rows:
        if isinstance(row, Row):
            known = bearers.setdefault(row.stored.id, row)
            if row.stored.created_at < known.stored.created_at:
                bearers[row.stored.id] = row
    return [_alone(row, entries[row.key], bearers) for row in rows]


def _alone(row: Row | BrokenRow, entry: Any, bearers: Mapping[str, Row]) -> Row | BrokenRow:
    if isinstance(row, BrokenRow) or bearers[row.stored.id] is row:
        return row
    bearer = bearers[row.stored.id].name
    return _broken(row.name, entry, f"id: {row.stored.id} is the id of {bearer} already")


def row_named(entries: Mapping[str, Any], name: str) -> Row | BrokenRow | None:
    """The stored schedule of that name, as it stands among the others."""
    return next((row for row in rows_of(entries) if row.name == name), None)


_KEPT = 4 * MAX_ROWS
_kept: dict[str, tuple[Any, Row | BrokenRow]] = {}


def _row_under(key: str, entry: Any) -> Row | BrokenRow:
    kept = _kept.get(key)
    if kept is not None and kept[0] is entry:
        return kept[1]
    row = read_row(key.removeprefix(PREFIX), entry)
    if len(_kept) >= _KEPT:
        _kept.clear()
    _kept[key] = (entry, row)
    return row


def dump_row(stored: StoredRow) -> dict[str, Any]:
    """The row as the document keeps it: camel-case names, absent values left out."""
    return stored.model_dump(by_alias=True, exclude_none=True)
