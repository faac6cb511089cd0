"""A house that people talk to in Slack and Telegram, both in memory; turns are run by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.channels.slack import SlackChannel
from bot.channels.telegram import TelegramChannel
from bot.channels.web import WebChannel
from bot.commands.all import REGISTRY
from bot.dispatch.turn import run_turn
from bot.ports import HttpReply
from tests.support.drive import run
from tests.support.house import TestHouse, make_house
from tests.support.slack_server import SECRET, TOKEN, Slack, signature
from tests.support.telegram_server import Telegram
from tests.support.turns import KeptSteps
from tests.support.world import Sent
from tests.unit.http.client import Answer, Client

WEBHOOK_SECRET = "telegram-webhook-secret"
FORM = "application/x-www-form-urlencoded"


class Chats:
    """``slack`` and ``telegram`` hold what was posted; ``house`` is open to the test."""

    def __init__(self, **settings: Any):
        self.slack, self.telegram = Slack(), Telegram()
        values = {
            "slack_api_url": "https://slack.test/api",
            "slack_bot_token": TOKEN,
            "slack_signing_secret": SECRET,
            "telegram_api_url": "https://telegram.test",
            "telegram_bot_token": self.telegram.token,
            "telegram_webhook_secret": WEBHOOK_SECRET,
        }
        house = make_house(commands=REGISTRY, settings={**values, **settings})
        house.http.otherwise = self._outside
        channels: Any = {
            "web": WebChannel(house.db, house.settings.web_channels),
            "slack": SlackChannel(house.db, house.config, house.http, house.settings),
            "telegram": TelegramChannel(house.db, house.http, house.settings),
        }
        self.house: TestHouse = replace(house, channels=channels)
        self.client = Client(self.house)
        self._run: set[str] = set()

    def slack_sends(
        self, payload: Any, *, form: bool = False, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """An event (a mapping) or a form (its bytes), signed as of now."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signed = signature(body, self.house.clock.now_ms())
        sent = {"content-type": FORM if form else "application/json", **signed, **(headers or {})}
        return self.client.post("/slack/events", body=body, headers=sent)

    def telegram_sends(self, payload: Any, secret: str = WEBHOOK_SECRET) -> Answer:
        """An update."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        headers = {"X-Telegram-Bot-Api-Secret-Token": secret}
        return self.client.post("/telegram/webhook", body=body, headers=headers)

    def finish(self) -> None:
        """Do what was put off, and carry every run that was started to its end."""
        while True:
            self.house.background.finish()
            waiting = [each for each in self.house.engine.started if each not in self._run]
            if not waiting:
                return
            for run_id in waiting:
                self._run.add(run_id)
                run(run_turn(self.house, run_id, KeptSteps()))

    def runs(self) -> list[dict[str, Any]]:
        """The ledger, oldest first."""
        return self.house.db.sql("SELECT * FROM runs ORDER BY rowid")

    def grant(self, actor: str, *grants: str) -> None:
        self.house.config.put({f"grants.{actor}": list(grants)})

    def _outside(self, sent: Sent) -> HttpReply:
        fake = self.slack if sent.url.startswith("https://slack.test/") else self.telegram
        return fake.reply(sent)
