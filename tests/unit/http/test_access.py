"""Signing in by Cloudflare Access: what is believed of an assertion, and whose keys sign it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.http.access import issuer_of, read_assertion
from bot.http.access_keys import KEEP_MS, PATH, PAUSE_MS, KeyRing
from bot.http.cookie import LIFETIME_MS
from bot.ports import Fault, HttpReply, Settings
from bot.times import iso, parse_iso
from tests.support.drive import run
from tests.support.rs256 import NEW, OLD, TestKey, encode, made_by
from tests.support.world import ScriptedHttp
from tests.unit.http.client import Answer, Client, office

TEAM = "acme.cloudflareaccess.com"
ISSUER = f"https://{TEAM}"
AUD = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"
NOW_MS = parse_iso("2026-03-02T09:00:00Z") or 0
NOW = NOW_MS // 1000
CLAIMS = {
    "iss": ISSUER,
    "aud": [AUD],
    "email": "Alice@Example.com",
    "iat": NOW - 5,
    "nbf": NOW - 5,
    "exp": NOW + 3600,
    "type": "app",
    "sub": "7335d417-61da-459d-899c-0a01c76a2f94",
}


def keys(*listed: TestKey, **more: Any) -> HttpReply:
    return HttpReply(200, {}, json.dumps({"keys": [{**key.jwk, **more} for key in listed]}))


def guarded(*listed: TestKey, **settings: Any) -> Client:
    """A bot behind Access, whose team signs with these keys."""
    access = {"access_team_domain": TEAM, "access_aud": AUD, **settings}
    client = office(settings=access)
    http = ScriptedHttp()
    http.otherwise = keys(*(listed or (OLD,)))
    house = replace(client.house, http=http, access_keys=KeyRing(http, ISSUER, made_by))
    return Client(house)


def sign_in(client: Client, token: str) -> Answer:
    return client.post("/api/session", {}, headers={"Cf-Access-Jwt-Assertion": token})


def enter(client: Client, token: str) -> Client:
    answer = sign_in(client, token)
    assert answer.status == 200, answer
    cookie = answer.headers["set-cookie"].split(";")[0]
    return Client(client.house, {"Cookie": cookie, "X-CSRF-Token": answer.json["csrf"]})


def test_a_person_whom_access_names_is_signed_in_by_their_address() -> None:
    answer = sign_in(guarded(), OLD.token(CLAIMS))
    assert answer.status == 200
    assert answer.json["actor"] == "web:alice@example.com"
    assert "HttpOnly" in answer.headers["set-cookie"]


def test_the_session_holds_the_grants_of_that_actor() -> None:
    browser = enter(guarded(admins=frozenset({"web:alice@example.com"})), OLD.token(CLAIMS))
    assert browser.get("/api/session").json["grants"] == ["all"]
    assert browser.get("/admin/config/org").status == 200


def test_the_session_ends_when_the_assertion_would() -> None:
    answer = sign_in(guarded(), OLD.token(CLAIMS))
    assert answer.json["expires_at"] == iso(NOW_MS + 3_600_000)
    long = sign_in(guarded(), OLD.token({**CLAIMS, "exp": NOW + 10**6}))
    assert long.json["expires_at"] == iso(NOW_MS + LIFETIME_MS)


@pytest.mark.parametrize(
    "settings", [{"access_team_domain": ""}, {"access_aud": "another"}, {"access_aud": ""}]
)
def test_sessions_end_when_access_is_set_up_otherwise(settings: dict[str, str]) -> None:
    browser = enter(guarded(), OLD.token(CLAIMS))
    changed = replace(browser.house, settings=replace(browser.house.settings, **settings))
    assert Client(changed, browser.headers).get("/api/session").status == 401


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://evil.cloudflareaccess.com"},
        {"iss": f"{ISSUER}/"},
        {"iss": None},
        {"aud": ["another"]},
        {"aud": "another"},
        {"aud": []},
        {"aud": {AUD: True}},
        {"exp": NOW},
        {"exp": NOW - 1},
        {"exp": str(NOW + 3600)},
        {"exp": True},
        {"exp": None},
        {"nbf": NOW + 61},
        {"nbf": "soon"},
        {"email": None},
        {"email": "admin"},
        {"email": "a b@example.com"},
        {"email": "alice@example.com\n"},
        {"email": "mar\u212a@example.com"},
        {"email": "\u0131ris@example.com"},
        {"email": ["alice@example.com"]},
    ],
    ids=str,
)
def test_a_signed_assertion_with_a_wrong_claim_signs_nobody_in(wrong: dict[str, Any]) -> None:
    claims = {name: value for name, value in {**CLAIMS, **wrong}.items() if value is not None}
    answer = sign_in(guarded(), OLD.token(claims))
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert "set-cookie" not in answer.headers


def test_an_audience_may_be_a_single_text_and_a_clock_a_little_behind() -> None:
    claims = {**CLAIMS, "aud": AUD, "nbf": NOW + 59}
    assert sign_in(guarded(), OLD.token(claims)).status == 200


@pytest.mark.parametrize(
    "header",
    [{"alg": "none"}, {"alg": "HS256"}, {"alg": "RS512"}, {"kid": 1}, {"kid": ""}, {"crit": ["x"]}],
    ids=str,
)
def test_only_plain_rs256_is_read(header: dict[str, Any]) -> None:
    assert sign_in(guarded(), OLD.token(CLAIMS, **header)).status == 401


def test_a_signature_by_another_key_of_the_same_name_signs_nobody_in() -> None:
    forger = replace(NEW, kid=OLD.kid)
    assert sign_in(guarded(), forger.token(CLAIMS)).status == 401


def test_changed_claims_break_the_signature() -> None:
    head, _, signature = OLD.token(CLAIMS).split(".")
    claims = encode(json.dumps({**CLAIMS, "email": "root@example.com"}).encode())
    assert sign_in(guarded(), f"{head}.{claims}.{signature}").status == 401


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.b",
        "a.b.c.d",
        "....",
        "é.b.c",
        "e30.e30.e30",
        "W10.W10.AA",
        "e30=.e30=.AA",
        "x" * 9000,
    ],
)
def test_what_is_no_token_cannot_be_read(text: str) -> None:
    assert read_assertion(text) is None
    assert sign_in(guarded(), text).status == 401


def test_without_access_set_up_an_assertion_counts_for_nothing() -> None:
    answer = sign_in(office(), OLD.token(CLAIMS))
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_page_learns_whether_access_stands_before_the_bot() -> None:
    sent = {"Cf-Access-Jwt-Assertion": OLD.token(CLAIMS)}
    assert guarded().get("/api/sign-in", headers=sent).json == {"session": None, "access": True}
    assert guarded().get("/api/sign-in").json == {"session": None, "access": False}
    assert office().get("/api/sign-in", headers=sent).json == {"session": None, "access": False}
    browser = enter(guarded(), OLD.token(CLAIMS))
    session = browser.get("/api/sign-in").json["session"]
    assert session == browser.get("/api/session").json


def test_an_assertion_is_no_credential_of_its_own() -> None:
    sent = {"Cf-Access-Jwt-Assertion": OLD.token(CLAIMS)}
    assert guarded().get("/admin/schedules", headers=sent).status == 401


@pytest.mark.parametrize(
    ("team", "issuer"),
    [
        (TEAM, ISSUER),
        (ISSUER, ISSUER),
        ("http://127.0.0.1:1", ""),
        ("ftp://acme", ""),
        ("", ""),
    ],
)
def test_the_issuer_is_the_teams_address(team: str, issuer: str) -> None:
    assert issuer_of(Settings(access_team_domain=team, access_aud=AUD)) == issuer
    assert issuer_of(Settings(access_team_domain=team)) == ""


def test_plain_http_is_for_the_local_runtime() -> None:
    local = Settings(
        access_team_domain="http://127.0.0.1:1", access_aud=AUD, allow_private_addresses=True
    )
    assert issuer_of(local) == "http://127.0.0.1:1"


class TestKeyRing:
    def ring(self, *replies: HttpReply) -> tuple[KeyRing, ScriptedHttp]:
        http = ScriptedHttp(replies)
        return KeyRing(http, ISSUER, made_by), http

    def signed(self, ring: KeyRing, key: TestKey, now_ms: int) -> bool:
        return run(ring.signed(key.kid, b"data", key.sign(b"data"), now_ms))

    def test_keys_are_read_once_an_hour(self) -> None:
        ring, http = self.ring(keys(OLD), keys(OLD))
        assert self.signed(ring, OLD, 0)
        assert self.signed(ring, OLD, KEEP_MS - 1)
        assert [sent.url for sent in http.sent] == [ISSUER + PATH]
        assert self.signed(ring, OLD, KEEP_MS)
        assert len(http.sent) == 2

    def test_a_key_that_came_since_is_read(self) -> None:
        ring, _ = self.ring(keys(OLD), keys(OLD, NEW))
        assert self.signed(ring, OLD, 0)
        assert self.signed(ring, NEW, PAUSE_MS)

    def test_a_withdrawn_key_is_refused_within_the_hour(self) -> None:
        ring, _ = self.ring(keys(OLD), keys(NEW))
        assert self.signed(ring, OLD, 0)
        assert not self.signed(ring, OLD, KEEP_MS)

    def test_invented_names_do_not_make_it_ask_again_and_again(self) -> None:
        ring, http = self.ring(keys(OLD), keys(OLD))
        invented = replace(OLD, kid="invented")
        for now_ms in (0, 1, PAUSE_MS - 1, PAUSE_MS, PAUSE_MS + 1):
            assert not self.signed(ring, invented, now_ms)
        assert len(http.sent) == 2

    def test_a_clock_that_went_back_reads_them_again(self) -> None:
        ring, http = self.ring(keys(OLD), keys(OLD))
        assert self.signed(ring, OLD, 10**12)
        assert self.signed(ring, OLD, 0)
        assert len(http.sent) == 2

    @pytest.mark.parametrize(
        "reply",
        [
            HttpReply(500, {}, ""),
            HttpReply(302, {}, ""),
            HttpReply(200, {}, "<html>"),
            HttpReply(200, {}, "[]"),
            HttpReply(200, {}, '{"keys": null}'),
        ],
        ids=str,
    )
    def test_keys_that_cannot_be_read_are_a_fault_and_no_refusal(self, reply: HttpReply) -> None:
        ring, _ = self.ring(reply, keys(OLD))
        with pytest.raises(Fault):
            self.signed(ring, OLD, 0)
        assert self.signed(ring, OLD, 1)

    @pytest.mark.parametrize(
        "wrong", [{"kty": "EC"}, {"alg": "RS512"}, {"use": "enc"}, {"n": "AQAB"}, {"e": 3}], ids=str
    )
    def test_a_key_of_another_kind_signs_nothing(self, wrong: dict[str, Any]) -> None:
        ring, _ = self.ring(keys(OLD, **wrong))
        assert not self.signed(ring, OLD, 0)


def test_keys_that_cannot_be_read_answer_503() -> None:
    client = guarded()
    client.house.http.otherwise = Fault("down")
    answer = sign_in(client, OLD.token(CLAIMS))
    assert (answer.status, answer.code) == (503, "store_unavailable")
