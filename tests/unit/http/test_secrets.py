"""``POST /api/mcp-secret``: a secret for an MCP server, handed in by a code, outside any chat."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.all import REGISTRY
from tests.unit.http.client import Client, office

SECRET = "sk-very-secret"
PATH = "/api/mcp-secret"


@pytest.fixture
def alice() -> Client:
    """A person who has signed in, with the real commands."""
    return office(commands=REGISTRY).signed_in("token-of-ci")


def say(client: Client, text: str) -> Any:
    answer = client.post("/admin/command", {"text": text})
    assert answer.status == 200, answer
    return answer.json["data"]


def test_a_secret_is_taken_from_whoever_has_the_code_and_never_shown(alice: Client):
    code = say(alice, "mcp add files https://mcp.example.com")["secret"]["code"]
    answer = Client(alice.house).post(PATH, {"code": code, "secret": SECRET})
    assert (answer.status, answer.json) == (200, {"name": "files", "sealed": True})
    listed = say(alice, "mcp list")
    assert [(each["name"], each["secret"]) for each in listed["servers"]] == [("files", True)]
    assert SECRET not in str(listed)


def test_a_code_is_asked_once(alice: Client):
    code = say(alice, "mcp add files https://mcp.example.com")["secret"]["code"]
    nobody = Client(alice.house)
    assert nobody.post(PATH, {"code": code, "secret": SECRET}).status == 200
    again = nobody.post(PATH, {"code": code, "secret": "another"})
    assert (again.status, again.code) == (422, "bad_code")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"code": "x"}, 400),
        ({"code": "x", "secret": 5}, 400),
        ({"code": "x", "secret": "y", "owner": "web:bob"}, 400),
        ({"code": "x", "secret": "y"}, 422),
        ({"code": "x", "secret": "two words"}, 422),
    ],
)
def test_anything_else_is_refused(alice: Client, body: Any, status: int):
    assert Client(alice.house).post(PATH, body).status == status


def test_a_server_that_was_removed_takes_no_secret(alice: Client):
    code = say(alice, "mcp add files https://mcp.example.com")["secret"]["code"]
    say(alice, "mcp remove files")
    assert Client(alice.house).post(PATH, {"code": code, "secret": SECRET}).status == 422
