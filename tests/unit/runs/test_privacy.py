import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.authz.actor import Actor, Surface
from bot.channels.slack_replies import reply_thread
from bot.commands.all import REGISTRY
from bot.commands.registry import Invocation
from bot.dispatch.message import IncomingMessage
from bot.runs import ledger
from bot.runs.privacy import may_see, reader_of
from bot.words import Code, Source
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import grant

ALICE, BOB = Actor(Surface.WEB, "alice"), Actor(Surface.WEB, "bob")
READ, ALL = (grant("run:read"),), (grant("all"),)
PLACES = {
    "a job": {"source": Source.JOB},
    "an own web thread": {"thread": "web:@alice/jobs"},
    "a direct message in Slack": {"thread": "slack:D042/1.2"},
    "a direct message in Telegram": {"thread": "telegram:77"},
    "the answer to a slash command": {"thread": reply_thread("slack:C042", "ab12")},
    "a slash command's channel": {"thread": None, "channel": "web:@alice"},
}

PLACE = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            [
                "web:",
                "slack:",
                "telegram:",
                "http:",
                "@",
                "C",
                "D",
                "-",
                "1",
                "r",
                "/",
                "/r",
                "\n",
                "",
            ]
        ),
        max_size=6,
    ),
)


def house_with(**values):
    house = make_house(commands=REGISTRY)
    message = IncomingMessage(
        **{
            "run_id": "run1",
            "actor": ALICE,
            "grants": READ,
            "source": Source.MESSAGE,
            "text": "whoami",
            **values,
        }
    )
    run(ledger.admit(house.db, [(message, None)], house.clock.now_ms()))
    return house


def listed(house, actor, held):
    reader = reader_of(actor, held)
    found = run(ledger.recent(house.db, state=None, name=None, limit=9, reader=reader))
    made = run(ledger.get(house.db, "run1"))
    assert (made in found) is may_see(made, reader), "the list and the look are of one mind"
    return bool(found)


@pytest.mark.parametrize("values", PLACES.values(), ids=PLACES)
def test_what_is_somebodys_own_is_read_by_them_and_by_who_holds_all(values):
    house = house_with(**values)
    assert listed(house, ALICE, READ)
    assert not listed(house, BOB, READ)
    assert listed(house, BOB, ALL)


@pytest.mark.parametrize(
    "values",
    [
        {"thread": "web:general/abc"},
        {"thread": "slack:C042/1.2"},
        {"thread": "telegram:-100/7"},
        {"thread": "web:general/r1"},
        {"thread": "http:ci/r1"},
        {"source": Source.SCHEDULE},
    ],
)
def test_the_rest_is_read_by_everybody_who_reads_runs(values):
    assert listed(house_with(**values), BOB, READ)


@given(
    thread=st.none() | PLACE,
    channel=st.none() | PLACE,
    source=st.sampled_from([Source.JOB, Source.MESSAGE]),
)
@settings(deadline=None)
def test_the_list_and_the_look_agree_of_every_place(thread, channel, source):
    listed(house_with(thread=thread, channel=channel, source=source), BOB, READ)


@pytest.mark.parametrize("command", ["run show", "run cancel"])
def test_anothers_own_run_is_not_there(command):
    house = house_with(source=Source.JOB)
    held = (*READ, grant("run:cancel"))
    call = Invocation(BOB, held, "call1", house.clock.now_ms())
    outcome = run(house.commands.invoke(house, call, command, {"id": "run1"}))
    assert outcome.code is Code.NO_RUN
    assert run(ledger.get(house.db, "run1")).live
