"""The model: one call of any OpenAI-compatible chat-completions endpoint.

Nothing here waits or tries again. An answer that asks to be asked later says in how many
seconds, and the caller waits in a durable sleep (``bot.agent.asking``).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.agent.exchange import DEFAULT_WAIT_S, Asked, Later, Reply, Unusable, read_reply
from bot.agent.workers_ai import DEFAULT_MODEL, WorkersAi
from bot.ports import Fault, House, HttpClient, HttpReply, Json

log = logging.getLogger("bot.model")
_TRY_AGAIN = frozenset({408, 409, 425, 429})
_SECONDS = re.compile(r"([0-9]{1,9})(\.[0-9]+)?", re.ASCII)


class Model(Protocol):
    """A model that answers."""

    async def complete(self, asked: Asked, *, timeout_s: float) -> Reply | Later | Unusable:
        """One call, cancelled after ``timeout_s`` seconds."""
        ...


def model_of(house: House) -> Model | None:
    """The house's model: the configured endpoint, else the platform's binding, else None."""
    settings = house.settings
    if settings.model_base_url:
        return ChatCompletions(
            house.http, settings.model_base_url, settings.model_api_key, settings.model or "default"
        )
    if house.inference is not None:
        return WorkersAi(house.inference, settings.model or DEFAULT_MODEL)
    return None


def function(name: str, description: str, parameters: Mapping[str, Any]) -> Json:
    """A function as the protocol offers it to a model; ``parameters`` is a JSON schema."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """An endpoint at ``base_url`` (``https://api.example.com/v1``)."""

    http: HttpClient
    base_url: str
    api_key: str = field(repr=False)
    model: str

    async def complete(self, asked: Asked, *, timeout_s: float) -> Reply | Later | Unusable:
        """One request. The key goes to that address alone: no redirect is followed."""
        body: dict[str, Any] = {"model": self.model, "messages": asked.messages}
        if asked.functions:
            body["tools"] = asked.functions
            body["tool_choice"] = "required" if asked.must_call else "auto"
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        try:
            reply = await self.http.send(
                "POST",
                f"{self.base_url}/chat/completions",
                headers=headers,
                body=json.dumps(body),
                timeout_s=timeout_s,
            )
        except Fault as fault:
            log.warning("no answer: %s", fault, extra={"action": "model_silent"})
            return Later(DEFAULT_WAIT_S, "it did not answer in time")
        return self._read(reply, asked)

    def _read(self, reply: HttpReply, asked: Asked) -> Reply | Later | Unusable:
        if reply.status == 200:
            found = read_reply(reply.text, asked.messages)
            return found or Unusable("its answer could not be read")
        # An endpoint may quote what it was sent, so its words stay in the log, without the key.
        said = reply.text.replace(self.api_key, "***") if self.api_key else reply.text
        log.warning("status %s: %s", reply.status, said[:300], extra={"action": "model_refused"})
        return _trouble(reply)


def _trouble(reply: HttpReply) -> Later | Unusable:
    why = f"it answered with status {reply.status}"
    if reply.status in _TRY_AGAIN or reply.status >= 500:
        return Later(_wait_s(reply.headers.get("retry-after", "")), why)
    return Unusable(why)


def _wait_s(header: str) -> int:
    """Seconds that a ``retry-after`` asks for, rounded up; its rare form as a date is not read."""
    found = _SECONDS.fullmatch(header.strip())
    return max(int(found[1]) + bool(found[2]), 1) if found else DEFAULT_WAIT_S
