"""Handing a message that came over HTTP to dispatch, and waiting for its run."""

from __future__ import annotations

import logging

from bot.dispatch import admit as dispatch
from bot.dispatch.message import Admission, AdmissionKind, IncomingMessage
from bot.ports import Fault, House
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.words import TEXTS, Code, Refused

log = logging.getLogger("bot.http")
MAX_TEXT = 20_000
FIRST_PAUSE_MS = 100
LONGEST_PAUSE_MS = 1_000


def bad_text(text: str) -> Refused | None:
    """Whether a person may say that; None is yes."""
    if not text.strip():
        return Refused(Code.BAD_TEXT, "The text is empty.")
    if len(text) > MAX_TEXT:
        return Refused(Code.BAD_TEXT, f"The text has {len(text):,} characters of {MAX_TEXT:,}.")
    if "\0" in text:
        return Refused(Code.BAD_TEXT, "The text holds a NUL character.")
    return None


async def admit(house: House, message: IncomingMessage, now_ms: int) -> Admission | Refused:
    """Claim the message's run, or say why it may not start (``thread_busy``, ...)."""
    (admission,) = await dispatch.admit(house, [message], now_ms)
    if admission.kind is not AdmissionKind.REFUSED:
        return admission
    if admission.code is Code.THREAD_BUSY:
        return Refused(Code.THREAD_BUSY, "The thread has a live run; wait for it, or cancel it.")
    code = admission.code or Code.INTERNAL
    return Refused(code, TEXTS[code].title + ".")


async def start(house: House, admission: Admission) -> None:
    """Set an admitted run going; where the engine does not answer, the watchdog will."""
    try:
        await dispatch.start(house, [admission])
    except Fault as fault:
        log.error(
            "run %s not started: %s", admission.run_id, fault, extra={"action": "start_failed"}
        )


async def wait(house: House, run_id: str, wait_ms: int) -> Run | None:
    """The run once it has ended; None where it has not in ``wait_ms``.

    What is counted is the time slept, since a clock may be set while we wait. A database that
    does not answer once is asked again.
    """
    waited, pause = 0, FIRST_PAUSE_MS
    while waited < wait_ms:
        await house.clock.sleep(pause)
        waited += pause
        try:
            run = await ledger.get(house.db, run_id)
        except Fault:
            run = None
        if run is not None and not run.live:
            return run
        pause = min(2 * pause, LONGEST_PAUSE_MS, max(wait_ms - waited, 1))
    return None
