"""``/telegram/webhook``: Telegram's updates, known by the secret token that it was given."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from bot import org, pushes
from bot.agent.telegram_tool import consume_link_code
from bot.authz.actor import Actor, Surface
from bot.authz.members import is_stranger
from bot.channels import telegram_chats
from bot.channels.base import render_outcome, thread_key
from bot.channels.telegram_api import TelegramApi
from bot.channels.telegram_me import username
from bot.channels.telegram_updates import MovedTo, Said, read_update, words_of
from bot.commands.nearest import family_of
from bot.http.auth import same
from bot.http.intake import Heard, take, tell
from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.ports import House
from bot.strictjson import loads
from bot.words import Code, Refused, State

log = logging.getLogger("bot.telegram")
HEARD = json_response({})
"""The answer to whatever was taken in, and to what does not concern the bot."""
START = "start"
_CODE = re.compile(r"[A-Za-z0-9]{8,32}", re.ASCII)


async def telegram(visit: Visit, body: None) -> Response | Refused:
    """Check the secret token, then take in what the update says.

    Answered as soon as it is written down; the outcome comes as a post of its own.
    """
    house, request = visit.house, visit.request
    given = request.headers.get("x-telegram-bot-api-secret-token", "")
    if not same(given, house.settings.telegram_webhook_secret):
        return Refused(Code.UNAUTHORIZED, "This does not bear Telegram's secret token.")
    try:
        payload = loads(request.body.decode())
    except ValueError:
        return Refused(Code.BAD_REQUEST, "The body is not JSON.")
    if not isinstance(payload, dict):
        return Refused(Code.BAD_REQUEST, "The body is JSON, but not an object.")
    api = TelegramApi(house.http, house.settings)
    update = read_update(payload, api.bot_id)
    if isinstance(update, MovedTo):
        await telegram_chats.note_move(house.db, str(update.old), str(update.new))
    elif isinstance(update, Said):
        await _said(house, api, update, visit.now_ms)
    else:
        log.info("ignored: %s", update.why, extra={"action": "telegram_ignored"})
    return HEARD


async def _said(house: House, api: TelegramApi, said: Said, now_ms: int) -> None:
    """A private message, or one in a group that names the bot, answers it, or is its command."""
    me = await username(house.db, api, now_ms) if said.named else None
    if not (said.to_us or _calls(house, said, me)):
        log.info("ignored: talk among people", extra={"action": "telegram_ignored"})
        return
    thread = thread_key(f"{Surface.TELEGRAM}:{said.chat}", str(said.topic))
    # A bot's updates count on by themselves; another bot's might meet them.
    event_id = f"{api.bot_id} {said.update_id}"
    text = words_of(said, me)
    actor = Actor(Surface.TELEGRAM, str(said.user))
    stranger = await _is_stranger(house, actor, str(said.chat))
    heard = Heard(event_id, actor, thread, text or "help", stranger)
    if said.private:
        house.background.defer(_resume_pushes(house, str(said.chat)))
    else:
        await telegram_chats.note_forum(house.db, str(said.chat), said.forum)
    if said.command == START:
        await _start(house, said, heard, now_ms)
    else:
        await take(house, heard, now_ms)


def _calls(house: House, said: Said, me: str | None) -> bool:
    """Whether a message in a group is for the bot: it names it, or is a command of no other."""
    if said.named:
        return me in said.named
    return said.command in {START, *(family_of(command.name) for command in house.commands)}


async def _is_stranger(house: House, actor: Actor, chat: str) -> bool:
    """Whether they are let in by nothing, as the stores have it now. Raises Fault."""
    members = house.settings.telegram_members
    if members is None:
        return False
    return is_stranger(
        actor,
        await telegram_chats.ids_of(house.db, chat),
        members=members,
        linked=await telegram_chats.is_linked(house.db, actor.subject),
        entries=(await house.config.read(org.TIER)).entries,
        admins=house.settings.admins,
    )


async def _start(house: House, said: Said, heard: Heard, now_ms: int) -> None:
    """``/start CODE`` links the chat; without a code it asks what the bot can do."""
    code = heard.text.partition(" ")[2].strip()
    if not _CODE.fullmatch(code):
        await take(house, replace(heard, text="help"), now_ms)
        return
    linked = await consume_link_code(house, code.upper(), said.chat, said.user, now_ms)
    if isinstance(linked, Refused):
        told = render_outcome(State.REFUSED, linked.code, linked.detail)
    else:
        told = f"This chat is linked to {linked}: what the bot has to tell them comes here."
    tell(house, heard.thread, told, key=f"{heard.run_id}-link", now_ms=now_ms)


async def _resume_pushes(house: House, chat: str) -> None:
    await pushes.resume(house, chat)


ROUTES = (Route("POST", "/telegram/webhook", telegram),)
