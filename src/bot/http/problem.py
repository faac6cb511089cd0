"""Errors as ``application/problem+json`` (RFC 9457), the one form they leave in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.http.values import Response, json_response
from bot.words import TEXTS, Code, Refused

CONTENT_TYPE = "application/problem+json"


def members(refusal: Refused) -> dict[str, Any]:
    """The members of a refusal's problem."""
    text = TEXTS[refusal.code]
    return {
        "type": "about:blank",
        "code": refusal.code,
        "title": text.title,
        "status": text.status,
        "detail": refusal.detail,
    }


def problem(
    refusal: Refused,
    extra: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A refusal as an answer, with the status of its code.

    ``extra`` adds members of the problem's own, such as ``version`` on a conflict.
    """
    sent = {"content-type": CONTENT_TYPE, **(headers or {})}
    if refusal.code is Code.UNAUTHORIZED:
        sent["www-authenticate"] = "Bearer"
    body = {**(extra or {}), **members(refusal)}
    return json_response(body, TEXTS[refusal.code].status, sent)
