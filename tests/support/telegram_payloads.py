"""What Telegram sends, in the shape it sends it; every name and number in it is made up."""

from __future__ import annotations

from typing import Any

BOT_ID, ADA, GRACE = 77, 500, 501
GROUP, FORUM, PLAIN_GROUP = -1001, -1002, -3


def update(message: dict[str, Any], update_id: int = 1, kind: str = "message") -> dict[str, Any]:
    """An update with a new message, or with one of another kind."""
    return {"update_id": update_id, kind: message}


def person(user: int = ADA) -> dict[str, Any]:
    return {"id": user, "is_bot": False, "first_name": "Ada", "language_code": "en"}


def private(text: str, update_id: int = 1, *, user: int = ADA, **more: Any) -> dict[str, Any]:
    """Somebody writes to the bot alone."""
    chat = {"id": user, "first_name": "Ada", "type": "private"}
    return update(_message(text, chat, user, more), update_id)


def group(
    text: str,
    update_id: int = 1,
    *,
    user: int = ADA,
    chat: int = GROUP,
    **more: Any,
) -> dict[str, Any]:
    """Somebody says something in a group."""
    kind = "group" if chat == PLAIN_GROUP else "supergroup"
    forum = {"is_forum": True} if chat == FORUM else {}
    where = {"id": chat, "title": "ops", "type": kind, **forum}
    return update(_message(text, where, user, more), update_id)


def answering(user: int, **more: Any) -> dict[str, Any]:
    """The member of a message that answers another one."""
    replied = {
        "message_id": 7,
        "from": {"id": user, "is_bot": user == BOT_ID, "first_name": "x"},
        "chat": {"id": GROUP, "type": "supergroup"},
        "date": 1769990000,
        "text": "before",
        **more,
    }
    return {"reply_to_message": replied}


def _message(text: str, chat: dict[str, Any], user: int, more: dict[str, Any]) -> dict[str, Any]:
    return {
        "message_id": 10,
        "from": person(user),
        "chat": chat,
        "date": 1769990000,
        "text": text,
        "entities": _entities(text),
        **more,
    }


def _entities(text: str) -> list[dict[str, Any]]:
    """The mentions and the leading command of a text, where Telegram sees them."""
    found: list[dict[str, Any]] = []
    offset = 0
    for number, word in enumerate(text.split(" ")):
        units = len(word.encode("utf-16-le")) // 2
        if word.startswith("@"):
            name = word.rstrip(",:.!?")
            found.append({"offset": offset, "length": len(name), "type": "mention"})
        if number == 0 and word.startswith("/"):
            found.append({"offset": offset, "length": units, "type": "bot_command"})
        offset += units + 1
    return found
