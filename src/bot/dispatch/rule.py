"""The write rule: what a turn may do, by who it acts for, how the command was found and what
it does. Pure (contract §4)."""

from __future__ import annotations

from enum import StrEnum

from bot.authz.actor import Actor, Surface
from bot.words import Effect, Route, Source


class TurnKind(StrEnum):
    """Who stands behind a turn when it comes to writing."""

    PERSON = "person"
    SCHEDULE = "schedule"
    JOB = "job"


class Ruling(StrEnum):
    """What the rule says."""

    RUN = "run"
    HAND_BACK = "hand_back"
    REFUSE = "refuse"


def kind_of(actor: Actor, source: Source) -> TurnKind:
    """Whether somebody is there to be handed a command back."""
    if actor.surface is Surface.SCHEDULE:
        return TurnKind.SCHEDULE
    return TurnKind.JOB if source is Source.JOB else TurnKind.PERSON


def rule(kind: TurnKind, route: Route, effect: Effect) -> Ruling:
    """The table of contract §4. Grants are asked besides, never instead.

    The effect is the command's own, read after routing, so that a wrong route cannot widen it.
    """
    if effect is not Effect.WRITE:
        return Ruling.RUN
    if kind is TurnKind.SCHEDULE:
        return Ruling.REFUSE
    if kind is TurnKind.PERSON and route is Route.EXPLICIT:
        return Ruling.RUN
    return Ruling.HAND_BACK
