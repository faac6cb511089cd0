import json

import pytest

from bot.agent.exchange import DEFAULT_WAIT_S, Asked, Call, Later, Reply, Unusable
from bot.agent.model import ChatCompletions, function, model_of
from bot.agent.workers_ai import DEFAULT_MODEL, WorkersAi
from bot.ports import Fault
from tests.support.drive import run
from tests.support.house import make_house
from tests.support.model_server import ModelServer, calls, fails, says, slowly
from tests.support.world import ScriptedHttp

TOOL = function("read_file", "Read a file.", {"type": "object"})
ASKED = Asked([{"role": "user", "content": "hi"}], [TOOL])


def model(http: ScriptedHttp, key: str = "secret") -> ChatCompletions:
    return ChatCompletions(http, "http://model.test/v1", key, "m")


def complete(http: ScriptedHttp, asked: Asked = ASKED) -> object:
    return run(model(http).complete(asked, timeout_s=9))


class TestRequest:
    def test_is_the_protocols(self):
        http = ScriptedHttp()
        http.reply(says("hello").text)
        assert complete(http) == Reply("hello", (), 100, 10)
        (sent,) = http.sent
        assert (sent.method, sent.url) == ("POST", "http://model.test/v1/chat/completions")
        assert sent.headers["authorization"] == "Bearer secret"
        assert sent.timeout_s == 9
        assert json.loads(sent.body or "") == {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [TOOL],
            "tool_choice": "auto",
        }

    def test_may_demand_a_call(self):
        http = ScriptedHttp()
        http.reply(calls(("read_file", {"path": "x"})).text)
        reply = complete(http, Asked(ASKED.messages, [TOOL], must_call=True))
        assert isinstance(reply, Reply)
        assert reply.calls == (Call("read_file", '{"path": "x"}'),)
        assert json.loads(http.sent[0].body or "")["tool_choice"] == "required"

    def test_without_functions_or_a_key_names_neither(self):
        http = ScriptedHttp()
        http.reply(says("hello").text)
        run(model(http, "").complete(Asked(ASKED.messages), timeout_s=9))
        assert "authorization" not in http.sent[0].headers
        assert "tools" not in json.loads(http.sent[0].body or "")


class TestTrouble:
    @pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
    def test_may_pass(self, status: int):
        http = ScriptedHttp()
        http.reply("busy", status=status)
        assert complete(http) == Later(DEFAULT_WAIT_S, f"it answered with status {status}")

    @pytest.mark.parametrize(
        ("header", "wait"),
        [
            ("7", 7),
            (" 7 ", 7),
            ("0.2", 1),
            ("1.5", 2),
            ("0", 1),
            ("Wed, 21 Oct 2026 07:28:00 GMT", DEFAULT_WAIT_S),
            ("-1", DEFAULT_WAIT_S),
            ("٧", DEFAULT_WAIT_S),
            ("9" * 30, DEFAULT_WAIT_S),
        ],
    )
    def test_is_waited_for_as_told(self, header: str, wait: int):
        http = ScriptedHttp()
        http.reply("", status=429, headers={"retry-after": header})
        answer = complete(http)
        assert isinstance(answer, Later)
        assert answer.wait_s == wait

    def test_silence_may_pass(self):
        http = ScriptedHttp([Fault("timed out")])
        assert isinstance(complete(http), Later)

    @pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 422])
    def test_stays_and_what_it_says_is_not_repeated(
        self, status: int, caplog: pytest.LogCaptureFixture
    ):
        http = ScriptedHttp()
        http.reply('{"error": "Incorrect API key: secret"}', status=status)
        assert complete(http) == Unusable(f"it answered with status {status}")
        assert "secret" not in caplog.text

    def test_an_answer_that_cannot_be_read_stays(self):
        http = ScriptedHttp()
        http.reply("<html>welcome</html>")
        assert isinstance(complete(http), Unusable)


class TestChoosing:
    def test_the_endpoint_before_the_binding(self):
        settings = {"model_base_url": "http://model.test/v1", "model": "m"}
        house = make_house(settings=settings, inference=Models())
        assert isinstance(model_of(house), ChatCompletions)

    def test_the_binding_where_no_endpoint_is_set(self):
        assert model_of(make_house(inference=Models())) == WorkersAi(MODELS, DEFAULT_MODEL)
        named = model_of(make_house(settings={"model": "@cf/x"}, inference=MODELS))
        assert named == WorkersAi(MODELS, "@cf/x")

    def test_neither(self):
        assert model_of(make_house()) is None


class Models:
    async def run(self, model: str, inputs: object, *, timeout_s: float) -> object:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Models)

    __hash__ = None  # type: ignore[assignment]


MODELS = Models()


def test_over_real_http():
    """The client against a server on loopback, by the tests' own plain client."""
    from tests.support.demo_github import UrllibHttp

    with ModelServer(says("hello"), fails(429, retry_after="3"), slowly(says("late"), 0.4)) as at:
        over = ChatCompletions(UrllibHttp(), at.url, at.key, "m")
        assert run(over.complete(ASKED, timeout_s=5)) == Reply("hello", (), 100, 10)
        assert run(over.complete(ASKED, timeout_s=5)) == Later(3, "it answered with status 429")
        assert isinstance(run(over.complete(ASKED, timeout_s=0.1)), Later)
        wrong = ChatCompletions(UrllibHttp(), at.url, "other", "m")
        assert run(wrong.complete(ASKED, timeout_s=5)) == Unusable("it answered with status 401")
