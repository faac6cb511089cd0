from bot.dispatch.handback import make_handback
from bot.ports import Fault
from bot.words import Code, OutcomeKind
from tests.support.drive import run
from tests.unit.commands.caller import REGISTRY, Caller, house


def handed_back(to: Caller, command: str) -> str:
    """The code of a command handed back to a caller."""
    return run(make_handback(to.house, to.actor, command, to.house.clock.now_ms()))


def test_runs_the_command_once():
    alice = Caller(house())
    code = handed_back(alice, "config set zone Europe/Berlin")
    assert alice.ok(f"confirm {code}").data == {"zone": "Europe/Berlin"}
    alice.house.config.put({"zone": "UTC"})
    assert alice.refused(f"confirm {code}") is Code.BAD_CODE
    assert alice.house.config.get().entries == {"zone": "UTC"}


def test_what_it_answers_in_secret_stays_secret():
    """The ledger keeps no one-time code, whatever way the command was said."""
    alice = Caller(house(telegram_bot_token="t"))
    for command in ("link telegram", "mcp add wiki https://mcp.example.com/"):
        outcome = alice.ok(f"confirm {handed_back(alice, command)}")
        assert outcome.secret, command


def test_a_code_reads_in_any_case():
    alice = Caller(house())
    alice.ok(f"confirm {handed_back(alice, 'whoami').lower()}")


def test_runs_under_the_confirmers_grants_of_now():
    alice = Caller(house(), held=[])
    code = handed_back(alice, "config set zone UTC")
    assert alice.refused(f"confirm {code}") is Code.FORBIDDEN
    assert alice.house.config.get().entries == {}
    assert Caller(alice.house).refused(f"confirm {code}") is Code.BAD_CODE


def test_wrong_strange_late_and_used_codes_are_answered_alike():
    alice = Caller(house())
    bob = Caller(alice.house, "web:bob")
    code = handed_back(alice, "whoami")
    said = {bob.say(f"confirm {code}").text, bob.say("confirm AAAA").text}
    alice.ok(f"confirm {code}")
    said.add(alice.say(f"confirm {code}").text)
    late = handed_back(alice, "whoami")
    alice.house.clock.advance(minutes=10)
    said.add(alice.say(f"confirm {late}").text)
    assert len(said) == 1


def test_a_program_may_confirm_its_own():
    ci = Caller(house(), "http:ci", ["config:write"])
    ci.ok(f"confirm {handed_back(ci, 'config set zone UTC')}")


def test_a_stored_command_that_no_longer_reads_fails():
    alice = Caller(house())
    outcome = alice.say(f"confirm {handed_back(alice, 'config frobnicate')}")
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.code is Code.BAD_COMMAND


def test_a_refusal_inside_is_the_outcome():
    alice = Caller(house())
    assert alice.refused(f"confirm {handed_back(alice, 'config unset motd')}") is Code.NOT_FOUND


def test_a_bot_that_dies_after_the_claim_has_used_the_code_up():
    alice = Caller(house())
    code = handed_back(alice, "config set zone UTC")

    async def die(point: str) -> None:
        if point == "config.read":
            raise Fault("the bot died")

    alice.house.config.pause = die
    try:
        alice.say(f"confirm {code}")
    except Fault:
        pass
    else:
        raise AssertionError("the fault was swallowed")
    del alice.house.config.pause
    assert alice.house.config.get().entries == {}
    assert Caller(alice.house).refused(f"confirm {code}") is Code.BAD_CODE


def test_confirming_writes_so_that_neither_prose_nor_a_schedule_can():
    confirm = REGISTRY.get("confirm")
    assert confirm is not None
    assert confirm.effect == "write"
