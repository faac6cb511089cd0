"""The policy table: what every command and every route needs. Data, in one place.

A command or a route that the table does not name is denied, whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.authz.actor import CRON, Surface
from bot.authz.grants import Grant, covers
from bot.words import Code, Refused

MAX_GIVERS = 3


class Door(StrEnum):
    """How a caller must have come in, before any grant is looked at."""

    OPEN = "open"
    """Anybody, signed in or not."""
    ACTOR = "actor"
    """Any authenticated actor: a bearer token or a browser session."""
    SESSION = "session"
    """A browser session."""
    BEARER = "bearer"
    """A bearer token."""
    INTERNAL = "internal"
    """The ``X-Internal-Key``."""
    SIGNED = "signed"
    """The surface's own signature over the raw body."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a thing needs: a door, and an action unless None.

    ``{role}`` in the action and the resource named by ``on`` are filled from the arguments.
    """

    action: str | None = None
    on: str | None = None
    door: Door = Door.ACTOR

    def grant(self, args: Mapping[str, object]) -> Grant | None:
        """The grant this call needs, or None when being there is enough."""
        if self.action is None:
            return None
        resource = args.get(self.on) if self.on else None
        return Grant(self.action.format(**args), resource if isinstance(resource, str) else None)


COMMANDS: Mapping[str, Need] = {
    "schedule add": Need("schedule:write"),
    "schedule remove": Need("schedule:write"),
    "schedule fire": Need("schedule:fire"),
    "schedule pause": Need("schedule:write"),
    "schedule resume": Need("schedule:write"),
    "schedule list": Need("schedule:read"),
    "schedule show": Need("schedule:read"),
    "schedule preview": Need("schedule:read"),
    "job add": Need("job:write"),
    "job list": Need("job:write"),
    "job delete": Need("job:write"),
    "memory list": Need("job:write"),
    "memory forget": Need("job:write"),
    "mcp add": Need("job:write"),
    "mcp list": Need("job:write"),
    "mcp remove": Need("job:write"),
    "skill add": Need("job:write"),
    "skill list": Need("job:write"),
    "skill remove": Need("job:write"),
    "link telegram": Need("job:write"),
    "config get": Need("config:read"),
    "config set": Need("config:write"),
    "config unset": Need("config:write"),
    "grant list": Need("config:read"),
    "grant add": Need("grant:write"),
    "grant remove": Need("grant:write"),
    "agent:run": Need("agent:run:{role}", on="repo"),
    "agent:ship": Need("agent:ship", on="repo"),
    "advisories": Need("agent:run:research", on="repo"),
    "run list": Need("run:read"),
    "run show": Need("run:read"),
    "run cancel": Need("run:cancel"),
    "confirm": Need(),
    "whoami": Need(),
    "help": Need(),
}

ROUTES: Mapping[tuple[str, str], Need] = {
    ("GET", "/healthz"): Need(door=Door.OPEN),
    ("POST", "/ingress"): Need(door=Door.BEARER),
    ("POST", "/admin/schedules/tick"): Need("schedule:fire"),
    ("GET", "/admin/schedules"): Need("schedule:read"),
    ("POST", "/admin/schedules"): Need("schedule:write"),
    ("GET", "/admin/schedules/preview"): Need("schedule:read"),
    ("GET", "/admin/schedules/{name}"): Need("schedule:read"),
    ("DELETE", "/admin/schedules/{name}"): Need("schedule:write"),
    ("POST", "/admin/schedules/{name}/fire"): Need("schedule:fire"),
    ("POST", "/admin/schedules/{name}/pause"): Need("schedule:write"),
    ("POST", "/admin/schedules/{name}/resume"): Need("schedule:write"),
    ("GET", "/admin/schedules/{name}/firings"): Need("schedule:read"),
    ("GET", "/admin/strips"): Need("schedule:read"),
    ("GET", "/admin/ticks"): Need("schedule:read"),
    # The command's own need is asked when it is known.
    ("POST", "/admin/command"): Need(),
    ("GET", "/admin/config/{tier}"): Need("config:read"),
    ("PUT", "/admin/config/{tier}"): Need("config:write"),
    ("GET", "/admin/runs"): Need("run:read"),
    ("GET", "/admin/runs/{id}"): Need("run:read"),
    ("GET", "/api/sign-in"): Need(door=Door.OPEN),
    ("POST", "/api/session"): Need(door=Door.OPEN),
    ("GET", "/api/session"): Need(door=Door.SESSION),
    ("DELETE", "/api/session"): Need(door=Door.SESSION),
    ("GET", "/api/channels"): Need(door=Door.SESSION),
    ("GET", "/api/threads"): Need(door=Door.SESSION),
    ("GET", "/api/threads/{key}"): Need(door=Door.SESSION),
    ("GET", "/api/threads/{channel}/{id}"): Need(door=Door.SESSION),
    ("POST", "/api/chat"): Need(door=Door.SESSION),
    ("GET", "/api/commands"): Need(door=Door.SESSION),
    ("GET", "/api/jobs"): Need("job:write", door=Door.SESSION),
    ("POST", "/api/jobs"): Need("job:write", door=Door.SESSION),
    ("DELETE", "/api/jobs"): Need("job:write", door=Door.SESSION),
    ("GET", "/api/events"): Need(door=Door.SESSION),
    ("GET", "/jobs"): Need(door=Door.INTERNAL),
    ("POST", "/jobs"): Need(door=Door.INTERNAL),
    ("DELETE", "/jobs"): Need(door=Door.INTERNAL),
    ("POST", "/api/job-run"): Need(door=Door.INTERNAL),
    ("POST", "/slack/events"): Need(door=Door.SIGNED),
    ("POST", "/telegram/webhook"): Need(door=Door.SIGNED),
    # The code in the body is the credential.
    ("POST", "/api/mcp-secret"): Need(door=Door.OPEN),
}


def authorize(
    need: Need | None,
    args: Mapping[str, object],
    held: Iterable[Grant],
    *,
    who: str = "YOU",
    givers: Iterable[str] = (),
) -> Refused | None:
    """Whether the grants ``held`` allow a thing with that need; None is yes.

    ``need`` None is a thing that the table does not name: refused whoever asks. ``who`` asks,
    and ``givers`` are some who could give the missing grant: the refusal says so.
    """
    if need is None:
        return Refused(Code.FORBIDDEN, "The policy table does not name this, so nobody may do it.")
    grant = need.grant(args)
    if grant is None or covers(held, grant):
        return None
    return Refused(
        Code.FORBIDDEN,
        f"This needs the grant {grant}, which you do not hold. {_way_to(grant, who, givers)}",
    )


def _way_to(grant: Grant, who: str, givers: Iterable[str]) -> str:
    """How ``who`` can come to hold a grant. Nothing is advised that would be refused."""
    if who.startswith(f"{Surface.SCHEDULE}:"):
        return (
            "A schedule holds exactly the grants of its row: remove the row and add it again "
            "with that grant."
        )
    if who == CRON.id:
        return f"{CRON} holds schedule:fire and nothing else, whatever is written."
    named = ", ".join(sorted(givers)[:MAX_GIVERS])
    return (
        f"Somebody who holds grant:write{f', such as {named},' if named else ''} can give it: "
        f"`grant add {who} {grant}`."
    )
