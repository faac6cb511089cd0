"""The web chat: channels, threads, and saying something in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.authz.actor import Actor
from bot.channels import web
from bot.channels.base import channel_of, thread_key
from bot.dispatch.handback import read_handback
from bot.dispatch.message import IncomingMessage
from bot.http import turns
from bot.http.body import StrictBody
from bot.http.values import Response, int_query, json_response
from bot.http.visit import Route, Visit
from bot.ports import Fault, House
from bot.runs import ledger
from bot.times import iso, iso_or_none
from bot.words import Code, Refused, Source, State

MAX_THREADS = 100
MAX_MESSAGES = 500


class Say(StrictBody):
    """The body of ``POST /api/chat``."""

    channel: str
    text: str
    thread: str | None = None


async def channels(visit: Visit, body: None) -> Response | Refused:
    """The web channels, in the order of the configuration."""
    surface = visit.house.channels[web.WebChannel.surface]
    return json_response(
        {
            "channels": [
                {
                    "id": channel,
                    "name": channel.partition(":")[2],
                    "can_open_threads": await surface.can_open_threads(channel) is None,
                }
                for channel in _channels(visit.house)
            ]
        }
    )


async def threads(visit: Visit, body: None) -> Response | Refused:
    """Threads, the last changed first; ``before`` is the key of the last one seen.

    The caller's own channel, where jobs answer, is among them and among nobody else's.
    """
    wanted = visit.request.query.get("channel")
    known = (*_channels(visit.house), web.own_channel(visit.actor))
    if wanted is not None and wanted not in known:
        return _no_channel(visit.house, wanted)
    limit = int_query(visit.request, "limit", default=50, low=1, high=MAX_THREADS)
    if isinstance(limit, Refused):
        return limit
    before = visit.request.query.get("before")
    if before is not None and channel_of(before) not in known:
        return _no_thread(before)
    rows = await web.list_threads(
        visit.house.db, known if wanted is None else [wanted], before=before, limit=limit
    )
    return visit.polled({"threads": [{**_thread(row), "live": bool(row["live"])} for row in rows]})


async def commands(visit: Visit, body: None) -> Response | Refused:
    """Every command with its usage, its summary and what it needs: what ``help`` answers."""
    return await visit.command("help", {"command": None})


async def thread(visit: Visit, body: None) -> Response | Refused:
    """A thread's messages, oldest first, and its live run.

    The last ones, or those ``before`` a ``seq``, or those ``after`` one; ``more`` says that
    there are further ones that way. The ETag lets a page that polls be answered 304 while
    nothing changes.
    """
    request, key = visit.request, "/".join(visit.params.values())
    if not web.may_read(visit.actor, channel_of(key)):
        return _no_thread(key)
    limit = int_query(request, "limit", default=200, low=1, high=MAX_MESSAGES)
    if isinstance(limit, Refused):
        return limit
    after = int_query(request, "after", default=-1, low=0, high=web.END)
    if isinstance(after, Refused):
        return after
    before = int_query(request, "before", default=web.END, low=0, high=web.END)
    if isinstance(before, Refused):
        return before
    reading = await web.read_thread(
        visit.house.db, key, after=None if after < 0 else after, before=before, limit=limit
    )
    if reading is None:
        return _no_thread(key)
    return visit.polled(
        {
            **_thread(reading.thread),
            "messages": [_message(row) for row in reading.messages],
            "more": reading.more,
            "live": None if reading.live is None else _live(reading.live),
        }
    )


async def say(visit: Visit, body: Say) -> Response | Refused:
    """Say something in a thread, or in a new one, and hand it to dispatch.

    The slot is claimed first: where the thread is busy, nothing is posted. Where the post cannot
    be written, the run is ended, so that who says it again has it run once.
    """
    house, now_ms = visit.house, visit.now_ms
    refusal = turns.bad_text(body.text) or await _no_place(house, body, visit.actor)
    if refusal is not None:
        return refusal
    run_id, message_id = house.ids.new(), house.ids.new()
    key = body.thread or thread_key(body.channel, house.ids.new())
    message = IncomingMessage(
        run_id=run_id,
        actor=visit.actor,
        grants=await visit.grants(),
        source=Source.MESSAGE,
        text=body.text,
        channel=body.channel,
        thread=key,
    )
    admission = await turns.admit(house, message, now_ms)
    if isinstance(admission, Refused):
        return admission
    post = web.opening if body.thread is None else web.posting
    written = post(
        key,
        author=visit.actor.id,
        text=body.text,
        message_id=message_id,
        run_id=run_id,
        now_ms=now_ms,
    )
    try:
        await house.db.batch(written)
    except Fault:
        await ledger.finish(
            house.db,
            run_id,
            state=State.FAILED,
            code=Code.INTERRUPTED,
            output=None,
            now_ms=now_ms,
        )
        raise
    await turns.start(house, admission)
    return json_response({"thread": key, "message_id": message_id, "run_id": run_id}, 202)


async def _no_place(house: House, body: Say, actor: Actor) -> Refused | None:
    own = body.thread is not None and body.channel == web.own_channel(actor)
    if body.channel not in _channels(house) and not own:
        return _no_channel(house, body.channel)
    if body.thread is None:
        return None
    inside = channel_of(body.thread) == body.channel
    return (
        None if inside and await web.has_thread(house.db, body.thread) else _no_thread(body.thread)
    )


def _channels(house: House) -> tuple[str, ...]:
    return web.channel_ids(house.settings.web_channels)


def _no_channel(house: House, channel: str) -> Refused:
    known = ", ".join(_channels(house))
    return Refused(Code.NO_CHANNEL, f"There is no channel {channel[:80]!r}. There are {known}.")


def _no_thread(key: str) -> Refused:
    return Refused(Code.NOT_FOUND, f"There is no thread {key[:120]!r}.")


def _thread(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": row["key"],
        "channel": row["channel"],
        "title": row["title"],
        "created_at": iso(row["created_at"]),
        "updated_at": iso(row["updated_at"]),
    }


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in ("seq", "id", "author", "text", "run_id")}
    return {**kept, "at": iso(row["at"]), "outcome": _outcome(row) if row["ended_id"] else None}


def _outcome(row: Mapping[str, Any]) -> dict[str, Any]:
    """How the run ended whose outcome a message is, and the command that it hands back."""
    handed_back = row["code"] in (Code.HANDED_BACK, Code.SCHEDULE_WRITE)
    handback = read_handback(row["refusal"] or "") if handed_back else None
    return {
        "run_id": row["ended_id"],
        **{name: row[name] for name in ("actor", "route", "state", "code")},
        "handback": None if handback is None else asdict(handback),
    }


def _live(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "admitted_at": iso(row["admitted_at"]),
        "started_at": iso_or_none(row["started_at"]),
    }


ROUTES = (
    Route("GET", "/api/channels", channels),
    Route("GET", "/api/threads", threads),
    Route("GET", "/api/threads/{key}", thread),
    Route("GET", "/api/threads/{channel}/{id}", thread),
    Route("POST", "/api/chat", say, Say),
    Route("GET", "/api/commands", commands),
)
