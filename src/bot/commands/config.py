"""The ``config`` commands: the organisation's settings (tier ``org``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from bot import org, strictjson
from bot.agent.limits import bad_ceiling
from bot.authz.grants import Grant
from bot.authz.keys import OWN, bad_key, is_own
from bot.commands.grammar import Syntax, line, word
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import Document, House
from bot.schedules.zones import parse_zone
from bot.words import Code, Effect, Refused
from config_do.documents import bad_change


def bad_entry(key: str, value: Any, held: Iterable[Grant]) -> Refused | None:
    """Whether a caller who holds ``held`` may write that entry by hand; None is yes.

    ``value`` None removes the key. Asked by ``config set``, ``config unset`` and
    ``PUT /admin/config/{tier}`` alike.
    """
    refusal = bad_key(key, held)
    if refusal is not None or value is None:
        return refusal
    why = bad_change(key, value) or bad_ceiling(key, value)
    if why is not None:
        return Refused(Code.BAD_VALUE, why)
    if key != "zone":
        return None
    zone = parse_zone(value) if isinstance(value, str) else None
    if isinstance(zone, Refused):
        return zone
    return None if zone else Refused(Code.BAD_ZONE, "A zone is a text such as Europe/Berlin.")


def parse_value(text: str) -> Any | Refused:
    """What ``config set`` stores: the JSON value that the text is, or the text itself."""
    if strictjson.deeper_than(text, strictjson.MAX_DEPTH):
        return Refused(Code.BAD_VALUE, "The value is nested too deeply.")
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except ValueError:
        return text
    except KeyError as twice:
        return Refused(Code.BAD_VALUE, f"The key {twice.args[0][:80]!r} is there twice.")
    if value is None:
        return Refused(Code.BAD_VALUE, "null stores nothing. Remove a key with config unset KEY.")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raises KeyError for a key that comes twice, as one of the two would be lost."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KeyError(key)
        found[key] = value
    return found


async def _get(house: House, call: Invocation, args: Args) -> Outcome:
    entries = (await house.config.read(org.TIER)).entries
    key = args["key"]
    if key is None:
        shown = {name: entries[name] for name in sorted(entries) if not is_own(name)}
        return ok(_listed(shown) or "There are no settings. Make one: config set KEY VALUE.", shown)
    if f"{key}." in OWN:
        shown = {name: entries[name] for name in sorted(entries) if name.startswith(f"{key}.")}
        return ok(_listed(shown) or f"There is nothing under {key}.", shown)
    if key not in entries:
        return refused(_no_key(key))
    return ok(_listed({key: entries[key]}), {key: entries[key]})


async def _set(house: House, call: Invocation, args: Args) -> Outcome:
    key, value = args["key"], parse_value(args["value"])
    refusal = value if isinstance(value, Refused) else bad_entry(key, value, call.grants)
    if refusal is not None:
        return refused(refusal)
    made = await org.change(house.config, lambda document: ({key: value}, None))
    if isinstance(made, Refused):
        return refused(made)
    return ok(f"{key} is set to {_json(value)}.", {key: value})


async def _unset(house: House, call: Invocation, args: Args) -> Outcome:
    key = args["key"]
    refusal = bad_entry(key, None, call.grants)
    if refusal is not None:
        return refused(refusal)

    def remove(document: Document) -> org.Decision[None]:
        return ({key: None}, None) if key in document.entries else _no_key(key)

    made = await org.change(house.config, remove)
    if isinstance(made, Refused):
        return refused(made)
    return ok(f"{key} is removed.", {key: None})


def _no_key(key: str) -> Refused:
    return Refused(Code.NOT_FOUND, f"There is no key {key[:80]!r}. See config get.")


def _listed(entries: Mapping[str, Any]) -> str:
    return "\n".join(f"{key}: {_json(value)}" for key, value in entries.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


COMMANDS = (
    Command(
        "config get",
        "The organisation's settings, or one of its keys.",
        Effect.READ,
        Syntax(args=(word("key", optional=True),)),
        _get,
    ),
    Command(
        "config set",
        "Write a setting: a JSON value, or plain text.",
        Effect.WRITE,
        Syntax(args=(word("key"), line("value"))),
        _set,
    ),
    Command("config unset", "Remove a setting.", Effect.WRITE, Syntax(args=(word("key"),)), _unset),
)
