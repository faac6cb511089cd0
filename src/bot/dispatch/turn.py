"""One turn from admission to its end, in durable steps (contract §3, §4).

``open`` finds or opens the thread, ``act`` does what the text says, ``deliver`` posts the
outcome, ``finish`` writes the ledger and the history and frees the slot. A step that ended is
not run again after a crash; each is safe to run again if it was cut off.
"""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from typing import Any

from bot import org
from bot.announce import find
from bot.authz.actor import Actor, parse_actor
from bot.commands.grammar import Malformed, Parsed
from bot.commands.registry import Invocation, Outcome
from bot.dispatch.handback import make_handback, render_handback
from bot.dispatch.rule import Ruling, kind_of, rule
from bot.ports import Document, House, NotOpened, Posted, Steps
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.schedules.firing import firing_of_run
from bot.schedules.row import PREFIX
from bot.words import TEXTS, Code, Delivery, OutcomeKind, Route, Source, State

log = logging.getLogger("bot.turn")
RECORDED = frozenset({Source.SCHEDULE, Source.CATALOG})
"""Turns that are firings: the history keeps them."""
STEP_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Ending:
    """What a turn came to. ``text`` is what is posted and kept as the run's output."""

    state: State
    text: str
    code: str | None = None
    route: str | None = None
    effect: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As a step's result."""
        return {
            "state": self.state,
            "text": self.text,
            "code": self.code,
            "route": self.route,
            "effect": self.effect,
        }


async def run_turn(house: House, run_id: str, steps: Steps) -> None:
    """Carry one admitted run to its end. A run that was ended meanwhile is left as it is."""
    thread: str | None = None
    try:
        opened = await steps.do("open", lambda: _open(house, run_id), retries=STEP_RETRIES)
        thread = opened["thread"]
        if opened["go"] == "stop":
            return
        if opened["go"] == "refused":
            ending: dict[str, Any] = opened["ending"]
        else:
            ending = await steps.do("act", lambda: _act(house, run_id))
    except Exception as error:
        log.error("run %s broke: %s\n%s", run_id, error, traceback.format_exc())
        ending = Ending(State.FAILED, TEXTS[Code.INTERNAL].title, Code.INTERNAL).to_json()
    try:
        delivery = await steps.do("deliver", lambda: _deliver(house, run_id, thread, ending))
    except Exception as error:
        log.error("run %s: its post broke: %s", run_id, error)
        delivery = str(Posted(Delivery.UNKNOWN))
    await steps.do("finish", lambda: _finish(house, run_id, ending, delivery), retries=STEP_RETRIES)


async def _open(house: House, run_id: str) -> dict[str, Any]:
    run = await ledger.get(house.db, run_id)
    now_ms = house.clock.now_ms()
    if run is None:
        return {"go": "stop", "thread": None}
    owes_handback = run.state is State.REFUSED and run.code == Code.SCHEDULE_WRITE
    if not owes_handback and not await ledger.touch(house.db, run_id, now_ms):
        return {"go": "stop", "thread": None}
    thread = await _thread_of(house, run, now_ms)
    if isinstance(thread, NotOpened):
        code = Code.NO_CHANNEL
        ending = Ending(State.REFUSED, f"{TEXTS[code].title}: {thread.reason}", code)
        return {"go": "refused", "thread": None, "ending": ending.to_json()}
    if owes_handback:
        return {"go": "refused", "thread": thread, "ending": _written_back(run).to_json()}
    return {"go": "act", "thread": thread}


async def _thread_of(house: House, run: Run, now_ms: int) -> str | None | NotOpened:
    """The run's thread, opened if need be; a standing one is remembered on its row."""
    if run.thread is not None:
        return run.thread
    if run.channel is None:
        return None
    standing = run.slot is not None and run.row_id is not None
    if standing:
        known = await _standing_thread(house, run)
        if known is not None:
            await ledger.set_thread(house.db, run.id, known)
            return known
    surface = find(house, run.channel)
    if surface is None:
        return NotOpened(f"{run.channel} is gone")
    key = f"standing-{run.row_id}" if standing else run.id
    opened = await surface.open_thread(run.channel, run.lead or run.text, key=key, now_ms=now_ms)
    if isinstance(opened, NotOpened):
        return opened
    if standing:
        await _remember_thread(house, run, opened.thread)
    await ledger.set_thread(house.db, run.id, opened.thread)
    return opened.thread


async def _standing_thread(house: House, run: Run) -> str | None:
    entry: Any = (await house.config.read(org.TIER)).entries.get(f"{PREFIX}{run.name}")
    if not isinstance(entry, dict) or entry.get("id") != run.row_id:  # type: ignore[reportUnknownMemberType]
        return None
    key: Any = entry.get("threadKey")  # type: ignore[reportUnknownMemberType]
    return key if isinstance(key, str) else None


async def _remember_thread(house: House, run: Run, thread: str) -> None:
    """Write the standing thread to its row, unless the row went or another took its name."""
    key = f"{PREFIX}{run.name}"

    def decision(document: Document) -> tuple[dict[str, Any], None]:
        entry: Any = document.entries.get(key)
        if not isinstance(entry, dict) or entry.get("id") != run.row_id:  # type: ignore[reportUnknownMemberType]
            return {}, None
        return {key: {**entry, "threadKey": thread}}, None

    await org.change(house.config, decision)


async def _act(house: House, run_id: str) -> dict[str, Any]:
    run = await ledger.get(house.db, run_id)
    now_ms = house.clock.now_ms()
    if run is None or not await ledger.touch(house.db, run_id, now_ms):
        return Ending(State.FAILED, TEXTS[Code.CANCELLED].title, Code.CANCELLED).to_json()
    return (await _do_text(house, run, now_ms)).to_json()


async def _do_text(house: House, run: Run, now_ms: int) -> Ending:
    actor = parse_actor(run.actor)
    assert isinstance(actor, Actor), "the ledger holds actors that admission made"
    parsed = house.commands.parse(run.text)
    if isinstance(parsed, Malformed):
        text = f"{parsed.detail}\n{parsed.usage}" if parsed.usage else parsed.detail
        return Ending(State.REFUSED, text, Code.BAD_COMMAND, Route.EXPLICIT)
    if not isinstance(parsed, Parsed):
        return Ending(
            State.FAILED,
            "No model is configured, so I understand commands alone. See help.",
            Code.NO_MODEL,
        )
    command = house.commands.get(parsed.name)
    assert command is not None, "the parser knows the registry's commands alone"
    ruling = rule(kind_of(actor, Source(run.source)), Route.EXPLICIT, command.effect)
    if ruling is Ruling.REFUSE:
        return _written_back(run)
    if ruling is Ruling.HAND_BACK:
        code = await make_handback(house, actor, run.text, now_ms)
        return Ending(
            State.REFUSED,
            render_handback(run.text, code),
            Code.HANDED_BACK,
            Route.EXPLICIT,
            command.effect,
        )
    call = Invocation(actor, run.grants, run.id, now_ms, run.thread)
    outcome = await house.commands.invoke(house, call, parsed.name, parsed.args)
    return _ending_of(outcome, command.effect)


def _ending_of(outcome: Outcome, effect: str) -> Ending:
    state = {
        OutcomeKind.OK: State.OK,
        OutcomeKind.REFUSED: State.REFUSED,
        OutcomeKind.FAILED: State.FAILED,
    }[outcome.kind]
    if state is State.OK and not outcome.text.strip():
        return Ending(State.FAILED, "", Code.NO_OUTPUT, Route.EXPLICIT, effect)
    return Ending(state, outcome.text, outcome.code, Route.EXPLICIT, effect)


def _written_back(run: Run) -> Ending:
    return Ending(
        State.REFUSED,
        render_handback(run.text, None),
        Code.SCHEDULE_WRITE,
        run.route or Route.EXPLICIT,
        run.effect,
    )


async def _deliver(house: House, run_id: str, thread: str | None, ending: dict[str, Any]) -> str:
    """Post the outcome; how that went is a word of its own and never changes the state."""
    if thread is None:
        if ending["code"] == Code.NO_CHANNEL:
            return str(Posted(Delivery.UNDELIVERED, "no_channel"))
        return str(Posted(Delivery.DELIVERED))
    surface = house.channels.get(thread.partition(":")[0])
    if surface is None:
        return str(Posted(Delivery.UNDELIVERED, "no_channel"))
    text = ending["text"] or TEXTS[Code.NO_OUTPUT].title
    if ending["state"] != State.OK and ending["code"]:
        text = f"{ending['state']}: {ending['code']}\n{text}"
    posted = await surface.post(thread, text, key=f"{run_id}-out", now_ms=house.clock.now_ms())
    return str(posted)


async def _finish(
    house: House, run_id: str, ending: dict[str, Any], delivery: str
) -> dict[str, Any]:
    now_ms = house.clock.now_ms()
    ended = await ledger.finish(
        house.db,
        run_id,
        state=State(ending["state"]),
        code=ending["code"],
        output=ending["text"],
        now_ms=now_ms,
        route=ending["route"],
        effect=ending["effect"],
        delivery=delivery,
    )
    run = await ledger.get(house.db, run_id)
    if run is None:
        return {}
    if not ended and run.delivery is None:
        await ledger.set_delivery(house.db, run_id, delivery, ending["text"])
        run = await ledger.get(house.db, run_id) or run
    if Source(run.source) in RECORDED:
        await house.history.record([firing_of_run(run)])
    return {"state": run.state, "code": run.code}
