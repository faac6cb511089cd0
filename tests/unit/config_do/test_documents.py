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
