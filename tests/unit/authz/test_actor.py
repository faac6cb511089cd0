import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.authz.actor import CRON, Actor, Surface, parse_actor
from bot.words import Code, Refused


@pytest.mark.parametrize(
    "text",
    [
        "web:alice",
        "slack:U042",
        "telegram:77",
        "http:ci",
        "schedule:nightly-audit",
        "web:a.b+c@example.com",
        "web:0",
        "web:" + "a" * 128,
    ],
)
def test_the_written_form_is_read_and_written_back(text: str):
    actor = parse_actor(text)
    assert isinstance(actor, Actor)
    assert actor.id == str(actor) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alice",
        "web",
        "web:",
        ":alice",
        "Web:alice",
        "root:alice",
        "web:alice:x",
        "web:a b",
        "web: alice",
        "web:alice ",
        "web:alice\n",
        "web:-a",
        "web:älice",
        "web:a\u200bb",
        "web:" + "a" * 129,
        "web:a/b",
        "schedule:*",
    ],
)
def test_anything_else_is_no_actor(text: str):
    found = parse_actor(text)
    assert isinstance(found, Refused)
    assert found.code is Code.BAD_ACTOR


@given(st.text(max_size=30))
def test_a_subject_never_changes_the_surface(subject: str):
    for surface in Surface:
        actor = parse_actor(f"{surface}:{subject}")
        if isinstance(actor, Actor):
            assert actor.surface is surface
            assert actor.subject == subject


def test_people_come_in_by_web_slack_and_telegram():
    people = {surface for surface in Surface if Actor(surface, "x").is_person}
    assert people == {Surface.WEB, Surface.SLACK, Surface.TELEGRAM}


def test_the_cron_bearer_is_a_program():
    assert CRON.id == "http:cron"
    assert not CRON.is_person
