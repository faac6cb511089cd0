from __future__ import annotations

import json

import pytest

from bot.http.problem import problem
from bot.words import TEXTS, Code, Refused


@pytest.mark.parametrize("code", Code)
def test_every_code_makes_a_problem_of_its_own_status(code: Code) -> None:
    response = problem(Refused(code, "What to do."))
    assert response.status == TEXTS[code].status
    assert response.headers["content-type"] == "application/problem+json"
    assert json.loads(response.body) == {
        "type": "about:blank",
        "code": code,
        "title": TEXTS[code].title,
        "status": TEXTS[code].status,
        "detail": "What to do.",
    }


def test_a_problem_may_have_members_of_its_own_that_hide_none_of_the_rest() -> None:
    response = problem(Refused(Code.CONFLICT, "x"), {"version": 7, "code": "ok", "status": 200})
    body = json.loads(response.body)
    assert (body["version"], body["code"], body["status"]) == (7, "conflict", 409)


def test_only_a_401_says_how_to_authenticate() -> None:
    assert problem(Refused(Code.UNAUTHORIZED, "x")).headers["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in problem(Refused(Code.FORBIDDEN, "x")).headers
