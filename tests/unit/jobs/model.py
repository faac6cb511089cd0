"""A scripted model: what it answers, in the protocol of chat completions, one after the other."""

from __future__ import annotations

import json
from typing import Any

from bot.ports import HttpReply
from tests.support import model_server
from tests.support.world import Sent

SETTINGS = {"model_base_url": "https://model.example/v1", "model": "scripted"}


def says(text: str) -> HttpReply:
    """The model's last word."""
    return HttpReply(200, {}, model_server.says(text).text)


def calls(tool: str, /, **args: Any) -> HttpReply:
    """One call of a tool."""
    return HttpReply(200, {}, model_server.calls((tool, args)).text)


def asked(sent: Sent) -> dict[str, Any]:
    """What the model was asked."""
    assert sent.body is not None
    return json.loads(sent.body)


def tools_of(sent: Sent) -> set[str]:
    """The tools that the model was offered."""
    return {tool["function"]["name"] for tool in asked(sent).get("tools", [])}


def told(sent: Sent) -> list[str]:
    """What the tools answered before this request."""
    return [each["content"] for each in asked(sent)["messages"] if each["role"] == "tool"]
