from typing import Any

import pytest

from bot.agent.exchange import Asked, Call, Later, Reply, Unusable
from bot.agent.workers_ai import MAX_TOKENS, WorkersAi
from bot.ports import Fault
from tests.support.drive import run

TOOL = {"type": "function", "function": {"name": "read"}}
ASKED = Asked([{"role": "user", "content": "hi"}], [TOOL])


class Binding:
    def __init__(self, answer: Any):
        self.answer = answer
        self.seen: list[Any] = []

    async def run(self, model: str, inputs: Any, *, timeout_s: float) -> Any:
        self.seen.append((model, inputs, timeout_s))
        if isinstance(self.answer, Fault):
            raise self.answer
        return self.answer


def complete(answer: Any, asked: Asked = ASKED) -> Any:
    return run(WorkersAi(Binding(answer), "@cf/m").complete(asked, timeout_s=9))


def test_asks_in_the_bindings_words():
    binding = Binding({"response": "hello"})
    run(WorkersAi(binding, "@cf/m").complete(ASKED, timeout_s=9))
    run(WorkersAi(binding, "@cf/m").complete(Asked(ASKED.messages), timeout_s=9))
    run(WorkersAi(binding, "@cf/m").complete(Asked([], [TOOL], must_call=True), timeout_s=9))
    plain = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": MAX_TOKENS}
    assert binding.seen[0] == ("@cf/m", {**plain, "tools": [TOOL]}, 9)
    assert binding.seen[1] == ("@cf/m", plain, 9)
    assert binding.seen[2][1]["tool_choice"] == "required"


def test_reads_its_own_form():
    usage = {"prompt_tokens": 5, "completion_tokens": 6}
    assert complete({"response": "hello", "usage": usage}) == Reply("hello", (), 5, 6)
    called = [{"name": "read", "arguments": {"path": "x"}}]
    reply = complete({"response": None, "tool_calls": called, "usage": usage})
    assert reply == Reply("", (Call("read", '{"path": "x"}'),), 5, 6)


def test_reads_the_protocols_form():
    message = {"content": "hello", "tool_calls": []}
    assert complete({"choices": [{"message": message}]}) == Reply("hello", (), 1, 2)


def test_a_json_answer_is_text():
    assert complete({"response": {"a": 1}}).text == '{"a": 1}'


@pytest.mark.parametrize("answer", [None, "x", [], {}, {"choices": []}, {"tool_calls": []}])
def test_what_holds_no_answer_is_unusable(answer: Any):
    assert isinstance(complete(answer), Unusable)


def test_an_error_may_pass():
    assert isinstance(complete(Fault("3040: capacity")), Later)
