from typing import Any

import pytest

from bot.ports import Document, Fault
from config_do.client import ConfigClient
from tests.support.drive import run
from tests.support.objects import LocalObject, config_object


@pytest.fixture
def documents() -> LocalObject:
    return config_object()


@pytest.fixture
def cache() -> dict[str, Document]:
    return {}


def statuses(documents: LocalObject) -> list[int]:
    return [status for _, _, status in documents.calls]


def test_an_unchanged_document_costs_a_304(documents: LocalObject, cache: dict[str, Document]):
    for _ in range(3):
        assert run(ConfigClient(documents, cache).read("org")) == Document(0, {})
    assert statuses(documents) == [200, 304, 304]


def test_what_somebody_else_wrote_is_read_again(documents: LocalObject, cache: dict[str, Document]):
    ours, theirs = ConfigClient(documents, cache), ConfigClient(documents, {})
    run(ours.read("org"))
    run(theirs.swap("org", 0, {"a": 1}))
    assert dict(run(ours.read("org")).entries) == {"a": 1}


def test_a_swap_of_our_own_needs_no_new_reading(documents: LocalObject, cache: dict[str, Document]):
    ours = ConfigClient(documents, cache)
    run(ours.swap("org", 0, {"b": 1, "c": 1}))
    run(ours.read("org"))
    run(ours.swap("org", 1, {"a": {"n": 2}, "b": None}))
    document = run(ours.read("org"))
    assert document == Document(2, {"a": {"n": 2}, "c": 1})
    assert list(document.entries) == ["a", "c"]
    assert statuses(documents) == [200, 200, 200, 304]


def test_a_lost_swap_leaves_the_kept_document_alone(
    documents: LocalObject, cache: dict[str, Document]
):
    ours, theirs = ConfigClient(documents, cache), ConfigClient(documents, {})
    run(ours.read("org"))
    run(theirs.swap("org", 0, {"a": 1}))
    assert not run(ours.swap("org", 0, {"a": 2})).won
    assert run(ours.read("org")) == Document(1, {"a": 1})


def test_a_swap_won_over_a_version_that_is_not_the_kept_one_is_read_whole(
    documents: LocalObject, cache: dict[str, Document]
):
    ours, theirs = ConfigClient(documents, cache), ConfigClient(documents, {})
    run(ours.read("org"))
    run(theirs.swap("org", 0, {"a": 1}))
    assert run(ours.swap("org", 1, {"b": 2})).won
    assert run(ours.read("org")) == Document(2, {"a": 1, "b": 2})


def test_entries_that_are_shared_cannot_be_written(documents: LocalObject):
    entries: Any = run(ConfigClient(documents, {}).read("org")).entries
    with pytest.raises(TypeError):
        entries["a"] = 1


def test_only_the_organisations_document_is_kept(
    documents: LocalObject, cache: dict[str, Document]
):
    client = ConfigClient(documents, cache)
    for n in range(20):
        assert run(client.swap(f"tier-{n}", 0, {f"k{i}": "x" * 60_000 for i in range(10)})).won
        assert len(run(client.read(f"tier-{n}")).entries) == 10
    run(client.read("org"))
    assert list(cache) == ["org"]


def test_an_object_that_does_not_answer_is_a_fault_without_its_traceback(documents: LocalObject):
    documents.broken = True
    with pytest.raises(Fault, match=r"^GET /documents/org was not answered$"):
        run(ConfigClient(documents, {}).read("org"))


def test_a_swap_that_the_object_calls_malformed_is_refused_with_its_reason(documents: LocalObject):
    swap = run(ConfigClient(documents, {}).swap("org", 0, {"": 1}))
    assert (swap.won, swap.version) == (False, 0)
    assert "printable" in (swap.refusal or "")


def test_a_tier_that_the_object_does_not_know_is_a_fault(documents: LocalObject):
    with pytest.raises(Fault, match="404"):
        run(ConfigClient(documents, {}).swap("org/other", 0, {"a": 1}))


def test_a_value_that_json_cannot_say_never_leaves(documents: LocalObject):
    with pytest.raises(ValueError, match="JSON compliant"):
        run(ConfigClient(documents, {}).swap("org", 0, {"a": float("nan")}))
    assert documents.calls == []
