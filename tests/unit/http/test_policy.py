"""Every route against the policy table, entered by every kind of actor."""

from __future__ import annotations

from typing import Any

import pytest

from bot.authz.actor import CRON, Actor, Surface
from bot.authz.grants import Grant, covers, grants_of
from bot.authz.policy import ROUTES as POLICY
from bot.authz.policy import Door, Need
from bot.http.app import ROUTES
from tests.unit.http.client import Client, office

ROUTE_KEYS = [(route.method, route.pattern) for route in ROUTES]


def test_every_route_is_in_the_policy_table_and_every_entry_of_it_is_a_route() -> None:
    assert sorted(ROUTE_KEYS) == sorted(POLICY)


def test_no_route_is_there_twice() -> None:
    assert len(ROUTE_KEYS) == len(set(ROUTE_KEYS))


def nobody(client: Client) -> Client:
    return client


def wrong_token(client: Client) -> Client:
    return client.bearer("token-of-nobody")


def wrong_token_over_a_session(client: Client) -> Client:
    session = client.signed_in("token-of-root")
    return Client(client.house, {**session.headers, "Authorization": "Bearer wrong"})


def everything(client: Client) -> Client:
    session = client.signed_in("token-of-root").headers
    bearer = client.bearer("token-of-ci").headers
    return Client(client.house, {**session, **bearer, "X-Internal-Key": "key-of-internal"})


def ci(client: Client) -> Client:
    return client.bearer("token-of-ci")


def cron(client: Client) -> Client:
    return client.bearer("token-of-cron")


def person(client: Client) -> Client:
    return client.signed_in("token-of-ci")


def admin(client: Client) -> Client:
    return client.signed_in("token-of-root")


def internal(client: Client) -> Client:
    return Client(client.house, {"X-Internal-Key": "key-of-internal"})


ADMINS = frozenset({"web:root"})


def held(actor: Actor) -> tuple[Grant, ...]:
    return grants_of(actor, {}, ADMINS)


CI, ROOT = held(Actor(Surface.HTTP, "ci")), held(Actor(Surface.WEB, "root"))
Shown = dict[str, tuple[Grant, ...] | None]
CALLERS: dict[Any, Shown] = {
    nobody: {},
    wrong_token: {"bearer": None},
    wrong_token_over_a_session: {"bearer": None, "session": ROOT},
    everything: {"bearer": CI, "internal": (), "session": ROOT},
    ci: {"bearer": CI},
    cron: {"bearer": held(CRON)},
    person: {"session": held(Actor(Surface.WEB, "ci"))},
    admin: {"session": ROOT},
    internal: {"internal": ()},
}
"""What each shows, in the order in which it counts, and what that holds; None is a wrong one."""
OPENS = {
    Door.ACTOR: ("bearer", "session"),
    Door.SESSION: ("session",),
    Door.BEARER: ("bearer",),
    Door.INTERNAL: ("internal",),
}


def expected(need: Need, shown: Shown) -> int | None:
    """401, 403, or None where the caller is let in."""
    if need.door is Door.OPEN:
        return None
    if need.door is Door.SIGNED:
        return 401  # none of these callers can sign
    grants = next((shown[kind] for kind in shown if kind in OPENS[need.door]), None)
    if grants is None:
        return 401
    grant = need.grant({})
    return None if grant is None or covers(grants, grant) else 403


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("key", ROUTE_KEYS, ids=" ".join)
def test_each_route_lets_in_exactly_whom_the_table_says(key: tuple[str, str], caller) -> None:
    method, pattern = key
    client = caller(office())
    path = pattern.replace("{name}", "nightly").replace("{tier}", "org")
    answer = client.send(method, path.replace("{id}", "x").replace("{key}", "x"))
    status = expected(POLICY[key], CALLERS[caller])
    if status is None:
        assert answer.status not in (401, 403)
        assert answer.status < 500
    elif status == 401:
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    else:
        assert (answer.status, answer.code) == (403, "forbidden")
        assert POLICY[key].action in answer.json["detail"]


def test_the_callers_are_told_apart_by_some_route() -> None:
    answers = {
        caller.__name__: tuple(expected(POLICY[key], CALLERS[caller]) for key in sorted(POLICY))
        for caller in (nobody, ci, cron, person, admin)
    }
    assert len(set(answers.values())) == len(answers)


def test_cron_may_tick_and_nothing_else_under_admin_but_say_who_it_is() -> None:
    client = cron(office())
    allowed = {
        (method, pattern)
        for method, pattern in ROUTE_KEYS
        if pattern.startswith("/admin")
        and client.send(method, pattern.replace("{name}", "x")).status not in (401, 403)
    }
    assert allowed == {
        ("POST", "/admin/schedules/tick"),
        ("POST", "/admin/schedules/{name}/fire"),
        ("POST", "/admin/command"),
    }


def test_a_grant_in_the_org_document_opens_what_it_names() -> None:
    client = office()
    assert ci(client).get("/admin/runs").status == 403
    client.house.config.put({"grants.http:ci": ["run:read"]})
    assert ci(client).get("/admin/runs").status == 200
    assert ci(client).get("/admin/schedules").status == 403
