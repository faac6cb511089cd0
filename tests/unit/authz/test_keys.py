import pytest

from bot.authz.grants import Grant, parse_grant
from bot.authz.keys import bad_key, is_own
from bot.words import Code

WRITER = (Grant("config:write"), Grant("grant:write"), Grant("schedule:write"))


@pytest.mark.parametrize("key", ["zone", "a", "motd.en", "x:y@z_1-2", "a" * 200, "schedules"])
def test_a_setting_may_be_written(key: str):
    assert bad_key(key, WRITER) is None
    assert not is_own(key)


@pytest.mark.parametrize("key", ["", "1a", ".a", "a b", "a/b", "ä", "a\n", "a" * 201])
def test_a_malformed_key_is_refused_whoever_asks(key: str):
    refusal = bad_key(key, [Grant("all")])
    assert refusal is not None
    assert refusal.code is Code.BAD_KEY


@pytest.mark.parametrize("key", ["schedules.nightly", "grants.web:alice", "grants.web:a+b@c.de"])
def test_the_products_own_keys_are_for_who_holds_all(key: str):
    refusal = bad_key(key, WRITER)
    assert refusal is not None
    assert "the product's own" in refusal.detail
    assert is_own(key)
    assert bad_key(key, [Grant("all")]) is None


def test_all_on_some_resource_is_not_all():
    narrow = parse_grant("all on acme/*")
    assert isinstance(narrow, Grant)
    assert bad_key("grants.web:alice", [narrow]) is not None
