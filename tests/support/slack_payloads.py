"""What Slack sends, in the shape it sends it; every name and number in it is made up."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

TEAM, BOT, BOT_ID, ADA, GRACE = "T0001", "U0BOT", "B0BOT", "U042", "U043"
CHANNEL, DIRECT, ROOT = "C042", "D042", "1769990000.000100"


def envelope(event: dict[str, Any], event_id: str = "Ev0001", **more: Any) -> dict[str, Any]:
    """An Events API callback."""
    return {
        "token": "not-used",
        "team_id": TEAM,
        "context_team_id": TEAM,
        "api_app_id": "A0001",
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": 1769990000,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-made-up",
        **more,
    }


def mention(text: str, event_id: str = "Ev0001", *, user: str = ADA, **event: Any) -> Any:
    """Somebody names the bot in a channel."""
    said = {
        "type": "app_mention",
        "user": user,
        "ts": ROOT,
        "client_msg_id": "made-up",
        "text": f"<@{BOT}> {text}",
        "team": TEAM,
        "blocks": [{"type": "rich_text", "block_id": "x", "elements": []}],
        "channel": CHANNEL,
        "event_ts": ROOT,
        **event,
    }
    return envelope(said, event_id)


def message(text: str, event_id: str = "Ev0001", *, user: str = ADA, **event: Any) -> Any:
    """Somebody says something in a channel where the bot is."""
    said = {
        "type": "message",
        "user": user,
        "ts": ROOT,
        "client_msg_id": "made-up",
        "text": text,
        "team": TEAM,
        "channel": CHANNEL,
        "channel_type": "channel",
        "event_ts": ROOT,
        **event,
    }
    return envelope(said, event_id)


def direct(text: str, event_id: str = "Ev0001", **event: Any) -> Any:
    """Somebody writes to the bot alone."""
    return message(text, event_id, **{"channel": DIRECT, "channel_type": "im", **event})


def reply(
    text: str, event_id: str = "Ev0002", *, ts: str = "1769990100.000200", **event: Any
) -> Any:
    """Somebody answers in the thread under ROOT, without naming the bot."""
    return message(text, event_id, ts=ts, **{"thread_ts": ROOT, "parent_user_id": ADA, **event})


def slash(text: str, url: str, trigger_id: str = "1.2.abc", **more: str) -> bytes:
    """The form of a slash command."""
    return urlencode(
        {
            "token": "not-used",
            "team_id": TEAM,
            "team_domain": "acme",
            "channel_id": CHANNEL,
            "channel_name": "general",
            "user_id": ADA,
            "user_name": "ada",
            "command": "/schedule",
            "text": text,
            "api_app_id": "A0001",
            "is_enterprise_install": "false",
            "response_url": url,
            "trigger_id": trigger_id,
            **more,
        }
    ).encode()


def pressed(
    post: dict[str, Any],
    url: str,
    *,
    user: str = ADA,
    number: int = 0,
    action_ts: str = "1769990200.000300",
) -> bytes:
    """The form of a button pressed under a message that ``chat.postMessage`` took."""
    (attachment,) = post["attachments"]
    element = attachment["blocks"][0]["elements"][number]
    ts = "1769990150.000250"
    payload = {
        "type": "block_actions",
        "user": {"id": user, "username": "ada", "name": "ada", "team_id": TEAM},
        "api_app_id": "A0001",
        "token": "not-used",
        "container": {
            "type": "message_attachment",
            "message_ts": ts,
            "attachment_id": 1,
            "channel_id": post["channel"],
            "is_ephemeral": False,
            "thread_ts": post.get("thread_ts"),
        },
        "trigger_id": f"9.8.{action_ts}",
        "team": {"id": TEAM, "domain": "acme"},
        "channel": {"id": post["channel"], "name": "general"},
        "message": {
            "type": "message",
            "user": BOT,
            "bot_id": BOT_ID,
            "ts": ts,
            "text": post["text"],
            "thread_ts": post.get("thread_ts"),
            "attachments": [{"id": 1, "color": "ddd", **attachment}],
        },
        "response_url": url,
        "actions": [
            {
                "action_id": element["action_id"],
                "block_id": "b1",
                "text": element["text"],
                "value": element["value"],
                "style": "primary",
                "type": "button",
                "action_ts": action_ts,
            }
        ],
    }
    return urlencode({"payload": json.dumps(payload)}).encode()
