"""``/slack/events``: Slack's events, slash commands and buttons, each signed over its raw body."""

from __future__ import annotations

import hashlib
import logging
from urllib.parse import parse_qsl

from bot.authz.actor import Actor, Surface
from bot.channels import markdown
from bot.channels.base import render_outcome, thread_key
from bot.channels.posts import Posts
from bot.channels.slack_events import (
    Challenge,
    Ignored,
    Pressed,
    Said,
    Slash,
    read_event,
    read_pressed,
    read_slash,
    signed,
)
from bot.channels.slack_replies import keep_url, reply_thread
from bot.channels.slack_text import mrkdwn
from bot.commands.grammar import Malformed
from bot.commands.nearest import family_of
from bot.http import slack_press
from bot.http.intake import Heard, take
from bot.http.values import Request, Response, json_response
from bot.http.visit import Route, Visit
from bot.ports import House
from bot.strictjson import loads
from bot.words import Code, Refused, State

log = logging.getLogger("bot.slack")
FORM = "application/x-www-form-urlencoded"
HEARD = json_response({})
"""The answer to whatever was taken in, and to what does not concern the bot."""


async def slack(visit: Visit, body: None) -> Response | Refused:
    """Check the signature over the raw body, then take in what it says.

    Answered as soon as it is written down; the outcome comes as a post of its own.
    """
    request, secret = visit.request, visit.house.settings.slack_signing_secret
    if not signed(secret, request.headers, request.body, visit.now_ms):
        return Refused(Code.UNAUTHORIZED, "Slack did not sign this, or not within five minutes.")
    try:
        sent = _read(visit.house, request)
    except ValueError:
        return Refused(Code.BAD_REQUEST, "The body is not what Slack sends.")
    if isinstance(sent, Challenge):
        return json_response({"challenge": sent.text})
    if isinstance(sent, Said):
        return await _said(visit, sent)
    if isinstance(sent, Slash):
        return await _slash(visit, sent)
    if isinstance(sent, Pressed):
        await slack_press.press(visit.house, sent, visit.now_ms)
        return HEARD
    return _ignored(sent)


def _read(house: House, request: Request) -> Challenge | Said | Slash | Pressed | Ignored:
    """What Slack sent: events as JSON objects, the rest as forms. Raises ValueError."""
    text = request.body.decode()
    if not request.headers.get("content-type", "").startswith(FORM):
        payload = loads(text)
        if not isinstance(payload, dict):
            raise ValueError("not an object")
        return read_event(payload)
    form = dict(parse_qsl(text, keep_blank_values=True))
    if "payload" in form:
        return read_pressed(form["payload"])
    return read_slash(form, frozenset(family_of(command.name) for command in house.commands))


async def _said(visit: Visit, said: Said) -> Response:
    """A mention, a direct message, or a reply in a thread where the bot takes part."""
    house = visit.house
    thread = thread_key(channel_of(said.channel), said.ts)
    if said.overheard and not await Posts(house.db, Surface.SLACK).takes_part(thread):
        return _ignored(Ignored("talk in a thread of other people"))
    # Somebody who names the bot and says no more is told what it can do.
    text = said.text or ("" if said.overheard else "help")
    if text:
        await take(house, Heard(said.event_id, actor_of(said.user), thread, text), visit.now_ms)
    return HEARD


async def _slash(visit: Visit, slash: Slash) -> Response:
    """A slash command: what is no command is said so at once, and nothing of it is prose."""
    house, now_ms = visit.house, visit.now_ms
    parsed = house.commands.parse(slash.text, strict=True)
    if isinstance(parsed, Malformed):
        refusal = parsed.refusal
        return _only_to_them(render_outcome(State.REFUSED, refusal.code, refusal.detail))
    call_id = hashlib.sha256(slash.call_id.encode()).hexdigest()[:24]
    thread = reply_thread(channel_of(slash.channel), call_id)
    await keep_url(house.db, thread, slash.url, now_ms)
    await take(house, Heard(call_id, actor_of(slash.user), thread, slash.text), now_ms)
    return Response(200)


def _only_to_them(text: str) -> Response:
    """An answer that the caller of a slash command alone sees."""
    spans = markdown.read(text)
    return json_response({"response_type": "ephemeral", "text": mrkdwn(spans)})


def _ignored(ignored: Ignored) -> Response:
    """Answered like what was taken in: Slack would only send it again."""
    log.info("ignored: %s", ignored.why, extra={"action": "slack_ignored"})
    return HEARD


def actor_of(user: str) -> Actor:
    """Whom Slack says it was; made here alone, behind the signature."""
    return Actor(Surface.SLACK, user)


def channel_of(channel: str) -> str:
    """Slack's channel as the house names it."""
    return f"{Surface.SLACK}:{channel}"


ROUTES = (Route("POST", "/slack/events", slack),)
