"""A client of the HTTP door, over a house with real stores, the real commands and web channel."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.channels.http import HttpChannel
from bot.channels.web import WebChannel
from bot.commands import help as help_commands
from bot.commands import run as run_commands
from bot.commands import schedule as schedule_commands
from bot.commands.registry import Registry
from bot.http.app import handle
from bot.http.problem import problem
from bot.http.values import read_request
from bot.words import Refused
from tests.support.drive import run
from tests.support.house import TestHouse, make_house

ORIGIN = "https://bot.test"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return jsonlib.loads(self.body)

    @property
    def code(self) -> str:
        """The code of a problem, which every error must be."""
        assert self.headers["content-type"] == "application/problem+json", self
        assert self.json["status"] == self.status
        assert set(self.json) >= {"code", "title", "detail"}
        return self.json["code"]


@dataclass(slots=True)
class Client:
    """Sends requests with its own ``headers``; ``house`` is open to the test."""

    house: TestHouse
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        origin: str = ORIGIN,
    ) -> Answer:
        if body is None:
            body = b"" if json is None else jsonlib.dumps(json).encode()
        sent = {**self.headers, **(headers or {})}
        request = read_request(method, origin + path, sent.items(), body)
        if isinstance(request, Refused):
            response = problem(request)
        else:
            response = run(handle(self.house, request))
        return Answer(response.status, response.body, response.headers)

    def get(self, path: str, **more: Any) -> Answer:
        return self.send("GET", path, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> Answer:
        return self.send("POST", path, json, **more)

    def bearer(self, token: str) -> Client:
        """The same house, entered with a bearer token."""
        return Client(self.house, {"Authorization": f"Bearer {token}"})

    def signed_in(self, token: str = "token-of-ci") -> Client:
        """The same house, entered by a browser that signed in."""
        answer = self.post("/api/session", {"token": token})
        assert answer.status == 200, answer
        cookie = answer.headers["set-cookie"].split(";")[0]
        return Client(self.house, {"Cookie": cookie, "X-CSRF-Token": answer.json["csrf"]})


def office(**overrides: Any) -> Client:
    """A house that nobody has entered. ``ci`` and ``root`` have tokens; ``web:root`` is admin."""
    families = (schedule_commands, run_commands, help_commands)
    registry = Registry(command for family in families for command in family.COMMANDS)
    house = make_house(**{"commands": registry, **overrides})
    channels: Any = {
        "web": WebChannel(house.db, house.settings.web_channels),
        "http": HttpChannel(),
    }
    return Client(replace(house, channels=channels))
