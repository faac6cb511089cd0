"""What Slack sends: events, slash commands and pressed buttons, read into plain values. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.channels.shape import at, list_at, text_at
from bot.channels.slack_text import CHANNEL, TS, USER, heard, mentioned
from bot.strictjson import loads

MAX_AGE_S = 300
_SPOKEN = frozenset({None, "thread_broadcast", "file_share"})
"""Subtypes of a message that a person just wrote; the others are edits, deletions, joinings."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """Slack asks whether this address is ours; it wants the text back."""

    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A person said something to the bot.

    ``ts`` is the first message of the thread it was said in. ``overheard``: it does not name
    the bot, so it is for the bot only in a thread where the bot takes part.
    """

    event_id: str
    user: str
    channel: str
    ts: str
    text: str
    overheard: bool = False


@dataclass(frozen=True, slots=True)
class Slash:
    """A person typed a slash command; ``text`` is the whole of it, without the slash."""

    call_id: str
    user: str
    channel: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """A person pressed a button under a message of the thread ``ts``.

    ``text`` and ``rest`` are the message and its attachments, without the button: what the
    message may be replaced by, at ``url``.
    """

    press_id: str
    user: str
    channel: str
    ts: str
    kind: str
    value: str
    text: str
    rest: list[Any]
    url: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing that concerns the bot, and why."""

    why: str


def signed(secret: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> bool:
    """Whether Slack signed this body within the last five minutes; an empty secret never did."""
    stamp = headers.get("x-slack-request-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        return False
    if abs(now_ms - int(stamp) * 1000) > MAX_AGE_S * 1000:
        return False
    made = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    given = headers.get("x-slack-signature", "").encode("utf-8", "surrogatepass")
    return hmac.compare_digest(given, b"v0=" + made.hexdigest().encode()) and bool(secret)


def read_event(payload: Any) -> Challenge | Said | Ignored:
    """What an Events API body says. Whatever is not a person's message to the bot is ignored."""
    kind = text_at(payload, "type")
    if kind == "url_verification":
        return Challenge(text_at(payload, "challenge") or "")
    if kind != "event_callback":
        return Ignored(f"a {kind}")
    event_id, event = text_at(payload, "event_id"), at(payload, "event")
    kind = text_at(event, "type")
    if not event_id or kind not in ("app_mention", "message"):
        return Ignored(f"an event {kind}")
    bot = _bot_of(payload)
    why = _not_spoken(payload, event, bot)
    if why is not None:
        return Ignored(why)
    user, channel, ts = (text_at(event, name) or "" for name in ("user", "channel", "ts"))
    root = text_at(event, "thread_ts") or ts
    in_time = TS.fullmatch(ts) and TS.fullmatch(root)
    if not (USER.fullmatch(user) and CHANNEL.fullmatch(channel) and in_time):
        return Ignored("a message without a person, a channel or a time")
    raw = text_at(event, "text") or ""
    called = mentioned(raw)
    if kind == "app_mention":
        bot = bot or next(iter(called), None)
        return Said(event_id, user, channel, root, heard(raw, bot))
    direct = text_at(event, "channel_type") == "im" or channel.startswith("D")
    if direct:
        return Said(event_id, user, channel, root, heard(raw, bot))
    if bot in called or (bot is None and called):
        return Ignored("a mention, which comes as an event of its own")
    if root == ts:
        return Ignored("talk among people")
    return Said(event_id, user, channel, root, heard(raw, bot), overheard=True)


def _bot_of(payload: Any) -> str | None:
    """The bot's own user id, as Slack says it with each event."""
    for each in list_at(payload, "authorizations"):
        user = text_at(each, "user_id")
        if user is not None and USER.fullmatch(user):
            return user
    return None


def _not_spoken(payload: Any, event: Any, bot: str | None) -> str | None:
    """Why a message is not one that a person of this workspace just wrote; None: it is."""
    user = text_at(event, "user")
    if at(event, "bot_id") or at(event, "bot_profile") or user in (bot, "USLACKBOT"):
        return "a bot's message"
    subtype = at(event, "subtype")
    if subtype not in _SPOKEN:
        return f"a message of the kind {subtype}"
    if at(event, "edited") or at(event, "hidden"):
        return "an edit"
    home = text_at(event, "user_team") or text_at(event, "team")
    shared = at(payload, "is_ext_shared_channel") is True
    if shared and home is not None and home != text_at(payload, "team_id"):
        return "a message from another organisation"
    return None


def read_slash(form: Mapping[str, str], families: frozenset[str]) -> Slash | Ignored:
    """What a slash command's form says.

    The command's own word is part of the text where it is the first word of commands, as in
    ``/schedule list``; another name for it stands for nothing.
    """
    user, channel = form.get("user_id", ""), form.get("channel_id", "")
    word = form.get("command", "").removeprefix("/").lower()
    if not (USER.fullmatch(user) and CHANNEL.fullmatch(channel)):
        return Ignored("a slash command without a person or a channel")
    call_id = form.get("trigger_id") or repr(sorted(form.items()))
    text = heard(form.get("text", ""), None)
    whole = f"{word} {text}".strip() if word in families else text
    return Slash(call_id, user, channel, whole, form.get("response_url", ""))


def read_pressed(payload: str) -> Pressed | Ignored:
    """What a pressed button's payload says. Raises ValueError for what is not JSON."""
    said = loads(payload)
    kind, action = text_at(said, "type"), next(iter(list_at(said, "actions")), None)
    if kind != "block_actions" or action is None:
        return Ignored(f"a {kind}")
    user, channel = text_at(said, "user", "id") or "", text_at(said, "channel", "id") or ""
    message_ts = text_at(said, "container", "message_ts") or text_at(said, "message", "ts") or ""
    ts = text_at(said, "message", "thread_ts") or text_at(said, "container", "thread_ts")
    press_id = text_at(action, "action_ts") or text_at(said, "trigger_id") or ""
    root, action_id = ts or message_ts, text_at(action, "action_id") or ""
    if not (USER.fullmatch(user) and CHANNEL.fullmatch(channel) and TS.fullmatch(root)):
        return Ignored("a button without a person, a channel or a message")
    return Pressed(
        press_id=press_id,
        user=user,
        channel=channel,
        ts=root,
        kind=action_id.partition("-")[0],
        value=text_at(action, "value") or "",
        text=text_at(said, "message", "text") or "",
        rest=_without_button(list_at(said, "message", "attachments"), action_id),
        url=text_at(said, "response_url") or "",
    )


def _without_button(attachments: list[Any], action_id: str) -> list[Any]:
    """Attachments as they were, but for one button; what has no button left is left out."""
    kept: list[Any] = []
    for attachment in attachments:
        blocks = [
            {**block, "elements": elements}
            for block in list_at(attachment, "blocks")
            if (elements := _others(block, action_id))
        ]
        if blocks:
            kept.append({"fallback": text_at(attachment, "fallback") or "", "blocks": blocks})
    return kept


def _others(block: Any, action_id: str) -> list[Any]:
    elements = list_at(block, "elements")
    return [each for each in elements if text_at(each, "action_id") not in (None, action_id)]
