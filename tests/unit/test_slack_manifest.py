"""The Slack app's manifest asks for what the bot uses, and for nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bot.channels.slack_events import Said, read_event
from bot.commands.all import REGISTRY
from bot.commands.nearest import family_of
from bot.http.slack import ROUTES
from tests.support import slack_payloads as sent

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = json.loads((ROOT / "slack-manifest.json").read_text())
SCOPES = set(MANIFEST["oauth_config"]["scopes"]["bot"])
KINDS = {"channels", "groups", "im", "mpim"}


def test_every_address_is_the_bots_one_door() -> None:
    (route,) = ROUTES
    settings = MANIFEST["settings"]
    addresses = {
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
        *(command["url"] for command in MANIFEST["features"]["slash_commands"]),
    }
    assert addresses == {f"https://YOUR-BOT.example.com{route.pattern}"}
    assert settings["interactivity"]["is_enabled"]


def test_its_events_are_those_the_bot_reads_and_their_scopes_are_asked_for() -> None:
    events = set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
    assert events == {"app_mention", *(f"message.{kind}" for kind in KINDS)}
    assert isinstance(read_event(sent.mention("x")), Said)
    assert isinstance(read_event(sent.direct("x")), Said)
    assert {"app_mentions:read", *(f"{kind}:history" for kind in KINDS)} <= SCOPES


def test_its_other_scopes_are_those_of_the_methods_that_are_called() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "src/bot/channels").glob("slack*.py"))
    called = set(re.findall(r'"((?:chat|users|conversations)\.\w+)"', source))
    assert called == {"chat.postMessage", "users.info", "conversations.info"}
    others = {scope for scope in SCOPES if not scope.endswith(":history")} - {"app_mentions:read"}
    assert others == {"chat:write", "commands", "users:read", *(f"{kind}:read" for kind in KINDS)}


def test_its_slash_command_is_a_family_of_commands_and_sends_links() -> None:
    (command,) = MANIFEST["features"]["slash_commands"]
    assert command["command"].removeprefix("/") in {family_of(each.name) for each in REGISTRY}
    assert command["should_escape"] is True


def test_people_can_write_to_it_alone() -> None:
    home = MANIFEST["features"]["app_home"]
    assert home["messages_tab_enabled"] and not home["messages_tab_read_only_enabled"]


def test_it_stays_within_slacks_limits() -> None:
    information, (command,) = (
        MANIFEST["display_information"],
        MANIFEST["features"]["slash_commands"],
    )
    assert len(information["name"]) <= 35
    assert len(information["description"]) <= 140
    assert len(command["description"]) <= 2_000
    assert len(command["usage_hint"]) <= 1_000
