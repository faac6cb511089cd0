"""Actors: ``<surface>:<subject>`` (contract §2).

Only the code that authenticated a surface makes that surface's actors; nothing
here reads a name out of a text to become it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.words import Code, Refused


class Surface(StrEnum):
    """Where an actor comes in."""

    WEB = "web"
    SLACK = "slack"
    TELEGRAM = "telegram"
    HTTP = "http"
    SCHEDULE = "schedule"


PERSONAL = frozenset({Surface.WEB, Surface.SLACK, Surface.TELEGRAM})
_SUBJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Actor:
    """Somebody or something that acts."""

    surface: Surface
    subject: str

    @property
    def id(self) -> str:
        """The written form, ``web:alice``."""
        return f"{self.surface}:{self.subject}"

    @property
    def is_person(self) -> bool:
        """Whether a human stands behind it, who can have things of their own."""
        return self.surface in PERSONAL

    def __str__(self) -> str:
        return self.id


CRON = Actor(Surface.HTTP, "cron")
"""The bearer of ``CRON_TOKEN``: holds ``schedule:fire`` and nothing else."""


def parse_actor(text: str) -> Actor | Refused:
    """Read an actor's written form.

    Naming an actor is not becoming it: this serves ``grant add ACTOR`` and stored rows.
    Returns ``Refused(bad_actor)`` for an unknown surface or a malformed subject.
    """
    surface, _, subject = text.partition(":")
    if surface not in set(Surface) or not _SUBJECT.fullmatch(subject):
        return Refused(
            Code.BAD_ACTOR,
            f"{text[:80]!r} is not an actor. Write SURFACE:SUBJECT with one of "
            f"{', '.join(Surface)}, such as web:alice.",
        )
    return Actor(Surface(surface), subject)
