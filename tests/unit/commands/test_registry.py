import pytest

from bot import commands
from bot.authz.policy import COMMANDS as POLICY
from bot.commands.registry import Command, Invocation, Registry, ok
from bot.commands.syntax import Syntax
from bot.words import Code, Effect
from tests.support.drive import run
from tests.unit.commands import caller
from tests.unit.commands.contract import BY_NAME, COMMANDS

WHOLE: Registry | None = getattr(commands, "REGISTRY", None)
THERE = {command.name: command for command in (*caller.REGISTRY, *(WHOLE or ()))}


@pytest.mark.parametrize("name", sorted(THERE))
def test_a_command_is_written_as_the_contract_writes_it(name: str):
    assert THERE[name].usage == BY_NAME[name].usage
    assert THERE[name].syntax == BY_NAME[name].syntax


@pytest.mark.skipif(WHOLE is None, reason="the families are not put together yet")
def test_every_command_of_the_contract_is_there_and_the_policy_names_it():
    assert WHOLE is not None
    assert {command.name for command in WHOLE} == {entry.name for entry in COMMANDS}
    assert {command.name for command in WHOLE} == set(POLICY)


async def _done(house, call, args):
    return ok("done")


def test_a_command_that_the_policy_does_not_name_is_forbidden_to_all():
    stray = Command("fly", "Flies.", Effect.EXEC, Syntax(), _done)
    house = caller.make_house(commands=Registry([stray]))
    assert caller.Caller(house).refused("fly") is Code.FORBIDDEN


def test_a_forbidden_command_does_not_run():
    async def broken(house, call, args):
        raise AssertionError("it ran")

    guarded = Command("config set", "Sets.", Effect.WRITE, BY_NAME["config set"].syntax, broken)
    registry = Registry([guarded])
    house = caller.make_house(commands=registry)
    call = Invocation(caller.actor("web:bob"), caller.grants("config:read"), "id1", 0)
    outcome = run(registry.invoke(house, call, "config set", {"key": "a", "value": "b"}))
    assert outcome.code is Code.FORBIDDEN
