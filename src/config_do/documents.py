"""The document store: a map of entries per tier, swapped as one. Pure over ``Sql``.

A document has one version for all of its entries and one row an entry, so that a swap writes
what changed and no more. Everything here is synchronous: an object that awaited between the
read and the write of a swap would lose its atomicity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from bot.objects import Sql, dump, migrate
from bot.ports import Json

TIER = re.compile(r"[a-z0-9][a-z0-9:_.@-]{0,127}", re.ASCII)
MAX_KEY_CHARACTERS = 200
MAX_VALUE_BYTES = 64 * 1024
MAX_VALUE_DEPTH = 32
MAX_DOCUMENT_BYTES = 1024 * 1024
RESERVED_FOR = "schedules."
RESERVE_BYTES = 128 * 1024
VALUE_RESERVE_BYTES = 4 * 1024
"""Entries under the prefix that stand already may grow beyond the limits. There are two reserves
of these sizes, of a document and of a value. The first is for every change of such entries: a
full document must not keep a person from pausing a schedule. The second is for upkeep alone: a
claim makes its row a few hundred bytes larger, and nothing that a person writes may silence it."""
MAX_ENTRIES = 2_000
MAX_CHANGES = 500

MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE documents (
             tier TEXT PRIMARY KEY,
             version INTEGER NOT NULL,
             entries INTEGER NOT NULL,
             bytes INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE entries (
             tier TEXT NOT NULL,
             key TEXT NOT NULL,
             value TEXT NOT NULL,
             bytes INTEGER NOT NULL,
             PRIMARY KEY (tier, key)
           ) STRICT, WITHOUT ROWID""",
    ),
)

_CHUNK_BYTES = 256 * 1024
"""What one parameter carries: escaped twice it stays well below the platform's 2 MB."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as stored: its version, its entries as the text of one JSON object."""

    version: int
    entries: str


@dataclass(frozen=True, slots=True)
class Won:
    """The swap was made; the document's new version."""

    version: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The version was not the expected one; nothing was written."""

    version: int


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The change would pass a limit; nothing was written. ``detail`` names the limit."""

    detail: str


@dataclass(frozen=True, slots=True)
class _Totals:
    version: int = 0
    entries: int = 0
    bytes: int = 0


class Documents:
    """Every tier's document. Bytes are of UTF-8, key and JSON text together."""

    def __init__(self, sql: Sql):
        self._sql = sql
        migrate(sql, MIGRATIONS)

    def version(self, tier: str) -> int:
        """The tier's version; 0 where nothing was ever written."""
        return self._totals(tier).version

    def read(self, tier: str) -> Stored:
        """The tier's document, its entries in the order of their keys."""
        # SQLite puts the object together, so that one string crosses and no row does.
        rows = self._sql.exec(
            """SELECT '{' || COALESCE(GROUP_CONCAT(json_quote(key) || ':' || value), '') || '}'
                      AS entries
               FROM (SELECT key, value FROM entries WHERE tier = ? ORDER BY key)""",
            tier,
        )
        return Stored(self.version(tier), rows[0]["entries"])

    def swap(
        self,
        tier: str,
        expected_version: int,
        changes: Mapping[str, Json],
        *,
        upkeep: bool = False,
    ) -> Won | Lost | TooLarge:
        """Write ``changes`` (None removes a key) if the version is still ``expected_version``.

        Every swap that is won adds one to the version. The limits are judged on the document as
        it would stand; one that is over them may always be made smaller. ``upkeep`` opens the
        second reserve to standing schedules. Raises ValueError for a key or a value that
        ``bad_change`` names.
        """
        texts = {key: None if value is None else dump(value) for key, value in changes.items()}
        return self._sql.transaction(lambda: self._swap(tier, expected_version, texts, upkeep))

    def _swap(
        self, tier: str, expected_version: int, texts: Mapping[str, str | None], upkeep: bool
    ) -> Won | Lost | TooLarge:
        before = self._totals(tier)
        if before.version != expected_version:
            return Lost(before.version)
        old = self._sizes(tier, list(texts))
        new = {key: (text, _size(key, text)) for key, text in texts.items() if text is not None}
        after = _Totals(
            before.version + 1,
            before.entries - len(old) + len(new),
            before.bytes - sum(old.values()) + sum(size for _, size in new.values()),
        )
        over = _over_limit(texts, before, after, reserves=_reserves(texts, old, upkeep))
        if over is not None:
            return TooLarge(over)
        self._remove(tier, [key for key in old if key not in new])
        self._write(tier, new)
        self._sql.exec(
            "INSERT OR REPLACE INTO documents (tier, version, entries, bytes) VALUES (?, ?, ?, ?)",
            tier,
            after.version,
            after.entries,
            after.bytes,
        )
        return Won(after.version)

    def _totals(self, tier: str) -> _Totals:
        rows = self._sql.exec("SELECT version, entries, bytes FROM documents WHERE tier = ?", tier)
        return _Totals(**rows[0]) if rows else _Totals()

    def _sizes(self, tier: str, keys: Sequence[str]) -> dict[str, int]:
        """The size of each of ``keys`` that the document holds."""
        rows = self._sql.exec(
            """SELECT entries.key, entries.bytes FROM json_each(?) AS asked
               JOIN entries ON entries.tier = ? AND entries.key = asked.value""",
            dump(keys),
            tier,
        )
        return {row["key"]: row["bytes"] for row in rows}

    def _remove(self, tier: str, keys: Sequence[str]) -> None:
        if keys:
            self._sql.exec(
                "DELETE FROM entries WHERE tier = ? AND key IN (SELECT value FROM json_each(?))",
                tier,
                dump(keys),
            )

    def _write(self, tier: str, new: Mapping[str, tuple[str, int]]) -> None:
        # One JSON parameter carries many rows: each parameter of its own costs a crossing.
        for rows in _chunks([(key, text, size) for key, (text, size) in new.items()]):
            self._sql.exec(
                """INSERT OR REPLACE INTO entries (tier, key, value, bytes)
                   SELECT ?, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)""",
                tier,
                dump(rows),
            )


def bad_change(key: str, value: Json) -> str | None:
    """Why an entry cannot be written at all, whatever the document holds; None if it can."""
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS or not key.isprintable():
        return f"A key has 1 to {MAX_KEY_CHARACTERS} printable characters."
    if _deeper_than(value, MAX_VALUE_DEPTH):
        return f"{key}: a value nests at most {MAX_VALUE_DEPTH} deep."
    try:
        dump(value)
    except ValueError:
        return f"{key}: the value is not JSON in whole Unicode characters."
    return None


def _deeper_than(value: Json, levels: int) -> bool:
    if isinstance(value, dict):
        inner = list(cast(dict[str, Json], value).values())
    elif isinstance(value, list):
        inner = cast(list[Json], value)
    else:
        return False
    return levels == 0 or any(_deeper_than(each, levels - 1) for each in inner)


def _reserves(texts: Mapping[str, str | None], old: Mapping[str, int], upkeep: bool) -> int:
    """How many of the reserves a change may grow into."""
    if not all(key.startswith(RESERVED_FOR) and key in old for key in texts):
        return 0
    return 2 if upkeep else 1


def _over_limit(
    texts: Mapping[str, str | None], before: _Totals, after: _Totals, *, reserves: int
) -> str | None:
    if len(texts) > MAX_CHANGES:
        return f"One change may touch {MAX_CHANGES} keys, not {len(texts):,}."
    most = MAX_VALUE_BYTES + reserves * VALUE_RESERVE_BYTES
    for key, text in texts.items():
        if text is not None and len(text.encode()) > most:
            return f"{key}: a value may take {most:,} bytes of JSON."
    if after.entries > MAX_ENTRIES:
        return f"A document may hold {MAX_ENTRIES:,} entries."
    most = MAX_DOCUMENT_BYTES + reserves * RESERVE_BYTES
    if after.bytes > max(most, before.bytes):
        return f"A document may take {most:,} bytes."
    return None


def _size(key: str, text: str) -> int:
    return len(key.encode()) + len(text.encode())


def _chunks(rows: Sequence[tuple[str, str, int]]) -> Iterator[list[tuple[str, str, int]]]:
    chunk: list[tuple[str, str, int]] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += row[2]
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
