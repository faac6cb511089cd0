"""An MCP server on loopback that speaks streamable HTTP, strictly, in either era.

It checks what the specification lets a server check (headers, versions, sessions, the
handshake), so that a client that cuts a corner is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.loopback import Asked, Given, LoopbackServer, given_json

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")
STATELESS = "2026-07-28"
PAGE = 2
OBJECT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}


def tool(name: str, description: str = "", schema: Any = OBJECT) -> dict[str, Any]:
    """A tool as it is listed."""
    return {"name": name, "description": description, "inputSchema": schema}


def text(said: str, **more: Any) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": said}], **more}


def _echo(args: Mapping[str, Any]) -> dict[str, Any]:
    return text(f"you said {args.get('text')}")


class McpServer(LoopbackServer):
    """One MCP endpoint at ``endpoint``.

    ``versions`` that it speaks; ``secret`` it wants as a bearer; ``sse`` answers by events;
    ``sessions`` gives out session ids; ``tools`` by name with what calls them; ``extra`` are
    listed besides. ``calls`` are the tool calls that took effect.
    """

    def __init__(
        self,
        *,
        versions: tuple[str, ...] = HANDSHAKE,
        secret: str | None = None,
        sse: bool = False,
        sessions: bool = True,
    ) -> None:
        self.versions = versions
        self.secret = secret
        self.sse = sse
        self.sessions = sessions
        self.tools: dict[str, tuple[dict[str, Any], Callable[[Mapping[str, Any]], Any]]] = {}
        self.add(tool("echo", "Says it back."), _echo)
        self.add(tool("admin.add", "Adds."), lambda args: text("added"))
        self.add(tool("fail", "Always fails."), lambda args: text("it broke", isError=True))
        self.extra: list[Any] = []
        self.calls: list[tuple[str, Any]] = []
        self.live: set[str] = set()
        self.ready: set[str] = set()
        self._made = 0
        super().__init__()

    @property
    def endpoint(self) -> str:
        return f"{self.url}/mcp"

    def add(self, listed: dict[str, Any], call: Callable[[Mapping[str, Any]], Any]) -> None:
        """Offer one more tool."""
        self.tools[listed["name"]] = (listed, call)

    def methods(self) -> list[str]:
        """The JSON-RPC methods that were asked, in order."""
        return [each.json["method"] for each in self.asked if each.body]

    def end_sessions(self) -> None:
        """Forget every session, as a server that was restarted."""
        self.live.clear()

    def answer(self, asked: Asked) -> Given:
        if asked.path != "/mcp" or asked.method != "POST":
            return Given(405 if asked.path == "/mcp" else 404)
        if self.secret and asked.headers.get("authorization") != f"Bearer {self.secret}":
            return Given(401, headers={"www-authenticate": "Bearer"})
        accepted = asked.headers.get("accept", "")
        if "application/json" not in accepted or "text/event-stream" not in accepted:
            return Given(406)
        message = asked.json
        stateless = self._stateless_problem(asked, message)
        if stateless is not None:
            return stateless
        if "_meta" in message.get("params", {}):
            return self._result(message)
        return self._in_session(asked, message)

    def _stateless_problem(self, asked: Asked, message: Any) -> Given | None:
        """What a server without sessions says of a request that is not as it must be."""
        if any(version in HANDSHAKE for version in self.versions) and "_meta" not in message.get(
            "params", {}
        ):
            return None
        named = asked.headers.get("mcp-protocol-version")
        if named not in self.versions:
            supported = {"supported": list(self.versions), "requested": named}
            return _error(message, 400, -32022, "Unsupported protocol version", supported)
        params = message.get("params", {})
        meta = params.get("_meta", {})
        mirrored = {
            "mcp-protocol-version": meta.get("io.modelcontextprotocol/protocolVersion"),
            "mcp-method": message["method"],
            **({"mcp-name": params["name"]} if "name" in params else {}),
            **self._mirrored(params),
        }
        for header, value in mirrored.items():
            if asked.headers.get(header) != value:
                return _error(message, 400, -32020, f"Header mismatch: {header}")
        return None

    def _mirrored(self, params: Mapping[str, Any]) -> dict[str, str]:
        listed = self.tools.get(params.get("name", ""), ({},))[0]
        properties = listed.get("inputSchema", {}).get("properties", {})
        return {
            f"mcp-param-{shape['x-mcp-header'].lower()}": str(params["arguments"][name])
            for name, shape in properties.items()
            if "x-mcp-header" in shape and name in params["arguments"]
        }

    def _in_session(self, asked: Asked, message: Any) -> Given:
        if message["method"] == "initialize":
            wanted = message["params"]["protocolVersion"]
            version = wanted if wanted in self.versions else self.versions[0]
            result = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
            }
            return self._respond(message, result, self._new_session())
        session = asked.headers.get("mcp-session-id")
        if self.sessions and session is None:
            return Given(400, "no session")
        if self.sessions and session not in self.live:
            return Given(404, "the session ended")
        if asked.headers.get("mcp-protocol-version") not in self.versions:
            return Given(400, "no version")
        if message["method"] == "notifications/initialized":
            self.ready.add(session or "")
            return Given(202)
        if (session or "") not in self.ready:
            return _error(message, 400, -32002, "not initialized")
        return self._result(message)

    def _new_session(self) -> dict[str, str]:
        if not self.sessions:
            return {}
        self._made += 1
        self.live.add(f"session-{self._made}")
        return {"mcp-session-id": f"session-{self._made}"}

    def _result(self, message: Any) -> Given:
        params = message.get("params", {})
        if message["method"] == "tools/list":
            listed = [*(listed for listed, _ in self.tools.values()), *self.extra]
            start = int(params.get("cursor", "0"))
            page: dict[str, Any] = {"tools": listed[start : start + PAGE]}
            if start + PAGE < len(listed):
                page["nextCursor"] = str(start + PAGE)
            return self._respond(message, page)
        if message["method"] != "tools/call":
            return _error(message, 404, -32601, "Method not found")
        if params["name"] not in self.tools:
            return _error(message, 200, -32602, f"Unknown tool: {params['name']}")
        self.calls.append((params["name"], params["arguments"]))
        return self._respond(message, self.tools[params["name"]][1](params["arguments"]))

    def _respond(
        self, message: Any, result: Any, headers: Mapping[str, str] | None = None
    ) -> Given:
        response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        if not self.sse:
            return given_json(response, 200, **(headers or {}))
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        events = [": hello", "id: 1", "data:", "", f"data: {json.dumps(progress)}", ""]
        lines = json.dumps(response, indent=1).split("\n")
        events += ["event: message", *(f"data: {line}" for line in lines), "", ""]
        kind = {"content-type": "text/event-stream; charset=utf-8"}
        return Given(200, "\r\n".join(events), {**kind, **(headers or {})})


def _error(message: Any, status: int, code: int, said: str, data: Any = None) -> Given:
    error = {"code": code, "message": said, **({} if data is None else {"data": data})}
    return given_json({"jsonrpc": "2.0", "id": message.get("id"), "error": error}, status)
