from __future__ import annotations

import hmac
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.authz.actor import CRON, Actor, Surface
from bot.authz.policy import Door
from bot.http.auth import Caller, Via, enter, foreign, identify, over_loopback, same
from bot.http.cookie import Session, fingerprint, seal
from bot.http.values import Request
from bot.ports import Settings
from bot.words import Code, Refused

NOW = 1_780_000_000_000
SETTINGS = Settings(
    ingress_tokens={"ci": "token-of-ci", "alice": "token-of-alice"},
    cron_token="token-of-cron",
    internal_key="key-of-internal",
    session_key="key-of-session",
)


def cookie(sub: str = "alice", token: str = "token-of-alice", exp: int = NOW + 1) -> str:
    session = Session(sub, exp, "CSRF", fingerprint("key-of-session", token))
    return f"session={seal('key-of-session', session)}"


def who(settings: Settings = SETTINGS, **headers: str) -> Any:
    """The caller, or the code of the refusal."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    caller = identify(settings, named, set(Via), NOW)
    return caller.code if isinstance(caller, Refused) else caller


def test_an_ingress_token_makes_the_http_actor_of_its_subject() -> None:
    assert who(authorization="Bearer token-of-ci") == Caller(Via.BEARER, Actor(Surface.HTTP, "ci"))
    assert who(authorization="bearer token-of-ci").actor.id == "http:ci"


def test_the_cron_token_makes_http_cron() -> None:
    assert who(authorization="Bearer token-of-cron") == Caller(Via.BEARER, CRON)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer token-of-c",
        "Bearer token-of-ci ",
        "Bearer  token-of-ci",
        "Basic token-of-ci",
        "token-of-ci",
        "Bearer tökén",
        "Bearer \ud800",
        "Bearer " + "x" * 100_000,
    ],
)
def test_a_wrong_or_malformed_bearer_is_unauthorized(header: str) -> None:
    assert who(authorization=header) is Code.UNAUTHORIZED


@given(st.text())
def test_no_authorization_header_raises(header: str) -> None:
    assert who(authorization=header) is Code.UNAUTHORIZED
    assert who(x_internal_key=header) is Code.UNAUTHORIZED
    assert who(cookie=f"session={header}") is Code.UNAUTHORIZED


@pytest.mark.parametrize("header", ["Bearer ", "Bearer x", "Bearer  "])
def test_an_unset_secret_denies(header: str) -> None:
    assert who(Settings(), authorization=header) is Code.UNAUTHORIZED
    assert who(Settings(), x_internal_key="") is Code.UNAUTHORIZED
    assert who(Settings(ingress_tokens={"ci": ""}), authorization=header) is Code.UNAUTHORIZED
    assert not same("", "")


def test_a_token_that_is_not_ascii_is_compared_as_bytes_too() -> None:
    settings = Settings(ingress_tokens={"ci": "tökén"})
    caller = who(settings, authorization="Bearer tökén")
    assert (caller.via, caller.actor.id) == (Via.BEARER, "http:ci")
    assert who(settings, authorization="Bearer toekén") is Code.UNAUTHORIZED


def test_the_internal_key_makes_nobody() -> None:
    assert who(x_internal_key="key-of-internal") == Caller(Via.INTERNAL)
    assert who(x_internal_key="wrong") is Code.UNAUTHORIZED


def test_a_session_makes_the_web_actor_of_its_subject() -> None:
    caller = who(cookie=cookie())
    assert (caller.via, caller.actor.id, caller.session.csrf) == (
        Via.SESSION,
        "web:alice",
        "CSRF",
    )


def test_no_credential_is_nobody() -> None:
    assert who() == Caller(Via.NOTHING)
    assert who(cookie="theme=dark") == Caller(Via.NOTHING)


def test_an_expired_session_is_unauthorized() -> None:
    assert who(cookie=cookie(exp=NOW)) is Code.UNAUTHORIZED


def test_a_token_that_is_removed_or_changed_ends_its_sessions() -> None:
    for tokens in ({"ci": "token-of-ci"}, {"alice": "another"}, {"alice": ""}):
        assert who(replace(SETTINGS, ingress_tokens=tokens), cookie=cookie()) is Code.UNAUTHORIZED


def test_a_session_key_that_is_removed_ends_every_session() -> None:
    assert who(replace(SETTINGS, session_key=""), cookie=cookie()) is Code.UNAUTHORIZED


def test_of_several_credentials_the_bearer_counts_even_when_it_is_wrong() -> None:
    others = {"cookie": cookie(), "x_internal_key": "key-of-internal"}
    assert who(authorization="Bearer token-of-ci", **others).actor.id == "http:ci"
    assert who(authorization="Bearer wrong", **others) is Code.UNAUTHORIZED


GOOD = {
    "bearer": {"authorization": "Bearer token-of-ci"},
    "internal": {"x-internal-key": "key-of-internal"},
    "session": {"cookie": cookie()},
}
WRONG = {
    "bearer": {"authorization": "Bearer wrong"},
    "internal": {"x-internal-key": "wrong"},
    "session": {"cookie": cookie(exp=NOW)},
}
KINDS = {
    Door.ACTOR: ["bearer", "session"],
    Door.SESSION: ["session"],
    Door.BEARER: ["bearer"],
    Door.INTERNAL: ["internal"],
}


def entered(door: Door, **kinds: Any) -> Any:
    """Who comes in by a door with good and wrong credentials of several kinds; None for nobody."""
    headers = {name: text for kind in kinds.values() for name, text in kind.items()}
    caller = enter(SETTINGS, Request("GET", "/", {}, headers), door, NOW)
    if isinstance(caller, Caller):
        return str(caller.via)
    assert caller.code is Code.UNAUTHORIZED
    return None


@pytest.mark.parametrize("door", KINDS)
@pytest.mark.parametrize("others", [GOOD, WRONG], ids=["good", "wrong"])
def test_a_credential_of_another_door_is_not_looked_at(door: Door, others: Any) -> None:
    more = {kind: others[kind] for kind in GOOD if kind not in KINDS[door]}
    assert entered(door, **more) is None
    for kind in KINDS[door]:
        assert entered(door, **more, **{kind: GOOD[kind]}) == kind
        assert entered(door, **more, **{kind: WRONG[kind]}) is None


def test_of_two_that_a_door_takes_the_bearer_counts_even_when_it_is_wrong() -> None:
    assert entered(Door.ACTOR, bearer=GOOD["bearer"], session=WRONG["session"]) == "bearer"
    assert entered(Door.ACTOR, bearer=WRONG["bearer"], session=GOOD["session"]) is None


def test_cron_is_nobodys_subject() -> None:
    settings = replace(SETTINGS, ingress_tokens={"cron": "token-of-x"})
    assert who(settings, authorization="Bearer token-of-x") is Code.UNAUTHORIZED
    assert who(settings, cookie=cookie("cron", "token-of-x")) is Code.UNAUTHORIZED


@pytest.mark.parametrize("subject", ["", "a b", "x:y", "ünal", "a/b", "a" * 200])
def test_a_subject_that_cannot_be_an_actor_has_no_token(subject: str) -> None:
    settings = replace(SETTINGS, ingress_tokens={subject: "token-of-x"})
    assert who(settings, authorization="Bearer token-of-x") is Code.UNAUTHORIZED


def test_a_token_of_two_subjects_is_nobodys() -> None:
    shared = replace(SETTINGS, ingress_tokens={"a": "same", "b": "same"})
    assert who(shared, authorization="Bearer same") is Code.UNAUTHORIZED
    both = replace(SETTINGS, ingress_tokens={"a": "token-of-cron"})
    assert who(both, authorization="Bearer token-of-cron") is Code.UNAUTHORIZED


@pytest.mark.parametrize("token", ["token-of-ci", "token-of-alice", "token-of-cron", "wrong"])
def test_every_configured_token_is_compared_whichever_matches(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bytes] = []

    def compare(given: bytes, secret: bytes) -> bool:
        compared.append(secret)
        return given == secret

    monkeypatch.setattr(hmac, "compare_digest", compare)
    who(authorization=f"Bearer {token}")
    assert compared == [b"token-of-ci", b"token-of-alice", b"token-of-cron"]


DOORS = {
    Door.ACTOR: {"bearer", "cookie"},
    Door.SESSION: {"cookie", "wrong"},
    Door.BEARER: {"bearer"},
    Door.INTERNAL: {"internal"},
    Door.OPEN: {"bearer", "cookie", "internal", "nothing", "wrong"},
    Door.SIGNED: {"bearer", "cookie", "internal", "nothing", "wrong"},
}


@pytest.mark.parametrize("door", Door)
@pytest.mark.parametrize("key", ["bearer", "cookie", "internal", "nothing", "wrong"])
def test_each_door_opens_to_its_own_credentials_only(door: Door, key: str) -> None:
    headers = {
        "bearer": {"authorization": "Bearer token-of-ci"},
        "cookie": {"cookie": cookie()},
        "internal": {"x-internal-key": "key-of-internal"},
        "nothing": {},
        "wrong": {"authorization": "Bearer wrong", "cookie": cookie()},
    }[key]
    entered = enter(SETTINGS, Request("GET", "/", {}, headers), door, NOW)
    if key in DOORS[door]:
        assert isinstance(entered, Caller)
    else:
        assert isinstance(entered, Refused)
        assert entered.code is Code.UNAUTHORIZED


def write(method: str = "POST", **headers: str) -> Any:
    named = {"host": "bot.test", "cookie": cookie()}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    entered = enter(SETTINGS, Request(method, "/", {}, named), Door.ACTOR, NOW)
    return entered.code if isinstance(entered, Refused) else entered


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("token", ["", "csrf", "CSRFX", "ünal"])
def test_a_sessions_write_without_its_csrf_is_refused(method: str, token: str) -> None:
    assert write(method) is Code.BAD_CSRF
    assert write(method, x_csrf_token=token) is Code.BAD_CSRF
    assert isinstance(write(method, x_csrf_token="CSRF"), Caller)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_sessions_reading_needs_no_csrf(method: str) -> None:
    assert isinstance(write(method), Caller)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.test", "null", "", "https://bot.test.evil.test", "https://bot.test:444", "[x"],
)
def test_a_write_from_another_host_is_refused_though_it_knows_the_csrf(origin: str) -> None:
    assert write(x_csrf_token="CSRF", origin=origin) is Code.BAD_CSRF


@pytest.mark.parametrize("origin", ["https://bot.test", "https://BOT.test"])
def test_a_write_from_the_same_host_passes(origin: str) -> None:
    assert isinstance(write(x_csrf_token="CSRF", origin=origin), Caller)


def test_the_csrf_of_another_session_is_refused_though_our_own_page_sends_it() -> None:
    assert write(origin="https://bot.test", x_csrf_token="OTHER") is Code.BAD_CSRF
    assert isinstance(write(origin="https://bot.test"), Caller)


def test_a_bearer_writes_without_csrf() -> None:
    headers = {"authorization": "Bearer token-of-ci", "origin": "https://evil.test"}
    entered = enter(SETTINGS, Request("POST", "/", {}, headers), Door.ACTOR, NOW)
    assert isinstance(entered, Caller)


def test_a_request_without_a_host_is_foreign_to_every_origin() -> None:
    assert foreign(Request("POST", "/", {}, {"origin": "https://bot.test"}))
    assert not foreign(Request("POST", "/"))


@pytest.mark.parametrize(
    ("scheme", "host", "loopback"),
    [
        ("http", "127.0.0.1:8787", True),
        ("http", "localhost", True),
        ("http", "[::1]:8787", True),
        ("https", "127.0.0.1:8787", False),
        ("http", "bot.test", False),
        ("http", "127.0.0.1.evil.test", False),
        ("http", "[", False),
        ("http", "", False),
    ],
)
def test_only_plain_http_to_a_loopback_host_goes_without_secure(
    scheme: str, host: str, loopback: bool
) -> None:
    request = Request("POST", "/", {}, {"host": host}, b"", scheme)
    assert over_loopback(request) is loopback
