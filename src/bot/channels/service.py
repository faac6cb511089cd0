"""What a chat service answered to one call, whichever service it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from bot.ports import HttpReply
from bot.strictjson import loads

DEFAULT_WAIT_S = 30
LONGEST_WAIT_S = 3_600


@dataclass(frozen=True, slots=True)
class Done:
    """The service did it; ``data`` is what it says."""

    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Wait:
    """It did nothing and asks to be asked again in that many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Declined:
    """It did nothing, and why. ``gone``: the channel is not there, or not for the bot."""

    reason: str
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer, or none that says: it was done or it was not."""

    reason: str


Answer = Done | Wait | Declined | Lost


def json_of(reply: HttpReply) -> Mapping[str, Any]:
    """The JSON object that a service answered; empty where it answered none."""
    try:
        said: Any = loads(reply.text)
    except ValueError:
        return {}
    return cast(dict[str, Any], said) if isinstance(said, dict) else {}


def wait_of(reply: HttpReply, said: int | None = None) -> Wait:
    """How long a 429 asks to wait: what its body said, else its header, within bounds."""
    told = reply.headers.get("retry-after", "")
    if said is None and told.isascii() and told.isdigit() and len(told) < 9:
        said = int(told)
    return Wait(min(max(DEFAULT_WAIT_S if said is None else said, 1), LONGEST_WAIT_S))


def body_of(values: Mapping[str, Any]) -> str:
    """A call's body as JSON, without what is None."""
    return json.dumps({name: value for name, value in values.items() if value is not None})
