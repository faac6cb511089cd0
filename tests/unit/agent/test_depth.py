"""Nesting that would end the interpreter is refused before it is parsed."""

from bot.agent.exchange import read_reply
from bot.agent.schema import read_arguments

DEEP = '{"a":' + "[" * 20_000 + "]" * 20_000 + "}"


def test_of_a_tool_calls_arguments():
    assert "nested deeper" in read_arguments(DEEP)


def test_of_an_endpoints_whole_answer():
    assert read_reply(DEEP, []) is None
