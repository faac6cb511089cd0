"""What enters the house: one message, whoever wrote it, and what admission answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.authz.actor import Actor
from bot.authz.grants import Grant
from bot.words import Code, Source, Trigger


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A turn to be run: who, with which authority, what they said, and where it answers.

    ``run_id`` names the turn for good; a firing's is made from its row and due minute.
    ``thread`` is a known thread key; without one the run opens a thread in ``channel``
    that starts with ``lead``. ``slot`` is a name that only one live run may hold besides the
    thread itself: it keeps a standing thread single before it has a key.
    ``by`` is who pressed, where a person did. ``by_agent``: an agent wrote the text, so that it is
    never read as a command. Times are epoch milliseconds.
    """

    run_id: str
    actor: Actor
    grants: tuple[Grant, ...]
    source: Source
    text: str
    channel: str | None = None
    thread: str | None = None
    slot: str | None = None
    lead: str | None = None
    name: str | None = None
    row_id: str | None = None
    due_at: int | None = None
    claimed_at: int | None = None
    trigger: Trigger | None = None
    by: str | None = None
    coalesced: int = 0
    by_agent: bool = False


class AdmissionKind(StrEnum):
    """What admission did with a message."""

    ADMITTED = "admitted"
    REFUSED = "refused"
    DUPLICATE = "duplicate"
    """The ledger holds that run id already: the turn runs, or ran, once."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Admission's answer for one message; ``code`` where it was refused."""

    run_id: str
    kind: AdmissionKind
    code: Code | None = None
