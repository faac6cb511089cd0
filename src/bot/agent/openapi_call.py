"""A skill's operations as tools: arguments become a request, judged again before it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

from bot.agent.foreign import cut, tool_name
from bot.agent.github import one_line
from bot.agent.once import once
from bot.agent.openapi import READING, Operation, Skill, read_document
from bot.agent.openapi_parts import Parameter
from bot.agent.tools import Args, Tool, ToolCall, ToolResult
from bot.net import bad_url
from bot.ports import Fault, House, HttpReply, Json
from bot.words import Code, Refused

TIMEOUT_S = 20.0
MAX_BODY = 100_000
_TEMPLATE = re.compile(r"\{([^{}/]+)\}")
_LITERAL = "/:@!$&'()*+,;=-._~"
_HEADER = re.compile(r"[!-~]([ -~]{0,2000}[!-~])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that an operation's arguments make."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None


class _BadArgumentError(Exception):
    """What is wrong with an argument, in a sentence for the agent."""


async def fetch_skill(house: House, url: str, *, writes: bool) -> Skill | Refused:
    """The skill whose document lies at ``url``, which was judged already.

    Returns ``no_answer`` where the document does not come, ``bad_document`` where it cannot be
    used. A redirect is not followed: the owner gives the address where the document is now.
    """
    headers = {"accept": "application/json", "user-agent": "standing-orders"}
    try:
        reply = await house.http.send("GET", url, headers=headers, timeout_s=TIMEOUT_S)
    except Fault:
        return Refused(Code.NO_ANSWER, "The address did not answer in time, or not at all.")
    if 300 <= reply.status < 400:
        there = one_line(reply.headers.get("location", ""), 200)
        return Refused(
            Code.BAD_DOCUMENT,
            f"The document has moved to {there or 'another address'}. Add it from there.",
        )
    if reply.status != 200:
        return Refused(Code.NO_ANSWER, f"The address answered with status {reply.status}.")
    private_ok = house.settings.allow_private_addresses
    return read_document(reply.text, url, writes=writes, private_ok=private_ok)


def tools_of(
    skill: str, operations: tuple[Operation, ...], *, writes: bool, taken: Set[str]
) -> list[Tool]:
    """The skill's tools, ``SKILL__operationId``; without ``writes`` those that read."""
    tools: list[Tool] = []
    names = set(taken)
    for operation in operations:
        name = tool_name(skill, operation.name, names)
        if name in names or not (writes or operation.method == READING):
            continue
        names.add(name)
        tools.append(_tool(name, skill, operation))
    return tools


def request_of(operation: Operation, args: Args) -> Request | Refused:
    """The request of a call with these arguments; ``bad_value`` names the one that is wrong."""
    try:
        return _request(operation, args)
    except _BadArgumentError as wrong:
        return Refused(Code.BAD_VALUE, str(wrong))
    except UnicodeError:
        return Refused(Code.BAD_VALUE, "An argument holds half a character.")


def _tool(name: str, skill: str, operation: Operation) -> Tool:
    async def call(asked: ToolCall) -> ToolResult:
        request = request_of(operation, asked.args)
        if isinstance(request, Refused):
            return ToolResult(f"{request.code}: {request.detail}", ok=False)
        if operation.method == READING:
            return await _send(asked.house, skill, request)
        marked = {**request.headers, "idempotency-key": asked.key}
        written = Request(request.method, request.url, marked, request.body)
        return await once(asked, lambda: _send(asked.house, skill, written))

    return Tool(
        name,
        f"[skill {skill}, {operation.method}] {operation.description}",
        operation.schema_,
        call,
        writes=operation.method != READING,
    )


async def _send(house: House, skill: str, request: Request) -> ToolResult:
    refusal = bad_url(request.url, private_ok=house.settings.allow_private_addresses)
    if refusal is not None:
        return ToolResult(f"{refusal.code}: {refusal.detail}", ok=False)
    try:
        reply = await house.http.send(
            request.method,
            request.url,
            headers=request.headers,
            body=request.body,
            timeout_s=TIMEOUT_S,
        )
    except Fault:
        return ToolResult(f"The skill {skill} did not answer in time, or not at all.", ok=False)
    return _answer(skill, reply)


def _answer(skill: str, reply: HttpReply) -> ToolResult:
    if 300 <= reply.status < 400:
        return ToolResult(
            f"The skill {skill} points to another address (status {reply.status}), which is not "
            "followed.",
            ok=False,
        )
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    binary = kind.startswith(("image/", "audio/", "video/", "font/")) or kind in (
        *("application/octet-stream", "application/pdf", "application/zip"),
    )
    text = f"({kind}, not shown)" if binary else cut(reply.text) or "(an empty answer)"
    good = 200 <= reply.status < 300
    return ToolResult(text if good else f"Status {reply.status}.\n{text}", ok=good, untrusted=True)


def _request(operation: Operation, args: Args) -> Request:
    known = {each.argument for each in operation.parameters} | {operation.body}
    for name in args:
        if name not in known:
            raise _BadArgumentError(f"There is no argument {name[:40]!r}.")
    headers = {"accept": "application/json, text/plain;q=0.9, */*;q=0.5"}
    headers["user-agent"] = "standing-orders"
    path_values: dict[str, str] = {}
    query: list[str] = []
    for parameter in operation.parameters:
        value = args.get(parameter.argument)
        if value is None:
            if parameter.required:
                raise _BadArgumentError(f"The argument {parameter.argument} is missing.")
        elif parameter.place == "path":
            path_values[parameter.name] = _path_value(parameter, value)
        elif parameter.place == "query":
            query += _query_values(parameter, value)
        else:
            headers[parameter.name.lower()] = _header_value(parameter, value)
    url = operation.base + _path(operation.path, path_values)
    body = _body(operation, args)
    if body is not None:
        headers["content-type"] = operation.body_type
    return Request(operation.method, url + ("?" + "&".join(query) if query else ""), headers, body)


def _path(template: str, values: Mapping[str, str]) -> str:
    """The path with its values. None of them can climb out of it."""
    parts = re.split(r"(\{[^{}/]+\})", template)
    made = "".join(
        values[part[1:-1]] if _TEMPLATE.fullmatch(part) else quote(part, safe=_LITERAL + "%")
        for part in parts
    )
    if any(segment in (".", "..") for segment in made.split("/")):
        raise _BadArgumentError("An argument in the path may not be . or ..")
    return made


def _path_value(parameter: Parameter, value: Json) -> str:
    text = _joined(parameter, value)
    if not text:
        raise _BadArgumentError(f"The argument {parameter.argument} is empty.")
    return text


def _query_values(parameter: Parameter, value: Json) -> list[str]:
    name = quote(parameter.name, safe="")
    if parameter.form == "json":
        return [f"{name}={quote(json.dumps(value), safe='')}"]
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value).items()
        if parameter.form == "deep":
            return [f"{name}[{quote(key, safe='')}]={_scalar(parameter, v)}" for key, v in pairs]
        if parameter.form == "explode":
            return [f"{quote(key, safe='')}={_scalar(parameter, v)}" for key, v in pairs]
    if isinstance(value, list) and parameter.form == "explode":
        return [f"{name}={_scalar(parameter, each)}" for each in cast(list[Any], value)]
    return [f"{name}={_joined(parameter, value)}"]


def _header_value(parameter: Parameter, value: Json) -> str:
    values = cast(list[Any], value) if isinstance(value, list) else [value]
    text = ",".join(_text(parameter, each) for each in values)
    if not _HEADER.fullmatch(text):
        raise _BadArgumentError(f"The argument {parameter.argument} cannot stand in a header.")
    return text


def _joined(parameter: Parameter, value: Json) -> str:
    if parameter.form == "json":
        return quote(json.dumps(value), safe="")
    if isinstance(value, dict):
        flat = [part for pair in cast(dict[str, Any], value).items() for part in pair]
        return ",".join(_scalar(parameter, each) for each in flat)
    values = cast(list[Any], value) if isinstance(value, list) else [value]
    return ",".join(_scalar(parameter, each) for each in values)


def _scalar(parameter: Parameter, value: Json) -> str:
    return quote(_text(parameter, value), safe="")


def _text(parameter: Parameter, value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise _BadArgumentError(f"The argument {parameter.argument} is not of its kind.")


def _body(operation: Operation, args: Args) -> str | None:
    value = args.get(operation.body) if operation.body else None
    if value is None:
        if operation.body_required:
            raise _BadArgumentError(f"The argument {operation.body} is missing.")
        return None
    text = json.dumps(value)
    if len(text) > MAX_BODY:
        raise _BadArgumentError(f"The argument {operation.body} is too long.")
    return text
