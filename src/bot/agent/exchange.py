"""What is asked of a model and what it answers: text, calls, and what they cost. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from bot import strictjson
from bot.ports import Json

MAX_TEXT = 20_000
MAX_CALLS = 32
MAX_ARGUMENTS = 120_000
"""Characters of all the calls of one answer. With ``MAX_TEXT`` it fits into a step's 1 MiB."""
CHARACTERS_A_TOKEN = 4
"""What an endpoint that reports no usage is counted by, so that the ceiling holds there too."""
DEFAULT_WAIT_S = 2
"""What is waited where an endpoint says no number of seconds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked: messages, the functions it may call, and whether it must call one."""

    messages: Sequence[Json]
    functions: Sequence[Json] = ()
    must_call: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function call that the model asks for; ``arguments`` as it wrote them."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. ``calls`` is empty where it is the last word."""

    text: str
    calls: tuple[Call, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0

    def to_json(self) -> Json:
        """As a step's result."""
        calls = [[call.name, call.arguments] for call in self.calls]
        return [self.text, calls, self.tokens_in, self.tokens_out]


@dataclass(frozen=True, slots=True)
class Later:
    """No answer now; one may come after ``wait_s`` seconds."""

    wait_s: int
    why: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """No answer, and asking again would not bring one."""

    why: str


def reply_of_json(value: Json) -> Reply:
    """An answer that a step kept."""
    text, calls, tokens_in, tokens_out = value
    return Reply(text, tuple(Call(*call) for call in calls), tokens_in, tokens_out)


def read_reply(text: str, messages: Sequence[Json]) -> Reply | None:
    """The answer that a chat-completions body holds; None where it holds none."""
    if strictjson.deeper_than(text, strictjson.MAX_DEPTH):
        return None
    try:
        body: Json = json.loads(text)
    except ValueError:
        return None
    if not _is_object(body):
        return None
    choices = body.get("choices")
    first = choices[0] if _is_list(choices) and choices else None
    message = first.get("message") if _is_object(first) else None
    if not _is_object(message):
        return None
    said, calls = _said(message.get("content")), calls_of(message.get("tool_calls"))
    return counted(said, calls, body.get("usage"), messages)


def counted(said: str, calls: tuple[Call, ...], usage: Json, messages: Sequence[Json]) -> Reply:
    """A reply with its usage: as reported, else estimated by the characters on both sides."""
    reported: dict[str, Any] = usage if _is_object(usage) else {}
    written = len(said) + sum(len(call.arguments) for call in calls)
    read = sum(len(str(message.get("content") or "")) for message in messages)
    return Reply(
        said,
        calls,
        _count(reported.get("prompt_tokens"), read),
        _count(reported.get("completion_tokens"), written),
    )


def calls_of(value: Json) -> tuple[Call, ...]:
    """The calls of a message, in the protocol's form or in Workers AI's older one.

    Arguments past ``MAX_ARGUMENTS`` are cut, and so no JSON any more.
    """
    calls: list[Call] = []
    left = MAX_ARGUMENTS
    for each in value[:MAX_CALLS] if _is_list(value) else ():
        inner = each.get("function", each) if _is_object(each) else None
        named: dict[str, Any] = inner if _is_object(inner) else {}
        name, arguments = named.get("name"), named.get("arguments")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        calls.append(Call(name[:100] if isinstance(name, str) else "", written[:left]))
        left -= len(calls[-1].arguments)
    return tuple(calls)


def _said(content: Json) -> str:
    """A message's text; some endpoints give it in parts."""
    if isinstance(content, str):
        return content[:MAX_TEXT]
    parts = content if _is_list(content) else ()
    texts = [part.get("text") for part in parts if _is_object(part)]
    return "".join(text for text in texts if isinstance(text, str))[:MAX_TEXT]


def _count(value: Json, characters: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12:
        return value
    return -(-characters // CHARACTERS_A_TOKEN)


def _is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def _is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)
