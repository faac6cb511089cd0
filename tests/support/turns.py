"""Turns in memory: a house with a scripted model, a message admitted, its turn run by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import FLOORS, Grant, parse_grant
from bot.commands.all import REGISTRY
from bot.dispatch.admit import admit
from bot.dispatch.message import IncomingMessage
from bot.dispatch.turn import run_turn
from bot.ports import HttpReply, Json, StepWork
from bot.runs import ledger, trace
from bot.runs.ledger import Run
from bot.words import Source
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.model_server import Answer
from tests.support.world import Sent

MODEL_URL = "http://model.test/v1"


@dataclass
class KeptSteps:
    """Durable steps: a step that ended is answered from ``kept``. ``ran`` names what began."""

    kept: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    slept: list[int] = field(default_factory=list)
    after: Callable[[str], None] = lambda name: None
    """Called after each step that ended: where a test cancels, moves the clock, or crashes."""

    async def do(self, name: str, work: StepWork, *, retries: int = 0) -> Json:
        if name not in self.kept:
            for attempt in range(retries + 1):
                self.ran.append(name)
                try:
                    self.kept[name] = json.dumps(await work())
                    break
                except Exception:
                    if attempt == retries:
                        raise
            self.after(name)
        return json.loads(self.kept[name])

    async def sleep(self, name: str, ms: int) -> None:
        if name not in self.kept:
            self.kept[name] = "null"
            self.slept.append(ms)


class Office:
    """A house whose model answers from a script; everything else outside from ``outside``."""

    def __init__(self, *script: Answer, **overrides: Any):
        settings = {"model_base_url": MODEL_URL, "model_api_key": "k", "model": "scripted"}
        settings |= overrides.pop("settings", {})
        self.house: TestHouse = make_house(commands=REGISTRY, settings=settings, **overrides)
        self.script = list(script)
        self.model: Callable[[Mapping[str, Any]], Answer] | None = None
        """Answers in the place of the script, where a test sets it."""
        self.asked: list[Mapping[str, Any]] = []
        self.outside: Callable[[Sent], HttpReply] = lambda sent: HttpReply(404, {}, "{}")
        self.house.http.otherwise = self._answer
        self.steps = KeptSteps()

    def admit(
        self,
        text: str,
        actor: str = "web:alice",
        grants: tuple[str, ...] = (),
        source: Source = Source.MESSAGE,
        run_id: str = "run1",
        **values: Any,
    ) -> str:
        """Admit a message; a person has the floor besides ``grants``."""
        who = parse_actor(actor)
        assert isinstance(who, Actor)
        held = tuple(parse_grant(each) for each in grants)
        assert all(isinstance(each, Grant) for each in held), held
        values.setdefault("thread", "web:general/t1")
        message = IncomingMessage(
            run_id=run_id,
            actor=who,
            grants=(*FLOORS[who.is_person], *held),  # type: ignore[arg-type]
            source=source,
            text=text,
            **values,
        )
        run(admit(self.house, [message], self.house.clock.now_ms()))
        return run_id

    def turn(self, run_id: str = "run1", steps: KeptSteps | None = None) -> Run:
        """One life of the run; how the ledger has it afterwards."""
        run(run_turn(self.house, run_id, steps or self.steps))
        return self.run(run_id)

    def say(self, text: str, *args: Any, **values: Any) -> Run:
        """Admit a message and run its turn."""
        return self.turn(self.admit(text, *args, **values))

    def run(self, run_id: str = "run1") -> Run:
        found = run(ledger.get(self.house.db, run_id))
        assert found is not None
        return found

    def trace(self, run_id: str = "run1") -> list[dict[str, Any]]:
        return run(trace.read(self.house.db, run_id))

    @property
    def said(self) -> str:
        """The one thing that was posted."""
        (text,) = self.house.web.texts()
        return text

    def _answer(self, sent: Sent) -> HttpReply:
        if sent.url != f"{MODEL_URL}/chat/completions":
            return self.outside(sent)
        self.asked.append(json.loads(sent.body or "null"))
        answer = self.model(self.asked[-1]) if self.model else self.script.pop(0)
        return HttpReply(answer.status, answer.headers, answer.text)
