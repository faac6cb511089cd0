"""``/healthz``: whether the bot answers, and how long ago it ticked."""

from __future__ import annotations

from bot.http.values import Response, json_response
from bot.http.visit import Route, Visit
from bot.ports import Fault
from bot.times import iso
from bot.words import Refused

VERSION = "0.1.0"


async def health(visit: Visit, body: None) -> Response | Refused:
    """``ok`` with the last tick and its age in seconds; 503 where the history is down.

    A bot that never ticked is well: both are null then.
    """
    try:
        last = (await visit.house.history.tick_summary(visit.now_ms))["last"]
    except Fault:
        return _told(False, None, visit.now_ms, 503)
    return _told(True, last["at"] if last else None, visit.now_ms, 200)


def _told(ok: bool, last_ms: int | None, now_ms: int, status: int) -> Response:
    lag_s = None if last_ms is None else max(0.0, round((now_ms - last_ms) / 1000, 1))
    tick = {"last": None if last_ms is None else iso(last_ms), "lag_s": lag_s}
    return json_response({"ok": ok, "version": VERSION, "tick": tick}, status)


ROUTES = (Route("GET", "/healthz", health),)
