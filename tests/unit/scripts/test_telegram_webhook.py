from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.telegram_webhook import main
from tests.support.loopback import closed_port
from tests.support.telegram_server import TelegramServer

SECRET = "a-secret-of-the-webhook"


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as made:
        yield made


def variables(telegram: TelegramServer, **more: str) -> dict[str, str]:
    return {
        "TELEGRAM_API_URL": telegram.url,
        "TELEGRAM_BOT_TOKEN": telegram.token,
        "TELEGRAM_WEBHOOK_SECRET": SECRET,
        **more,
    }


@pytest.mark.parametrize(
    "url", ["https://bot.test", "https://bot.test/", "https://bot.test/telegram/webhook"]
)
def test_it_sets_the_address_and_the_secret(
    telegram: TelegramServer, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([url], variables(telegram)) == 0
    assert telegram.webhook == {
        "url": "https://bot.test/telegram/webhook",
        "secret_token": SECRET,
        "allowed_updates": ["message"],
    }
    said = capsys.readouterr().out
    assert "Telegram calls https://bot.test/telegram/webhook" in said
    assert SECRET not in said and telegram.token not in said


def test_it_shows_and_removes(telegram: TelegramServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show"], variables(telegram)) == 0
    assert main(["--delete"], variables(telegram)) == 0
    assert capsys.readouterr().out == "There is no webhook.\nThe webhook is removed.\n"
    assert [method for method, _ in telegram.calls] == ["getWebhookInfo", "deleteWebhook"]


def test_variables_may_come_from_a_file(telegram: TelegramServer, tmp_path: Path) -> None:
    file = tmp_path / "vars"
    lines = [f"{name}='{value}'" for name, value in variables(telegram).items()]
    file.write_text("# of the bot\n" + "\n".join(lines))
    assert main(["https://bot.test", "--vars", str(file)], {}) == 0
    assert telegram.webhook["secret_token"] == SECRET


@pytest.mark.parametrize(
    ("changed", "arguments", "why"),
    [
        ({"TELEGRAM_BOT_TOKEN": ""}, ["--show"], "TELEGRAM_BOT_TOKEN is not set"),
        ({"TELEGRAM_WEBHOOK_SECRET": ""}, ["https://bot.test"], "TELEGRAM_WEBHOOK_SECRET takes"),
        ({"TELEGRAM_WEBHOOK_SECRET": "short"}, ["https://bot.test"], "16 to 256"),
        ({"TELEGRAM_WEBHOOK_SECRET": "é" * 20}, ["https://bot.test"], "letters"),
        ({}, ["http://bot.test"], "https addresses alone"),
        ({"TELEGRAM_BOT_TOKEN": "78:other"}, ["--show"], "Unauthorized"),
        ({"TELEGRAM_API_URL": f"http://127.0.0.1:{closed_port()}"}, ["--show"], "did not answer"),
        ({}, ["--show", "--vars", "/nowhere/vars"], "No such file"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_set(
    telegram: TelegramServer,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    arguments: list[str],
    why: str,
) -> None:
    assert main(arguments, variables(telegram, **changed)) == 1
    said = capsys.readouterr().err
    assert why in said
    assert "telegram-token" not in said and "78:other" not in said
    assert telegram.webhook == {}


@pytest.mark.parametrize("arguments", [[], ["--show", "--delete"], ["https://x.test", "--show"]])
def test_it_does_one_thing(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments, {})
