"""Admission: from messages to ledger rows and running Workflows, in two round trips."""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands.grammar import Parsed
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.dispatch.rule import Ruling, kind_of, rule
from bot.ports import House
from bot.runs import ledger
from bot.runs.ledger import Verdict
from bot.words import Code, Route


async def admit(house: House, messages: Sequence[IncomingMessage], now_ms: int) -> list[Admission]:
    """Claim ledger rows and thread slots for messages; nothing slow and nothing outside.

    What can be refused without starting is refused here: a busy thread, and a schedule whose
    text is written out as a writing command. Safe to call again with the same messages after
    a Fault: the run ids hold it to one row each. The answers come in the messages' order.
    """
    judged = [(message, verdict(house, message)) for message in messages]
    return await ledger.admit(house.db, judged, now_ms)


async def start(house: House, admissions: Sequence[Admission]) -> list[str]:
    """Set the engine going for what was admitted, and for refusals that owe a hand-back.

    Returns the run ids handed to the engine. Safe to repeat: an id that was started is left
    alone. Where it raises Fault, the watchdog starts them later.
    """
    run_ids = [
        admission.run_id
        for admission in admissions
        if admission.kind is AdmissionKind.ADMITTED or admission.code is Code.SCHEDULE_WRITE
    ]
    if run_ids:
        await house.engine.start(run_ids)
    return run_ids


def verdict(house: House, message: IncomingMessage) -> Verdict | None:
    """The refusal that a message earns by its own words, or None.

    Only a text in chat form can be judged without a model; prose is judged after routing, by
    the same rule.
    """
    parsed = house.commands.parse(message.text)
    if not isinstance(parsed, Parsed):
        return None
    command = house.commands.get(parsed.name)
    if command is None:
        return None
    kind = kind_of(message.actor, message.source)
    if rule(kind, Route.EXPLICIT, command.effect) is Ruling.REFUSE:
        return Verdict(Code.SCHEDULE_WRITE, Route.EXPLICIT, command.effect)
    return None
