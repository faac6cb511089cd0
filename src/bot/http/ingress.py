"""``/ingress``: a program's turn as ``http:<subject>``, waited for."""

from __future__ import annotations

import re

from bot.channels.base import thread_key
from bot.dispatch.message import IncomingMessage
from bot.http import turns
from bot.http.body import StrictBody
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.words import Code, Refused, Source, State

WAIT_MS = 25_000
_THREAD = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class Said(StrictBody):
    """The body of ``POST /ingress``; ``thread`` is a name of the caller's own."""

    text: str
    thread: str | None = None


async def ingress(visit: Visit, body: Said) -> Response | Refused:
    """Run ``text`` as the bearer's actor and wait for its end, up to 25 s.

    200 with the outcome, or 202 with the run id while it goes on. A thread's name is scoped to
    its subject, so that nobody reaches another's thread.
    """
    house = visit.house
    refusal = turns.bad_text(body.text) or _bad_thread(body.thread)
    if refusal is not None:
        return refusal
    run_id = house.ids.new()
    message = IncomingMessage(
        run_id=run_id,
        actor=visit.actor,
        grants=await visit.grants(),
        source=Source.INGRESS,
        text=body.text,
        channel=visit.actor.id,
        thread=thread_key(visit.actor.id, body.thread or run_id),
    )
    admission = await turns.admit(house, message, visit.now_ms)
    if isinstance(admission, Refused):
        return admission
    await turns.start(house, admission)
    run = await turns.wait(house, run_id, WAIT_MS)
    if run is None:
        return json_response({"run_id": run_id, "state": State.RUNNING}, 202)
    return json_response(
        {"run_id": run_id, "state": run.state, "code": run.code, "text": run.output}
    )


def _bad_thread(thread: str | None) -> Refused | None:
    if thread is None or _THREAD.fullmatch(thread):
        return None
    return Refused(Code.BAD_VALUE, "thread takes 1 to 64 letters, digits, hyphens and underscores.")


ROUTES = (Route("POST", "/ingress", ingress, Said),)
