from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.http.cookie import LIFETIME_MS
from tests.unit.http.client import Client, office

TOKEN = {"token": "token-of-ci"}


def test_a_token_signs_a_browser_in_as_the_web_actor_of_its_subject() -> None:
    answer = office().post("/api/session", TOKEN)
    assert answer.status == 200
    assert answer.json["actor"] == "web:ci"
    assert answer.json["expires_at"] == "2026-03-09T09:00:00+00:00"
    assert len(answer.json["csrf"]) == 32
    assert answer.headers["set-cookie"].endswith(
        "; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure"
    )


def test_a_page_that_is_loaded_again_gets_the_same_session() -> None:
    browser = office().signed_in()
    answer = browser.get("/api/session")
    assert answer.json["csrf"] == browser.headers["X-CSRF-Token"]
    assert answer.json["actor"] == "web:ci"
    assert "set-cookie" not in answer.headers


def test_each_sign_in_has_a_csrf_of_its_own() -> None:
    client = office()
    first, second = client.signed_in(), client.signed_in()
    assert first.headers["X-CSRF-Token"] != second.headers["X-CSRF-Token"]
    mixed = Client(client.house, {**first.headers, **_csrf(second)})
    assert mixed.send("DELETE", "/api/session").code == "bad_csrf"


def _csrf(client: Client) -> dict[str, str]:
    return {"X-CSRF-Token": client.headers["X-CSRF-Token"]}


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8787", "http://localhost:8787"])
def test_on_a_loopback_host_over_plain_http_the_cookie_goes_without_secure(origin: str) -> None:
    answer = office().post("/api/session", TOKEN, origin=origin)
    assert "Secure" not in answer.headers["set-cookie"]


@pytest.mark.parametrize("token", ["", "wrong", "token-of-cron", "key-of-internal", "tökén"])
def test_no_other_token_signs_in(token: str) -> None:
    answer = office().post("/api/session", {"token": token})
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert "set-cookie" not in answer.headers


def test_without_a_session_key_nobody_signs_in() -> None:
    answer = office(settings={"session_key": ""}).post("/api/session", TOKEN)
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert "SESSION_KEY" in answer.json["detail"]


def test_a_page_of_another_host_signs_nobody_in() -> None:
    client = office()
    evil = {"Origin": "https://evil.test"}
    assert client.post("/api/session", TOKEN, headers=evil).code == "bad_csrf"
    own = {"Origin": "https://bot.test"}
    assert client.post("/api/session", TOKEN, headers=own).status == 200


def test_signing_out_clears_the_cookie() -> None:
    answer = office().signed_in().send("DELETE", "/api/session")
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["set-cookie"].startswith("session=; ")
    assert "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.parametrize("headers", [{"X-CSRF-Token": ""}, {"X-CSRF-Token": "WRONG"}])
def test_signing_out_like_every_write_needs_the_csrf(headers: dict[str, str]) -> None:
    answer = office().signed_in().send("DELETE", "/api/session", headers=headers)
    assert (answer.status, answer.code) == (403, "bad_csrf")


def test_a_session_lasts_seven_days() -> None:
    browser = office().signed_in()
    browser.house.clock.advance(ms=LIFETIME_MS - 1)
    assert browser.get("/api/session").status == 200
    browser.house.clock.advance(ms=1)
    assert browser.get("/api/session").code == "unauthorized"


@pytest.mark.parametrize(
    "changed",
    [{"ingress_tokens": {}}, {"ingress_tokens": {"ci": "new"}}, {"session_key": "new"}],
)
def test_a_session_ends_with_the_secrets_it_was_made_of(changed: dict[str, Any]) -> None:
    browser = office().signed_in()
    house = replace(browser.house, settings=replace(browser.house.settings, **changed))
    assert Client(house, browser.headers).get("/api/session").code == "unauthorized"


def test_the_http_actor_of_the_same_name_gets_nothing_from_the_session() -> None:
    client = office(settings={"admins": frozenset({"web:ci"})})
    assert client.signed_in().get("/admin/config/org").status == 200
    assert client.bearer("token-of-ci").get("/admin/config/org").status == 403


def test_a_page_that_is_signed_out_is_told_so_without_an_error() -> None:
    assert office().get("/api/sign-in").json == {"session": None, "access": False}
    wrong = office().get("/api/sign-in", headers={"Cookie": "session=forged.mac"})
    assert (wrong.status, wrong.json["session"]) == (200, None)


def test_a_page_is_told_its_session_and_what_its_actor_may_do() -> None:
    browser = office().signed_in()
    browser.house.config.put({"grants.web:ci": ["schedule:fire"]})
    session = browser.get("/api/sign-in").json["session"]
    assert session == browser.get("/api/session").json
    assert session["csrf"] == browser.headers["X-CSRF-Token"]
    assert {"schedule:fire", "schedule:read"} <= set(session["grants"])
