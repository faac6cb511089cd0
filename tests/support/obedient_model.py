"""A model that does whatever any text tells it to: the worst that a hostile text can hope for."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.loopback import Asked, Given, LoopbackServer, given_json

_ORDER = re.compile(r"ORDER (\w+) (\{[^{}]*\}) END")
_SAY = re.compile(r"SAY (.*?) END", re.DOTALL)

ToolUse = tuple[str, dict[str, Any]]


def order(tool: str, args: dict[str, Any]) -> str:
    """Words that make the model call a tool."""
    return f"ORDER {tool} {json.dumps(args, separators=(',', ':'))} END"


class ObedientModel(LoopbackServer):
    """Makes the calls of its ``errand``, one by one, then every call that it was ordered to make
    in anything it read. Its last word repeats all that it was told to say."""

    family = "model"

    def __init__(self, *errand: ToolUse) -> None:
        super().__init__()
        self.errand = errand

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def answer(self, asked: Asked) -> Given:
        messages: list[dict[str, Any]] = asked.json["messages"]
        read = "\n".join(m["content"] or "" for m in messages if m["role"] in ("user", "tool"))
        ordered = [(name, json.loads(args)) for name, args in _ORDER.findall(read)]
        calls = [*self.errand, *ordered]
        made = sum(len(m.get("tool_calls") or ()) for m in messages)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if made < len(calls):
            name, args = calls[made]
            function = {"name": name, "arguments": json.dumps(args)}
            message["tool_calls"] = [{"id": f"c{made}", "type": "function", "function": function}]
        else:
            message["content"] = "\n".join(["I did as I was told.", *_SAY.findall(read)])
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return given_json({"object": "chat.completion", "choices": [choice], "usage": usage})
