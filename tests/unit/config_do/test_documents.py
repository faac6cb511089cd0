import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config_do.documents import MIGRATIONS, Documents, Lost, TooLarge, Won, bad_change
from tests.support.sql import MemorySql

KEYS = st.sampled_from(["a", "b", "grants.web:alice", "schedules.nightly", 'q"uote\\d', "é🎉"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
CHANGES = st.dictionaries(KEYS, VALUES, max_size=4)


def entries(documents: Documents, tier: str = "org") -> dict[str, Any]:
    return json.loads(documents.read(tier).entries)


@given(st.lists(st.tuples(st.integers(0, 3), CHANGES), max_size=12))
@settings(deadline=None, derandomize=True)
def test_a_document_is_what_its_won_swaps_made_of_it(swaps: list[tuple[int, dict[str, Any]]]):
    sql = MemorySql()
    documents, model, version = Documents(sql), {}, 0
    for behind, changes in swaps:
        changes = {key: value for key, value in changes.items() if not bad_change(key, value)}
        swap = documents.swap("org", version - behind, changes)
        if behind:
            assert swap == Lost(version)
            continue
        version += 1
        assert swap == Won(version)
        model = {k: v for k, v in {**model, **changes}.items() if v is not None}
    assert entries(documents) == model
    assert list(entries(documents)) == sorted(model)
    [truth] = sql.exec("SELECT COUNT(*) AS entries, TOTAL(bytes) AS bytes FROM entries")
    if version:
        [kept] = sql.exec("SELECT entries, bytes FROM documents")
        assert kept == truth


def test_a_swap_writes_the_entries_that_it_changes_and_no_others():
    sql = MemorySql()
    documents = Documents(sql)
    documents.swap("org", 0, {f"k{n}": n for n in range(400)})
    before = sql.connection.total_changes
    documents.swap("org", 1, {"k7": "new", "k8": None})
    assert sql.connection.total_changes - before == 3


def test_a_document_takes_a_mebibyte_to_the_byte():
    documents = Documents(MemorySql())
    fifteen = {f"k{n:02}": "x" * (65_536 - 3 - 2) for n in range(15)}
    assert documents.swap("org", 0, fifteen) == Won(1)
    last = 65_536 - 3 - 2
    assert isinstance(documents.swap("org", 1, {"k15": "x" * (last + 1)}), TooLarge)
    assert documents.swap("org", 1, {"k15": "x" * last}) == Won(2)
    assert isinstance(documents.swap("org", 2, {"k": 1}), TooLarge)
    assert documents.swap("org", 2, {"k15": "x" * (last - 1)}) == Won(3)
    assert isinstance(documents.swap("org", 3, {"k": 1}), TooLarge)
    assert documents.swap("org", 3, {"k": 1, "k15": None}) == Won(4)


VALUE = 65_536
KIB = 1024


def text(key: str, size: int) -> str:
    """A value that makes an entry of ``size`` bytes, key included."""
    return "x" * (size - len(key) - 2)


class Full:
    """A document of a mebibyte to the byte; ``rows`` of it are schedules of 16 KiB."""

    def __init__(self, rows: int):
        self.documents = Documents(MemorySql())
        self.version = 0
        names = [f"schedules.row{n:02}" for n in range(rows)]
        rest = 1024 * KIB - rows * 16 * KIB
        self.put({name: text(name, 16 * KIB) for name in names})
        for n in range(rest // (32 * KIB)):
            self.put({f"k{n:02}": text(f"k{n:02}", 32 * KIB)})

    def swap(self, changes: dict[str, Any], *, upkeep: bool = False) -> Won | Lost | TooLarge:
        swap = self.documents.swap("org", self.version, changes, upkeep=upkeep)
        if isinstance(swap, Won):
            self.version = swap.version
        return swap

    def put(self, changes: dict[str, Any]) -> None:
        assert isinstance(self.swap(changes), Won)


class TestTheReserves:
    def grown(self, n: int, more: int) -> dict[str, Any]:
        name = f"schedules.row{n:02}"
        return {name: text(name, 16 * KIB + more)}

    def test_nothing_but_standing_schedules_may_grow_into_one(self):
        full = Full(rows=16)
        for changes in (
            {"k00": text("k00", 32 * KIB + 1)},
            {"schedules.new": 1},
            {**self.grown(0, 0), "other": 1},
        ):
            assert isinstance(full.swap(changes, upkeep=True), TooLarge)
        assert isinstance(full.swap(self.grown(0, 1)), Won)

    def test_a_claim_has_one_that_no_other_write_can_use_up(self):
        full = Full(rows=16)
        for n in range(3):
            full.put(self.grown(n, 40 * KIB))
        full.put(self.grown(3, 8 * KIB))
        assert isinstance(full.swap(self.grown(4, 1)), TooLarge)
        assert isinstance(full.swap(self.grown(4, 1), upkeep=True), Won)
        for n in range(5, 8):
            assert isinstance(full.swap(self.grown(n, 40 * KIB), upkeep=True), Won)
        assert isinstance(full.swap(self.grown(8, 8 * KIB), upkeep=True), TooLarge)

    def test_a_value_of_full_size_may_be_paused_and_then_claimed(self):
        documents = Documents(MemorySql())
        name = "schedules.row"
        assert documents.swap("org", 0, {name: "x" * (VALUE - 2)}) == Won(1)
        paused, claimed = "x" * (VALUE + 4 * KIB - 2), "x" * (VALUE + 8 * KIB - 2)
        assert documents.swap("org", 1, {name: paused}) == Won(2)
        assert isinstance(documents.swap("org", 2, {name: f"{paused}x"}), TooLarge)
        assert documents.swap("org", 2, {name: claimed}, upkeep=True) == Won(3)
        assert isinstance(documents.swap("org", 3, {name: f"{claimed}x"}, upkeep=True), TooLarge)
        assert isinstance(documents.swap("org", 3, {"other": paused}, upkeep=True), TooLarge)

    def test_a_document_that_grew_beyond_its_limit_may_be_made_smaller_by_anybody(self):
        full = Full(rows=16)
        assert isinstance(full.swap(self.grown(0, 40 * KIB), upkeep=True), Won)
        full.put({"k00": text("k00", 32 * KIB - 1)})
        assert isinstance(full.swap({"k00": text("k00", 32 * KIB)}), TooLarge)
        full.put({"k00": None})


def test_bytes_are_counted_as_utf8():
    documents = Documents(MemorySql())
    assert isinstance(documents.swap("org", 0, {"a": "é" * 32_768}), TooLarge)
    assert documents.swap("org", 0, {"a": "é" * 32_767}) == Won(1)


def test_what_needs_the_most_escaping_is_stored_whole():
    documents = Documents(MemorySql())
    awkward = {f"k{n}": '\\"' * 16_000 for n in range(15)}
    assert documents.swap("org", 0, awkward) == Won(1)
    assert entries(documents) == awkward


class FailingSql(MemorySql):
    failing_at = "nothing"

    def exec(self, statement: str, *params: Any) -> Sequence[Mapping[str, Any]]:
        if self.failing_at in statement:
            raise RuntimeError("out of disk")
        return super().exec(statement, *params)


def test_a_swap_that_breaks_halfway_leaves_nothing():
    sql = FailingSql()
    documents = Documents(sql)
    documents.swap("org", 0, {"a": 1, "b": 1})
    sql.failing_at = "INTO documents"
    with pytest.raises(RuntimeError, match="out of disk"):
        documents.swap("org", 1, {"a": 2, "b": None})
    assert (documents.version("org"), entries(documents)) == (1, {"a": 1, "b": 1})


def test_an_object_that_starts_again_finds_its_documents_and_migrates_nothing():
    sql = MemorySql()
    Documents(sql).swap("org", 0, {"a": 1})
    again = Documents(sql)
    assert (again.version("org"), entries(again)) == (1, {"a": 1})
    assert [row["number"] for row in sql.exec("SELECT number FROM migrations")] == [
        number for number, _ in enumerate(MIGRATIONS, start=1)
    ]


@pytest.mark.parametrize("key", ["", "x" * 201, "two\nlines", "nul\x00", "half\ud83d"])
def test_a_key_is_1_to_200_printable_characters(key: str):
    assert bad_change(key, 1)
    assert bad_change("x" * 200, 1) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "half \ud83d", {"half \ud83d": 1}])
def test_a_value_that_json_cannot_say_is_refused(value: Any):
    assert bad_change("a", value)


def test_a_value_nests_32_deep():
    value: Any = 1
    for _ in range(32):
        value = [value]
    assert bad_change("a", value) is None
    assert bad_change("a", {"one more": value})
