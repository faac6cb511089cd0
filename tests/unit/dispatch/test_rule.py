import pytest

from bot.authz.actor import Actor, Surface
from bot.dispatch.rule import Ruling, TurnKind, kind_of, rule
from bot.words import Effect, Route, Source

RUN, BACK, NO = Ruling.RUN, Ruling.HAND_BACK, Ruling.REFUSE
TABLE = {
    (TurnKind.PERSON, Route.ROUTED): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: BACK},
    (TurnKind.PERSON, Route.EXPLICIT): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: RUN},
    (TurnKind.SCHEDULE, Route.ROUTED): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: NO},
    (TurnKind.SCHEDULE, Route.EXPLICIT): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: NO},
    (TurnKind.JOB, Route.ROUTED): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: BACK},
    (TurnKind.JOB, Route.EXPLICIT): {Effect.READ: RUN, Effect.EXEC: RUN, Effect.WRITE: BACK},
}
CASES = [(kind, route, e, r) for (kind, route), row in TABLE.items() for e, r in row.items()]


@pytest.mark.parametrize(("kind", "route", "effect", "ruling"), CASES)
def test_the_table_of_the_contract(kind, route, effect, ruling):
    assert rule(kind, route, effect) is ruling


def test_nothing_routed_from_prose_writes():
    for kind in TurnKind:
        assert rule(kind, Route.ROUTED, Effect.WRITE) is not Ruling.RUN


def test_a_schedule_is_known_by_its_actor_whatever_the_source_says():
    nightly = Actor(Surface.SCHEDULE, "nightly")
    assert {kind_of(nightly, source) for source in Source} == {TurnKind.SCHEDULE}


def test_a_jobs_turn_is_its_owners_and_unattended():
    alice = Actor(Surface.WEB, "alice")
    assert kind_of(alice, Source.JOB) is TurnKind.JOB
    assert kind_of(alice, Source.MESSAGE) is TurnKind.PERSON
