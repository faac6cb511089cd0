"""Calls that change the outside are made at most once (design: a step can run again).

A personal tool's other side knows no idempotency key, so the call is claimed in D1 before it
goes out. A call that was cut off between its claim and its end is not made again: the agent is
told that its end is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from bot.agent.tools import ToolCall, ToolResult
from bot.ports import Statement

KEPT_MS = 30 * 24 * 3_600_000
"""How long a call is remembered: as long as any run can be resumed, and more."""


async def once(call: ToolCall, work: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
    """Do ``work`` unless a call with this key was begun before; then answer what it came to."""
    _, claim = await call.house.db.batch(
        [
            Statement("DELETE FROM tool_calls WHERE begun_at < ?", (call.now_ms - KEPT_MS,)),
            Statement(
                "INSERT INTO tool_calls (key, begun_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (call.key, call.now_ms),
            ),
        ]
    )
    if claim.changes == 0:
        return await _earlier(call)
    result = await work()
    await call.house.db.run(
        "UPDATE tool_calls SET result = ? WHERE key = ?",
        json.dumps([result.text, result.ok, result.untrusted]),
        call.key,
    )
    return result


async def _earlier(call: ToolCall) -> ToolResult:
    found = await call.house.db.run("SELECT result FROM tool_calls WHERE key = ?", call.key)
    kept = found.rows[0]["result"] if found.rows else None
    if kept is None:
        return ToolResult(
            "This call was begun before and cut off. Whether it took effect is not known, so it "
            "is not made again.",
            ok=False,
        )
    text, ok, untrusted = json.loads(kept)
    return ToolResult(text, ok, untrusted)
