"""How a turn begins: it lives, it has its thread, and what its text asks for is known."""

from __future__ import annotations

from typing import Any

from bot import org
from bot.announce import find
from bot.dispatch.act import first_todo, refused_write
from bot.dispatch.todo import End, Gone, OpenLater, Todo
from bot.ports import Document, House, NotOpened
from bot.runs import ledger
from bot.runs.ending import refused
from bot.runs.ledger import Run
from bot.schedules.row import PREFIX
from bot.words import TEXTS, Code, Route


async def open_turn(house: House, run_id: str) -> tuple[str | None, Todo]:
    """The thread that the turn answers in, and what it has to do: the work of the step ``open``.

    ``Gone`` where the run was ended meanwhile or is unknown. A run that admission refused as a
    schedule's write lives no more, and still owes its hand-back.
    """
    now_ms = house.clock.now_ms()
    run = await ledger.begin(house.db, run_id, now_ms)
    if run is None:
        ended = await ledger.get(house.db, run_id)
        if ended is None or not ended.owes_handback:
            return None, Gone()
        run = ended
    thread = await _thread_of(house, run, now_ms)
    if isinstance(thread, NotOpened):
        code = Code.NO_CHANNEL
        ending = refused(code, f"{TEXTS[code].title}: {thread.reason}")
        wait_s = thread.wait_s
        return None, End(ending) if wait_s is None else OpenLater(wait_s, ending)
    if run.owes_handback:
        return thread, End(refused_write(run.text, run.route or Route.EXPLICIT, run.effect))
    return thread, first_todo(house, run)


async def _thread_of(house: House, run: Run, now_ms: int) -> str | NotOpened | None:
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

    await org.change(house.config, decision, upkeep=True)
