from typing import Any

import pytest

from bot.authz.actor import Actor, Surface
from bot.authz.members import is_stranger, turned_away
from bot.words import Code

ADA = Actor(Surface.TELEGRAM, "500")
NOBODY: frozenset[str] = frozenset()


def stranger(**known: Any) -> bool:
    """Whether Ada, who writes in the group -1001, is a stranger where only ``known`` is known."""
    values = {"members": NOBODY, "linked": False, "entries": {}, "admins": NOBODY}
    return is_stranger(ADA, ["-1001"], **{**values, **known})


def test_where_no_members_are_named_everybody_is_let_in():
    assert not stranger(members=None)


def test_members_that_name_nobody_let_nobody_in():
    assert stranger()


@pytest.mark.parametrize("members", [{"500"}, {"-1001"}, {"7", "500"}])
def test_a_member_is_let_in_and_so_is_who_writes_in_a_group_that_is(members: set[str]):
    assert not stranger(members=frozenset(members))


@pytest.mark.parametrize("members", [{"50"}, {"5000"}, {"-500"}, {"1001"}, {"-100"}])
def test_an_id_that_is_only_alike_lets_nobody_in(members: set[str]):
    assert stranger(members=frozenset(members))


@pytest.mark.parametrize(
    "known",
    [
        {"linked": True},
        {"admins": frozenset({"telegram:500"})},
        {"entries": {"grants.telegram:500": ["schedule:read"]}},
    ],
    ids=str,
)
def test_whom_somebody_vouched_for_is_let_in(known: dict[str, Any]):
    assert not stranger(**known)


@pytest.mark.parametrize(
    "known",
    [
        {"admins": frozenset({"telegram:501", "web:500"})},
        {"entries": {"grants.telegram:501": ["all"]}},
        {"entries": {"grants.telegram:500": []}},
        {"entries": {"grants.telegram:500": ["nothing real"]}},
        {"entries": {"grants.telegram:500": "all"}},
    ],
    ids=str,
)
def test_what_vouches_for_nobody_lets_nobody_in(known: dict[str, Any]):
    assert stranger(**known)


def test_who_is_turned_away_is_told_who_they_are_and_how_to_be_let_in():
    refusal = turned_away(ADA)
    assert refusal.code is Code.FORBIDDEN
    for words in ("TELEGRAM_MEMBERS", "grant add telegram:500", "/start CODE"):
        assert words in refusal.detail
