import json

import pytest

from bot.agent.exchange import (
    MAX_ARGUMENTS,
    MAX_CALLS,
    MAX_TEXT,
    Call,
    Reply,
    calls_of,
    read_reply,
    reply_of_json,
)

MESSAGES = [{"role": "user", "content": "x" * 400}]


def body(message: object, **more: object) -> str:
    return json.dumps({"choices": [{"message": message}], **more})


def test_a_text_and_its_usage():
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    assert read_reply(body({"content": "done"}, usage=usage), MESSAGES) == Reply("done", (), 7, 2)


def test_calls_with_their_arguments_as_written():
    called = [{"id": "a", "function": {"name": "read", "arguments": '{"path": "x"'}}]
    reply = read_reply(body({"content": None, "tool_calls": called}), MESSAGES)
    assert reply is not None
    assert reply.calls == (Call("read", '{"path": "x"'),)
    assert reply.text == ""


def test_the_older_form_of_calls_carries_an_object():
    assert calls_of([{"name": "read", "arguments": {"path": "x"}}]) == (
        Call("read", '{"path": "x"}'),
    )


def test_a_text_in_parts_is_put_together():
    parts = [{"type": "text", "text": "do"}, {"type": "image"}, {"type": "text", "text": "ne"}]
    reply = read_reply(body({"content": parts}), MESSAGES)
    assert reply is not None
    assert reply.text == "done"


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "7"}, {"prompt_tokens": -1}, []])
def test_without_usage_the_characters_are_counted(usage: object):
    reply = read_reply(body({"content": "y" * 8}, usage=usage), MESSAGES)
    assert reply is not None
    assert (reply.tokens_in, reply.tokens_out) == (100, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        "[]",
        "null",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": {"0": 1}}',
        "[" * 5000,
    ],
)
def test_what_holds_no_message_is_no_reply(text: str):
    assert read_reply(text, MESSAGES) is None


def test_nonsense_in_the_calls_is_a_call_of_nothing():
    assert calls_of(["x", {"function": 7}, {"function": {"name": 7}}]) == (Call("", "{}"),) * 3
    assert calls_of("x") == ()


def test_an_answer_fits_into_a_step():
    flood = [{"name": "n" * 500, "arguments": "é" * 100_000}] * (MAX_CALLS + 5)
    reply = read_reply(body({"content": "é" * (MAX_TEXT + 1), "tool_calls": flood}), MESSAGES)
    assert reply is not None
    assert len(reply.calls) == MAX_CALLS
    assert sum(len(call.arguments) for call in reply.calls) == MAX_ARGUMENTS
    assert len(json.dumps(reply.to_json())) < 1024 * 1024


def test_crosses_a_step_unchanged():
    reply = Reply("text", (Call("a", "{}"), Call("b", "")), 3, 4)
    assert reply_of_json(json.loads(json.dumps(reply.to_json()))) == reply
