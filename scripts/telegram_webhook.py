"""Tell Telegram where the bot listens: set, show or remove its webhook.

    TELEGRAM_BOT_TOKEN=... TELEGRAM_WEBHOOK_SECRET=... \\
        python scripts/telegram_webhook.py https://bot.example.com

``--show`` says what Telegram has on record, ``--delete`` removes it. Only the standard library is
needed. The token and the secret are read from the environment, or from ``--vars FILE`` (written as
``.dev.vars``), and are never printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATH = "/telegram/webhook"
UPDATES = ["message"]
"""The kinds of update that the bot reads; Telegram sends it no others."""
SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}")
_LINE = re.compile(r"""^\s*(?:export\s+)?(\w+)\s*=\s*(["'`]?)(.*?)\2\s*$""")


class Trouble(Exception):
    """Why it did not work, in a sentence."""


def main(arguments: list[str] | None = None, environment: Mapping[str, str] | None = None) -> int:
    """Do what the command line asks; 0, or 1 with the reason on standard error."""
    options = _options(arguments)
    try:
        for line in run(options, dict(os.environ if environment is None else environment)):
            print(line)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    return 0


def run(options: argparse.Namespace, variables: dict[str, str]) -> list[str]:
    """What there is to say after it was done. Raises Trouble."""
    if options.vars is not None:
        variables |= read_vars(options.vars)
    token = variables.get("TELEGRAM_BOT_TOKEN", "").strip()
    api = variables.get("TELEGRAM_API_URL", "").strip().rstrip("/") or "https://api.telegram.org"
    if not token:
        raise Trouble("TELEGRAM_BOT_TOKEN is not set.")
    if options.delete:
        call(api, token, "deleteWebhook", {})
        return ["The webhook is removed."]
    if options.url is not None:
        call(api, token, "setWebhook", webhook(options.url, variables))
    return shown(call(api, token, "getWebhookInfo", {}))


def webhook(url: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """What ``setWebhook`` is told for a bot at ``url``. Raises Trouble."""
    secret = variables.get("TELEGRAM_WEBHOOK_SECRET", "").strip()
    if not SECRET.fullmatch(secret):
        raise Trouble(
            "TELEGRAM_WEBHOOK_SECRET takes 16 to 256 letters, digits, hyphens and underscores, "
            "and is the same as the Worker's."
        )
    if not url.startswith("https://"):
        raise Trouble("Telegram calls https addresses alone: https://YOUR-BOT.")
    address = url.rstrip("/")
    address = address if address.endswith(PATH) else address + PATH
    return {"url": address, "secret_token": secret, "allowed_updates": UPDATES}


def shown(info: Mapping[str, Any]) -> list[str]:
    """What Telegram has on record, in lines."""
    if not info.get("url"):
        return ["There is no webhook."]
    lines = [
        f"Telegram calls {info['url']}",
        f"waiting updates: {info.get('pending_update_count', 0)}",
    ]
    if info.get("last_error_message"):
        lines.append(f"last error: {info['last_error_message']}")
    return lines


def call(api: str, token: str, method: str, values: Mapping[str, Any]) -> Any:
    """A method's result. Raises Trouble, in which no token is named."""
    request = urllib.request.Request(
        f"{api}/bot{token}/{method}",
        json.dumps(values).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            answer = json.loads(reply.read())
    except urllib.error.HTTPError as error:
        with error:
            raise Trouble(f"Telegram refused {method}: {_described(error.read())}") from None
    except (OSError, ValueError) as error:
        reason = str(error).replace(token, "…")
        raise Trouble(f"Telegram did not answer {method}: {reason}") from None
    if answer.get("ok") is not True:
        raise Trouble(f"Telegram refused {method}: {answer.get('description')}")
    return answer["result"]


def read_vars(file: Path) -> dict[str, str]:
    """The variables of a file written as ``.dev.vars``. Raises Trouble."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Trouble(f"{file}: {error.strerror}") from None
    return {found[1]: found[3] for line in lines if (found := _LINE.match(line))}


def _described(body: bytes) -> str:
    try:
        return str(json.loads(body).get("description"))
    except (ValueError, AttributeError):
        return "no reason given"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Set, show or remove the bot's webhook.")
    parser.add_argument("url", nargs="?", help="where the bot answers, https://YOUR-BOT")
    parser.add_argument("--vars", type=Path, metavar="FILE", help="variables, as in .dev.vars")
    parser.add_argument("--show", action="store_true", help="only say what is set")
    parser.add_argument("--delete", action="store_true", help="remove the webhook")
    options = parser.parse_args(arguments)
    if sum((options.url is not None, options.show, options.delete)) != 1:
        parser.error("give the bot's address, or --show, or --delete")
    return options


if __name__ == "__main__":
    sys.exit(main())
