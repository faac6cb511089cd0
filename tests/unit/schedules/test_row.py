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


class TestRowsWithOneId:
    def same(self, *names, **created):
        return {
            PREFIX + name: entry(name, id="row1", **({"created_at": at} if at else {}))
            for name, at in {**dict.fromkeys(names, 0), **created}.items()
        }

    def standing(self, rows):
        return [row.name for row in rows if isinstance(row, Row)]

    def test_only_the_one_that_was_created_first_counts(self):
        rows = rows_of(self.same(aaa=3, mmm=1, zzz=2))
        assert self.standing(rows) == ["mmm"]
        assert [row.name for row in rows] == ["aaa", "mmm", "zzz"]
        assert all("row1 is the id of mmm" in r.reason for r in rows if isinstance(r, BrokenRow))

    def test_a_younger_row_of_any_name_changes_nothing_about_which_one_counts(self):
        for name in ("aaa", "zzz"):
            assert self.standing(rows_of(self.same(mmm=1, **{name: 2}))) == ["mmm"]

    def test_of_two_that_were_created_at_once_the_first_by_name_counts(self):
        assert self.standing(rows_of(self.same("one", "two"))) == ["one"]

    def test_the_other_reads_again_once_it_is_alone(self):
        entries = self.same("one", "two")
        rows_of(entries)
        del entries[PREFIX + "one"]
        assert self.standing(rows_of(entries)) == ["two"]

    def test_one_that_is_broken_takes_no_id_from_another(self):
        entries = self.same(aaa=1, bbb=2)
        entries[PREFIX + "aaa"]["cron"] = "61 * * * *"
        assert self.standing(rows_of(entries)) == ["bbb"]


def test_a_reason_is_bounded_whatever_the_entry_holds():
    (row,) = rows_of({PREFIX + "one": {**entry("one"), "name": "x" * 60_000}})
    assert isinstance(row, BrokenRow)
    assert len(row.reason) <= module.MAX_WHY


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
