"""The Worker's variables, read into ``Settings``. Pure; nothing malformed ever breaks a start."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from bot.authz.actor import CRON, Actor, Surface, parse_actor
from bot.ports import Settings

log = logging.getLogger("bot.settings")
_CHANNEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_TELEGRAM_ID = re.compile(r"-?[1-9][0-9]{0,15}", re.ASCII)
_DEFAULTS = Settings()


def read_settings(get: Callable[[str], str | None]) -> Settings:
    """The settings that the variables say; ``get`` answers a variable's text, None where unset.

    Whatever cannot be read denies: a malformed ``INGRESS_TOKENS`` gives no tokens at all, and a
    name in ``ADMINS`` that cannot be an administrator is left out. ``TELEGRAM_MEMBERS`` that is
    set and names nobody lets nobody in.
    """

    def text(name: str, default: str = "") -> str:
        return (get(name) or "").strip() or default

    def url(name: str, default: str = "") -> str:
        return text(name, default).rstrip("/")

    return Settings(
        admins=frozenset(_admins(text("ADMINS"))),
        ingress_tokens=_tokens(text("INGRESS_TOKENS")),
        cron_token=text("CRON_TOKEN"),
        internal_key=text("INTERNAL_KEY"),
        session_key=text("SESSION_KEY"),
        seal_key=text("SEAL_KEY"),
        model_base_url=url("MODEL_BASE_URL"),
        model_api_key=text("MODEL_API_KEY"),
        model=text("MODEL"),
        github_api_url=url("GITHUB_API_URL", _DEFAULTS.github_api_url),
        github_token=text("GITHUB_TOKEN"),
        slack_signing_secret=text("SLACK_SIGNING_SECRET"),
        slack_bot_token=text("SLACK_BOT_TOKEN"),
        slack_api_url=url("SLACK_API_URL", _DEFAULTS.slack_api_url),
        telegram_bot_token=text("TELEGRAM_BOT_TOKEN"),
        telegram_webhook_secret=text("TELEGRAM_WEBHOOK_SECRET"),
        telegram_api_url=url("TELEGRAM_API_URL", _DEFAULTS.telegram_api_url),
        telegram_members=_members(text("TELEGRAM_MEMBERS")),
        access_team_domain=url("ACCESS_TEAM_DOMAIN"),
        access_aud=text("ACCESS_AUD"),
        web_channels=tuple(_channels(text("WEB_CHANNELS"))) or _DEFAULTS.web_channels,
        allow_private_addresses=text("ALLOW_PRIVATE_ADDRESSES").lower() == "true",
    )


def _admins(text: str) -> Iterator[str]:
    """A schedule acts on its row's grants alone and ``http:cron`` fires alone: never these."""
    for name in _listed(text.replace(" ", ",")):
        actor = parse_actor(name)
        if isinstance(actor, Actor) and actor != CRON and actor.surface != Surface.SCHEDULE:
            yield actor.id
        else:
            log.warning("ADMINS: %r is left out", name, extra={"action": "bad_setting"})


def _members(text: str) -> frozenset[str] | None:
    """The ids of users and groups; None where the variable is not set."""
    if not text:
        return None
    members: set[str] = set()
    for name in _listed(",".join(text.split())):
        if _TELEGRAM_ID.fullmatch(name):
            members.add(name)
        else:
            log.warning("TELEGRAM_MEMBERS: %r is left out", name, extra={"action": "bad_setting"})
    return frozenset(members)


def _tokens(text: str) -> dict[str, str]:
    """Tokens by subject. ``cron`` is left out: that actor comes by ``CRON_TOKEN`` alone."""
    listed: Any
    try:
        listed = json.loads(text or "{}")
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, dict):
        log.warning(
            "INGRESS_TOKENS is no JSON object of subject to token: nobody comes in by it",
            extra={"action": "bad_setting"},
        )
        return {}
    tokens: dict[str, str] = {}
    for subject, token in cast(dict[str, Any], listed).items():
        actor = parse_actor(f"{Surface.HTTP}:{subject}")
        if isinstance(actor, Actor) and actor != CRON and isinstance(token, str) and token.strip():
            tokens[subject] = token
        else:
            log.warning("INGRESS_TOKENS: %r is left out", subject, extra={"action": "bad_setting"})
    return tokens


def _channels(text: str) -> Iterator[str]:
    for name in dict.fromkeys(_listed(text)):
        if _CHANNEL.fullmatch(name):
            yield name
        else:
            log.warning("WEB_CHANNELS: %r is left out", name, extra={"action": "bad_setting"})


def _listed(text: str) -> list[str]:
    return [part for part in map(str.strip, text.split(",")) if part]
