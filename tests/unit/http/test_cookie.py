from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.http.cookie import LIFETIME_MS, Session, find, fingerprint, seal, set_cookie, unseal

NOW = 1_780_000_000_000
SESSION = Session("alice", NOW + LIFETIME_MS, "CSRF", fingerprint("key", "token"))


def test_a_sealed_session_opens_until_it_expires() -> None:
    value = seal("key", SESSION)
    assert unseal("key", value, NOW) == SESSION
    assert unseal("key", value, SESSION.exp - 1) == SESSION
    assert unseal("key", value, SESSION.exp) is None


@given(st.data())
def test_a_session_with_any_character_changed_does_not_open(data: st.DataObject) -> None:
    value = seal("key", SESSION)
    place = data.draw(st.integers(0, len(value) - 1))
    letter = data.draw(st.characters().filter(lambda each: each != value[place]))
    assert unseal("key", value[:place] + letter + value[place + 1 :], NOW) is None


@given(st.text())
def test_no_text_is_a_session(text: str) -> None:
    assert unseal("key", text, NOW) is None


def test_a_session_opens_under_its_own_key_only() -> None:
    assert unseal("other", seal("key", SESSION), NOW) is None


def test_an_empty_key_opens_nothing_not_even_what_it_sealed() -> None:
    assert unseal("", seal("", SESSION), NOW) is None


def test_a_fingerprint_tells_tokens_apart_and_shows_none() -> None:
    assert fingerprint("key", "token") != fingerprint("key", "other")
    assert fingerprint("key", "token") != fingerprint("other", "token")
    assert "token" not in fingerprint("key", "token")


def test_the_cookie_is_found_among_others_by_its_whole_name() -> None:
    assert find({"cookie": "a=1; session=abc ; my_session=x"}) == "abc"
    assert find({"cookie": "my_session=x"}) is None
    assert find({}) is None


def test_two_cookies_of_the_name_are_no_session() -> None:
    assert find({"cookie": "session=planted; session=mine"}) == ""


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    assert set_cookie("v", secure=True) == (
        "session=v; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure"
    )
    assert set_cookie("", secure=False, max_age_s=0).endswith("Max-Age=0")
