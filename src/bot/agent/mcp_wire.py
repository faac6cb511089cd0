"""The Model Context Protocol on the wire: its requests, and reading its answers. Pure.

Two eras are spoken (streamable HTTP in both). Up to 2025-11-25 a client opens with
``initialize`` and carries the session's id; from 2026-07-28 on there is no session, and every
request says version and client itself and repeats some of its body in headers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from bot.agent.github import one_line
from bot.ports import HttpReply, Json
from bot.strictjson import loads

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that open with ``initialize``; the first is asked for."""
STATELESS = "2026-07-28"
CLIENT = {"name": "standing-orders", "version": "1"}
_STATELESS_ERRORS = frozenset({-32020, -32021, -32022})
"""Header mismatch, missing capability, unsupported version: a server without sessions."""
_METHOD_NOT_FOUND = -32601
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}", re.ASCII)
_SESSION_ID = re.compile(r"[!-~]{1,1024}", re.ASCII)
_HEADER_SAFE = re.compile(r"[!-~]([ -~]*[!-~])?", re.ASCII)
_LINE = re.compile("\r\n|\r|\n")
_META = "io.modelcontextprotocol/"

Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a server gave no result: our own words, the HTTP status and the JSON-RPC code.

    ``said``: the server's own words, which are data. ``supported``: the protocol versions that
    it says it speaks.
    """

    why: str
    status: int | None = None
    code: int | None = None
    said: str = ""
    supported: tuple[str, ...] = ()

    @property
    def wants_stateless(self) -> bool:
        """Whether an ``initialize`` was refused by a server that knows no sessions."""
        if self.supported:
            return STATELESS in self.supported
        return self.code in _STATELESS_ERRORS or self.code == _METHOD_NOT_FOUND


def opening() -> Json:
    """The params of ``initialize``: this client offers nothing besides asking."""
    return {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": CLIENT}


def message(method: str, params: Json, number: int | None) -> Json:
    """A JSON-RPC request; without a number, a notification."""
    made: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        made["id"] = number
    if params is not None:
        made["params"] = params
    return made


def stateless_params(params: Mapping[str, Any] | None) -> Json:
    """The params of a request without a session."""
    meta = {"protocolVersion": STATELESS, "clientInfo": CLIENT, "clientCapabilities": {}}
    return {**(params or {}), "_meta": {_META + key: value for key, value in meta.items()}}


def base_headers(secret: str | None) -> Headers:
    """What every request carries."""
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "user-agent": "standing-orders",
    }
    return {**headers, "authorization": f"Bearer {secret}"} if secret else headers


def stateless_headers(method: str, params: Mapping[str, Any] | None) -> Headers:
    """What a request without a session repeats of its body."""
    headers = {"mcp-protocol-version": STATELESS, "mcp-method": method}
    name = (params or {}).get("name")
    return {**headers, "mcp-name": header_value(name)} if isinstance(name, str) else headers


def header_value(value: str | int | bool) -> str:
    """A value as a header carries it: as it is, or in the specification's base64 form."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    sentinel = text.startswith("=?base64?") and text.endswith("?=")
    if _HEADER_SAFE.fullmatch(text) and not sentinel:
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def mirrored(schema: Json) -> Mapping[str, tuple[str, ...]] | None:
    """Which arguments a tool's schema wants in headers too: header to path of properties.

    None where it says so in a way that the specification forbids: the tool is left out then.
    """
    found: dict[str, tuple[str, ...]] = {}
    if not _collect(schema, (), found) or _count(schema) != len(found):
        return None
    return found


def _collect(node: Json, path: tuple[str, ...], found: dict[str, tuple[str, ...]]) -> bool:
    if not isinstance(node, dict):
        return True
    schema = cast(dict[str, Any], node)
    if "x-mcp-header" in schema:
        name = schema["x-mcp-header"]
        fits = isinstance(name, str) and _TOKEN.fullmatch(name) and path
        if not fits or schema.get("type") not in ("string", "integer", "boolean"):
            return False
        header = f"mcp-param-{name.lower()}"
        if header in found:
            return False
        found[header] = path
    properties = schema.get("properties")
    children = cast(dict[str, Any], properties) if isinstance(properties, dict) else {}
    return all(_collect(child, (*path, name), found) for name, child in children.items())


def _count(schema: Json) -> int:
    """How many times the mark occurs anywhere, reached by properties alone or not."""
    return json.dumps(schema).count('"x-mcp-header":')


def mirror(headers: Mapping[str, tuple[str, ...]], args: Mapping[str, Any]) -> Headers:
    """The headers that repeat a call's arguments."""
    made: Headers = {}
    for header, path in headers.items():
        value: Any = args
        for name in path:
            value = cast(dict[str, Any], value).get(name) if isinstance(value, dict) else None
        if isinstance(value, (str, int, bool)):
            made[header] = header_value(value)
    return made


def session_id(reply: HttpReply) -> str | None:
    """The session that the answer to ``initialize`` opened, if any."""
    given = reply.headers.get("mcp-session-id", "")
    return given if _SESSION_ID.fullmatch(given) else None


def result_of(reply: HttpReply, number: int) -> dict[str, Any] | Trouble:
    """The result of request ``number`` in an answer, JSON or a stream of events."""
    found = next((each for each in _messages(reply) if each.get("id") == number), None)
    if found is None and not 200 <= reply.status < 300:
        found = next((each for each in _messages(reply) if "error" in each), None)
    error: Any = found.get("error") if found else None
    if isinstance(error, dict):
        return _error(cast(dict[str, Any], error), reply.status)
    if not 200 <= reply.status < 300:
        return Trouble(_why(reply), reply.status)
    result: Any = found.get("result") if found else None
    if not isinstance(result, dict):
        return Trouble("its answer is not what the protocol says", reply.status)
    result = cast(dict[str, Any], result)
    if result.get("resultType") == "input_required":
        return Trouble("it asks for input in the middle, which nobody here can give")
    return result


def _messages(reply: HttpReply) -> Iterator[dict[str, Any]]:
    """The JSON-RPC messages of an answer; what cannot be read is passed over."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    for text in events(reply.text) if kind == "text/event-stream" else [reply.text]:
        try:
            data: Any = loads(text)
        except ValueError:
            continue
        for each in cast(list[Any], data) if isinstance(data, list) else [data]:
            if isinstance(each, dict):
                yield cast(dict[str, Any], each)


def events(text: str) -> Iterator[str]:
    """The data of each event of a server-sent stream, also of a last one that is not ended."""
    data: list[str] = []
    for line in (*_LINE.split(text.removeprefix("\ufeff")), ""):
        if not line and data:
            yield "\n".join(data)
            data = []
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))


def _error(error: Mapping[str, Any], status: int) -> Trouble:
    code, said, data = error.get("code"), error.get("message"), error.get("data")
    supported: Any = cast(dict[str, Any], data).get("supported") if isinstance(data, dict) else None
    versions = cast(list[Any], supported) if isinstance(supported, list) else []
    return Trouble(
        "it answers with an error",
        status,
        code if isinstance(code, int) else None,
        one_line(said, 300) if isinstance(said, str) else "",
        tuple(each for each in versions if isinstance(each, str)),
    )


def _why(reply: HttpReply) -> str:
    if reply.status in (401, 403):
        return f"it refuses the secret, or asks for one (status {reply.status})"
    if 300 <= reply.status < 400:
        return f"it has moved to another address, which is not followed (status {reply.status})"
    if reply.status == 429:
        return "it is asked too often (status 429)"
    return f"it answers with status {reply.status}"
