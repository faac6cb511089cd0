"""A person's MCP servers: their tools, offered as ``NAME__tool`` and called over streamable HTTP.

What a server says of its tools is somebody else's text and never believed: each is taken to
change the outside, so a call is made once (``once``); names and schemas are made over, answers
are cut and marked. A server that is down costs its own tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, cast

from bot.agent import mcp_wire as wire
from bot.agent.foreign import bounded_schema, cut, described, tool_name
from bot.agent.mcp_wire import Trouble
from bot.agent.once import once
from bot.agent.tools import Args, Tool, ToolCall, ToolResult
from bot.net import bad_url
from bot.ports import Fault, HttpClient, HttpReply, Json

LIST_TIMEOUT_S = 5.0
CALL_TIMEOUT_S = 20.0
MAX_TOOLS = 40
"""Tools of one server that are offered."""
MAX_PAGES = 10
MAX_ARGUMENTS = 100_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as its server lists it. ``headers``: arguments that are repeated in headers."""

    name: str
    description: str
    schema: Mapping[str, Any]
    headers: Mapping[str, tuple[str, ...]]


class Session:
    """One conversation with one server; it opens itself, and again when the server ended it.

    The address is judged before every request, and a redirect is an answer that is refused.
    """

    def __init__(self, http: HttpClient, url: str, secret: str | None, *, private_ok: bool) -> None:
        self._http = http
        self._url = url
        self._secret = secret
        self._private_ok = private_ok
        self._version: str | None = None
        self._session: str | None = None
        self._asked = 0

    async def list_tools(self) -> list[Definition] | Trouble:
        """The server's first ``MAX_TOOLS`` tools, over as many pages as they take."""
        found: list[Definition] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = None if cursor is None else {"cursor": cursor}
            page = await self.ask("tools/list", params, timeout_s=LIST_TIMEOUT_S)
            if isinstance(page, Trouble):
                return page
            listed: Any = page.get("tools")
            if not isinstance(listed, list):
                return Trouble("its list of tools is not what the protocol says")
            found += filter(None, map(_definition, cast(list[Any], listed)))
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or len(found) >= MAX_TOOLS:
                break
        return found[:MAX_TOOLS]

    async def call_tool(self, tool: Definition, args: Args) -> dict[str, Any] | Trouble:
        """The result of one call, as the server gives it."""
        params = {"name": tool.name, "arguments": dict(args)}
        return await self.ask(
            "tools/call",
            params,
            timeout_s=CALL_TIMEOUT_S,
            mirrored=wire.mirror(tool.headers, args),
        )

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        timeout_s: float,
        mirrored: wire.Headers | None = None,
    ) -> dict[str, Any] | Trouble:
        """One request, in a session that is opened first where the server's era wants one."""
        for _ in range(2):
            trouble = None if self._version else await self._open()
            if trouble is not None:
                return trouble
            result = await self._request(method, params, timeout_s, mirrored)
            ended = isinstance(result, Trouble) and result.status == 404 and self._session
            if not ended:
                return result
            self._version = self._session = None
        return Trouble("it ends every session at once", 404)

    async def _open(self) -> Trouble | None:
        self._asked += 1
        reply = await self._send(
            wire.message("initialize", wire.opening(), self._asked), {}, LIST_TIMEOUT_S
        )
        if isinstance(reply, Trouble):
            return reply
        result = wire.result_of(reply, self._asked)
        if isinstance(result, Trouble):
            if not result.wants_stateless:
                return result
            self._version = wire.STATELESS
            return None
        version = result.get("protocolVersion")
        if version not in wire.HANDSHAKE:
            return Trouble("it speaks no version of the protocol that is known here")
        self._version, self._session = cast(str, version), wire.session_id(reply)
        ready = wire.message("notifications/initialized", None, None)
        told = await self._send(ready, self._session_headers(), LIST_TIMEOUT_S)
        return told if isinstance(told, Trouble) else None

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        timeout_s: float,
        mirrored: wire.Headers | None,
    ) -> dict[str, Any] | Trouble:
        self._asked += 1
        if self._version == wire.STATELESS:
            sent = wire.stateless_params(params)
            headers = {**wire.stateless_headers(method, params), **(mirrored or {})}
        else:
            sent, headers = params, self._session_headers()
        reply = await self._send(wire.message(method, sent, self._asked), headers, timeout_s)
        return reply if isinstance(reply, Trouble) else wire.result_of(reply, self._asked)

    def _session_headers(self) -> wire.Headers:
        headers = {"mcp-protocol-version": self._version or wire.HANDSHAKE[0]}
        return {**headers, "mcp-session-id": self._session} if self._session else headers

    async def _send(
        self, message: Json, headers: wire.Headers, timeout_s: float
    ) -> HttpReply | Trouble:
        if bad_url(self._url, private_ok=self._private_ok) is not None:
            return Trouble("its address is refused")
        try:
            return await self._http.send(
                "POST",
                self._url,
                headers={**wire.base_headers(self._secret), **headers},
                body=json.dumps(message),
                timeout_s=timeout_s,
            )
        except Fault:
            return Trouble("it did not answer in time, or not at all")


def _definition(value: Json) -> Definition | None:
    """A listed tool, None where it cannot be offered."""
    if not isinstance(value, dict):
        return None
    listed = cast(dict[str, Any], value)
    name, schema = listed.get("name"), listed.get("inputSchema")
    if not isinstance(name, str) or not 1 <= len(name) <= 128 or not isinstance(schema, dict):
        return None
    headers = wire.mirrored(schema)
    if headers is None:
        return None
    said = listed.get("description") or listed.get("title")
    return Definition(
        name, described(said, f"The tool {name}."), cast(dict[str, Any], schema), headers
    )


def tools_of(
    server: str, session: Session, listed: list[Definition], taken: Set[str]
) -> list[Tool]:
    """The server's tools as the agent is offered them; ``taken`` are names in use already."""
    tools: list[Tool] = []
    names = set(taken)
    for definition in listed:
        name = tool_name(server, definition.name, names)
        if name in names:
            continue
        names.add(name)
        tools.append(_tool(name, server, session, definition))
    return tools


def _tool(name: str, server: str, session: Session, definition: Definition) -> Tool:
    async def call(asked: ToolCall) -> ToolResult:
        if len(json.dumps(dict(asked.args))) > MAX_ARGUMENTS:
            return ToolResult("bad_value: the arguments are too long.", ok=False)

        async def work() -> ToolResult:
            result = await session.call_tool(definition, asked.args)
            if isinstance(result, Trouble):
                said = f' It says: "{result.said}"' if result.said else ""
                why = f"The MCP server {server} failed: {result.why}.{said}"
                return ToolResult(why, ok=False, untrusted=True)
            return _answer(result)

        return await once(asked, work)

    return Tool(
        name,
        f"[MCP server {server}] {definition.description}",
        bounded_schema(definition.schema),
        call,
        writes=True,
    )


def _answer(result: Mapping[str, Any]) -> ToolResult:
    content: Any = result.get("content")
    items = cast(list[Any], content) if isinstance(content, list) else []
    texts = [text for text in map(_text, items) if text]
    if not texts and "structuredContent" in result:
        texts = [json.dumps(result["structuredContent"], ensure_ascii=False)]
    text = "\n".join(texts) or "(an empty answer)"
    return ToolResult(cut(text), result.get("isError") is not True, untrusted=True)


def _text(item: Json) -> str:
    """One content item as text; what is not text is named, not shown."""
    if not isinstance(item, dict):
        return ""
    shown = cast(dict[str, Any], item)
    kind, text = shown.get("type"), shown.get("text")
    if kind == "text":
        return text if isinstance(text, str) else ""
    if kind == "resource_link":
        return f"(link: {shown.get('name')} {shown.get('uri')})"
    if kind == "resource" and isinstance(shown.get("resource"), dict):
        resource = cast(dict[str, Any], shown["resource"])
        inner = resource.get("text")
        return inner if isinstance(inner, str) else f"(a resource: {resource.get('uri')})"
    return f"({kind} {shown.get('mimeType') or ''}: not shown)"
