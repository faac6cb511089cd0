"""Taking in what a person said on a chat service: admitted at once, answered in its thread.

The service wants its answer within seconds and sends again what it did not hear answered. So a
message is one row of the ledger before the service is answered, under a run id made from the
service's own id of it: however often it comes, it runs once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from bot import org
from bot.authz.actor import Actor
from bot.authz.grants import Grant, grants_of
from bot.authz.members import FREE, turned_away
from bot.channels.base import channel_of, render_outcome
from bot.commands.grammar import Parsed
from bot.dispatch.message import Admission, IncomingMessage
from bot.http import turns
from bot.ports import House
from bot.words import Refused, Source, State


@dataclass(frozen=True, slots=True)
class Heard:
    """What somebody said; ``event_id`` is the service's own id of it.

    ``stranger``: nobody let them in, so they hold nothing and say only what is free.
    """

    event_id: str
    actor: Actor
    thread: str
    text: str
    stranger: bool = False

    @property
    def run_id(self) -> str:
        """The run that it becomes, whenever it comes."""
        digest = hashlib.sha256(f"{self.actor.surface} {self.event_id}".encode()).hexdigest()
        return f"{self.actor.surface}-{digest[:24]}"


async def take(house: House, heard: Heard, now_ms: int) -> Refused | None:
    """Hand a message to dispatch; a refusal is told in its thread, after the answer.

    Raises Fault where the message could not be written down: the service must send it again.
    """
    refusal = await _admitted(house, heard, now_ms)
    if refusal is not None:
        told = render_outcome(State.REFUSED, refusal.code, refusal.detail)
        tell(house, heard.thread, told, key=f"{heard.run_id}-refused", now_ms=now_ms)
    return refusal


def tell(house: House, thread: str, text: str, *, key: str, now_ms: int) -> None:
    """Say something in a thread after the answer, once a key."""
    surface = house.channels[channel_of(thread).partition(":")[0]]

    async def post() -> None:
        await surface.post(thread, text, key=key, now_ms=now_ms)

    house.background.defer(post())


async def grants_now(house: House, actor: Actor) -> tuple[Grant, ...]:
    """What a person holds by the org document as it stands. Raises Fault."""
    admins = house.settings.admins
    known = actor.id in admins
    entries: Any = {} if known else (await house.config.read(org.TIER)).entries
    return grants_of(actor, entries, admins)


async def _admitted(house: House, heard: Heard, now_ms: int) -> Refused | None:
    refusal = turns.bad_text(heard.text) or _turned_away(house, heard)
    if refusal is not None:
        return refusal
    message = IncomingMessage(
        run_id=heard.run_id,
        actor=heard.actor,
        grants=() if heard.stranger else await grants_now(house, heard.actor),
        source=Source.MESSAGE,
        text=heard.text,
        channel=channel_of(heard.thread),
        thread=heard.thread,
    )
    admission = await turns.admit(house, message, now_ms)
    if isinstance(admission, Admission):
        await turns.start(house, admission)
        return None
    return admission


def _turned_away(house: House, heard: Heard) -> Refused | None:
    if not heard.stranger:
        return None
    said = house.commands.parse(heard.text)
    free = isinstance(said, Parsed) and said.name in FREE
    return None if free else turned_away(heard.actor)
