"""Grants and the one question asked about them: does this set cover that grant?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.authz.actor import CRON, Actor, Surface
from bot.words import Code, Refused

ALL = "all"
ACTIONS = (
    ALL,
    "agent:run:*",
    "agent:run:research",
    "agent:ship",
    "github:issue-write",
    "schedule:read",
    "schedule:write",
    "schedule:fire",
    "config:read",
    "config:write",
    "grant:write",
    "run:read",
    "run:cancel",
    "job:write",
    "memory:write",
)
"""Every action the product asks for, and the wildcards people write most."""

_ACTION = re.compile(r"[a-z][a-z0-9-]{0,39}(:[a-z][a-z0-9-]{0,39}){0,3}(:\*)?", re.ASCII)
_RESOURCE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(\*|(?!\.{1,2}$)[A-Za-z0-9._-]{1,100})", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """``ACTION`` or ``ACTION on RESOURCE``; no resource means any."""

    action: str
    resource: str | None = None

    def __str__(self) -> str:
        return self.action if self.resource is None else f"{self.action} on {self.resource}"


def is_repository(text: str) -> bool:
    """Whether ``text`` names one repository, ``owner/repo``."""
    return _RESOURCE.fullmatch(text) is not None and not text.endswith("/*")


def parse_grant(text: str) -> Grant | Refused:
    """Read ``ACTION`` or ``ACTION on RESOURCE``.

    Returns ``Refused(bad_grant)`` for a malformed one and for an action that the product
    never asks for, since such a grant would look like authority and give none.
    """
    words = text.split()
    if len(words) == 3 and words[1] == "on":
        action, resource = words[0], words[2]
    elif len(words) == 1:
        action, resource = words[0], None
    else:
        return _bad_grant(text, "Write ACTION, or ACTION on OWNER/REPO or OWNER/*.")
    if not _ACTION.fullmatch(action):
        return _bad_grant(text, "An action is a path of lower-case words, such as schedule:write.")
    if not _known(action):
        near = difflib.get_close_matches(action, ACTIONS, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Actions are {', '.join(ACTIONS)}."
        return _bad_grant(text, f"Nothing asks for {action}. {hint}")
    if resource is not None and not _RESOURCE.fullmatch(resource):
        return _bad_grant(text, "A resource is OWNER/REPO or OWNER/*.")
    return Grant(action, resource)


def parse_grants(texts: Iterable[str]) -> tuple[Grant, ...] | Refused:
    """Read several; the first that is refused is the answer."""
    grants: list[Grant] = []
    for text in texts:
        grant = parse_grant(text)
        if isinstance(grant, Refused):
            return grant
        grants.append(grant)
    return tuple(dict.fromkeys(grants))


def covers(held: Iterable[Grant], wanted: Grant) -> bool:
    """Whether the grants ``held`` cover ``wanted``. The only judge of authority in the house."""
    return any(
        _action_covers(grant.action, wanted.action)
        and _resource_covers(grant.resource, wanted.resource)
        for grant in held
    )


FLOORS: Mapping[bool, tuple[Grant, ...]] = {
    True: (
        Grant("schedule:read"),
        Grant("job:write"),
        Grant("run:read"),
        Grant("agent:run:research"),
    ),
    False: (),
}
"""What an actor holds without being given anything, by whether it is a person."""


def grants_key(actor: Actor) -> str:
    """The org document's key of an actor's grants."""
    return f"grants.{actor.id}"


def grants_of(
    actor: Actor, entries: Mapping[str, Any], admins: frozenset[str]
) -> tuple[Grant, ...]:
    """What an actor holds (contract §2).

    ``entries`` is the org document, ``admins`` the ids that ``ADMINS`` names. A schedule gets
    nothing here: its turn carries its row's grants. A stored grant that no longer parses
    gives nothing.
    """
    if actor.surface is Surface.SCHEDULE:
        return ()
    if actor == CRON:
        return (Grant("schedule:fire"),)
    if actor.id in admins:
        return (Grant(ALL),)
    return tuple(dict.fromkeys((*FLOORS[actor.is_person], *given_to(actor, entries))))


def given_to(actor: Actor, entries: Mapping[str, Any]) -> tuple[Grant, ...]:
    """What the org document gives an actor, over any floor."""
    stored: Any = entries.get(grants_key(actor))
    given: list[Grant] = []
    for text in stored if isinstance(stored, list) else ():  # type: ignore[reportUnknownVariableType]
        grant = parse_grant(text) if isinstance(text, str) else None
        if isinstance(grant, Grant):
            given.append(grant)
    return tuple(given)


def _known(action: str) -> bool:
    if action in ACTIONS or action.startswith("agent:run:"):
        return True
    stem = action.removesuffix(":*")
    return stem != action and any(known.startswith(f"{stem}:") for known in ACTIONS)


def _action_covers(held: str, wanted: str) -> bool:
    if held in (ALL, wanted):
        return True
    stem = held.removesuffix("*")
    return stem != held and wanted.startswith(stem)


def _resource_covers(held: str | None, wanted: str | None) -> bool:
    if held is None:
        return True
    if wanted is None or not _RESOURCE.fullmatch(wanted):
        return False
    held, wanted = held.lower(), wanted.lower()
    return held == wanted or (held.endswith("/*") and wanted.startswith(held[:-1]))


def _bad_grant(text: str, hint: str) -> Refused:
    return Refused(Code.BAD_GRANT, f"{text.strip()[:120]!r} is not a grant. {hint}")
