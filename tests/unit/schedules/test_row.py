"""What is read of the org document, and what of it is read again."""

from __future__ import annotations

import pytest

from bot.schedules import row as module
from bot.schedules.row import PREFIX, BrokenRow, Row, rows_of
from tests.unit.builders import entry


@pytest.fixture(autouse=True)
def read(monkeypatch):
    """The names that were read, in order."""
    names = []
    reading = module.read_row

    def counted(name, found):
        names.append(name)
        return reading(name, found)

    monkeypatch.setattr(module, "read_row", counted)
    monkeypatch.setattr(module, "_kept", {})
    return names


def document(*names, **others):
    return {**{PREFIX + name: entry(name) for name in names}, **others}


class TestRowsOf:
    def test_are_the_schedules_of_the_document_by_name(self):
        rows = rows_of(document("two", "one", zone="UTC"))
        assert [row.name for row in rows] == ["one", "two"]

    def test_hold_an_entry_that_does_not_read_with_its_reason(self):
        (row,) = rows_of({PREFIX + "bad": {**entry("bad"), "cron": "0 3 * *"}})
        assert isinstance(row, BrokenRow)
        assert row.reason.startswith("bad_cron")


class TestReadingAgain:
    def test_entries_that_nobody_wrote_are_not_read_again(self, read):
        entries = document("one", "two")
        first = rows_of(entries)
        assert rows_of(dict(entries)) == first
        assert read == ["one", "two"]

    def test_an_entry_that_was_written_is(self, read):
        entries = document("one", "two")
        rows_of(entries)
        written = {**entries, PREFIX + "two": {**entries[PREFIX + "two"], "enabled": False}}
        one, two = rows_of(written)
        assert isinstance(one, Row) and one.stored.enabled
        assert isinstance(two, Row) and not two.stored.enabled
        assert read == ["one", "two", "two"]

    def test_an_entry_that_reads_the_same_and_is_another_is_read_again(self, read):
        for _ in range(2):
            rows_of(document("one"))
        assert read == ["one", "one"]

    def test_a_row_that_was_removed_is_gone(self):
        entries = document("one", "two")
        rows_of(entries)
        assert [row.name for row in rows_of(document("two"))] == ["two"]

    def test_what_is_kept_is_bounded(self):
        for number in range(3 * module.MAX_ROWS):
            rows_of(document(f"row-{number}", f"other-{number}"))
        assert len(module._kept) <= module._KEPT
