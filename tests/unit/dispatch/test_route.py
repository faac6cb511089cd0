from typing import Any

import pytest

from bot.agent.ask import AgentAsk
from bot.agent.exchange import Call, Reply
from bot.commands.all import REGISTRY
from bot.dispatch.route import (
    AGENT,
    NOT_OFFERED,
    UNSURE,
    choice,
    function_name,
    nearest,
    parameters_of,
    question,
)
from bot.dispatch.todo import AskRouter, End, RunAgent, RunCommand, Todo
from bot.words import Code, Route, State
from tests.support.model_server import calls, fails, says
from tests.support.turns import Office

PERSON = "please do it"


def picked(name: str, arguments: Any, text: str = PERSON, *, has_own: bool = True) -> Todo:
    import json

    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return choice(REGISTRY, AskRouter(text, has_own), Reply("", (Call(name, written),)))


def unclear(todo: Todo) -> str:
    """What is said where the answer was no clear choice."""
    assert isinstance(todo, End), todo
    ending = todo.ending
    assert (ending.state, ending.code) == (State.REFUSED, Code.NOT_UNDERSTOOD)
    assert (ending.route, ending.effect) == (Route.ROUTED, None)
    assert "nothing was done" in ending.text
    return ending.text


class TestQuestion:
    def test_offers_the_registry_in_its_own_words(self):
        asked = question(REGISTRY, AskRouter("hello", has_own=True))
        functions = {each["function"]["name"]: each["function"] for each in asked.functions}
        for command in REGISTRY:
            if command.name not in NOT_OFFERED:
                offered = functions[function_name(command)]
                assert command.summary in offered["description"]
                assert command.usage in offered["description"]
                names = {arg.name for arg in command.syntax.all_args}
                assert set(offered["parameters"]["properties"]) == names
        assert {AGENT, UNSURE} <= set(functions)
        assert asked.must_call

    def test_function_names_are_the_protocols_and_no_two_alike(self):
        names = [function_name(command) for command in REGISTRY]
        assert len(set(names)) == len(names)
        assert all(name.replace("_", "").isalpha() and len(name) <= 64 for name in names)
        assert not {AGENT, UNSURE} & set(names)

    def test_never_a_code_to_confirm(self):
        asked = question(REGISTRY, AskRouter("confirm it", has_own=True))
        assert "confirm" not in {each["function"]["name"] for each in asked.functions}

    def test_has_the_message_and_nothing_else_of_anybody(self):
        asked = question(REGISTRY, AskRouter("hello", has_own=True))
        assert [message["role"] for message in asked.messages] == ["system", "user"]
        assert asked.messages[1]["content"] == "hello"

    @pytest.mark.parametrize("has_own", [True, False])
    def test_offers_the_personal_agent_to_people_alone(self, has_own: bool):
        asked = question(REGISTRY, AskRouter("hello", has_own))
        (agent,) = [e["function"] for e in asked.functions if e["function"]["name"] == AGENT]
        assert ("personal" in agent["parameters"]["properties"]["role"]["enum"]) is has_own

    def test_a_list_is_a_list_and_what_may_be_left_out_is_not_required(self):
        add = REGISTRY.get("schedule add")
        assert add is not None
        schema = parameters_of(add.syntax)
        assert schema["properties"]["grants"] == {"type": "array", "items": {"type": "string"}}
        assert schema["required"] == ["name", "cron", "channel", "text"]


class TestChoice:
    def test_a_command_with_its_arguments(self):
        todo = picked("schedule_preview", {"cron": "0 9 * * *", "zone": None})
        args = {"cron": "0 9 * * *", "zone": None}
        assert todo == RunCommand("schedule preview", args, Route.ROUTED)

    def test_an_agent_turn_about_the_texts_repository(self):
        text = "what is new in acme/api?"
        todo = picked(AGENT, {"role": "research", "repo": "acme/api"}, text)
        ask = AgentAsk("research", "acme/api", text)
        assert todo == RunAgent(ask, Route.AGENT, "ran: agent:run research in acme/api")

    def test_a_repository_that_the_text_does_not_name_is_not_taken(self):
        said = unclear(picked(AGENT, {"role": "research", "repo": "acme/secret"}, "what is new?"))
        assert "in OWNER/REPO:" in said

    def test_the_personal_agent_has_the_persons_own_words(self):
        todo = picked(AGENT, {"role": "personal"}, "remind me in 5 minutes")
        assert isinstance(todo, RunAgent)
        assert todo.ask == AgentAsk("personal", None, "remind me in 5 minutes")

    @pytest.mark.parametrize("role", ["ship", "admin", None, 7, ["research"]])
    def test_no_other_role(self, role: object):
        unclear(picked(AGENT, {"role": role, "repo": "acme/api"}, "in acme/api: go"))

    def test_no_personal_agent_for_a_program_or_a_schedule(self):
        unclear(picked(AGENT, {"role": "personal"}, has_own=False))

    def test_unsure_lists_what_is_nearest_and_says_why(self):
        said = unclear(
            picked(UNSURE, {"why": "which one?\nsay", "nearest": ["schedule_show", "rm_rf", 7]})
        )
        assert "which one? say" in said
        assert "\nschedule show NAME" in said
        assert "rm_rf" not in said

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("schedule_remove", {}),
            ("schedule_remove", {"name": ["a"]}),
            ("schedule_remove", {"name": "a", "force": True}),
            ("schedule_remove", "{"),
            ("schedule_remove", "[]"),
            ("job_add", {"name": "a"}),
            ("confirm", {"code": "ABCD"}),
            ("agent_run", {"role": "research", "repo": "acme/api", "ask": "x"}),
            ("rm_rf", {"path": "/"}),
            ("", {}),
            (UNSURE, {"why": 7, "nearest": "schedule_list"}),
            (UNSURE, {}),
        ],
    )
    def test_what_does_not_fit_is_never_guessed(self, name: str, arguments: object):
        unclear(picked(name, arguments))

    def test_a_command_that_lacks_something_is_shown_with_its_usage(self):
        said = unclear(picked("schedule_remove", {}))
        assert "NAME is missing." in said
        assert "\nschedule remove NAME" in said

    @pytest.mark.parametrize("number", [0, 2, 5])
    def test_none_or_several_calls_are_no_choice(self, number: int):
        reply = Reply("I would say", (Call("schedule_list", "{}"),) * number)
        unclear(choice(REGISTRY, AskRouter(PERSON, True), reply))


class TestNearest:
    def test_is_by_the_words_they_share(self):
        names = [command.name for command in nearest(REGISTRY, "pause that schedule please")]
        assert names[0] == "schedule pause"
        assert len(names) <= 3

    def test_help_where_nothing_is_near(self):
        assert [command.name for command in nearest(REGISTRY, "xyzzy")] == ["help"]


class TestStep:
    def test_asks_once_and_is_kept(self):
        office = Office(calls(("schedule_list", {})))
        run = office.say("which schedules are there?")
        assert (run.state, run.route, run.effect) == ("ok", "routed", "read")
        assert (run.model_calls, run.tokens_in) == (1, 100)
        assert office.steps.ran == ["open", "route", "act", "deliver", "finish"]
        assert office.said.startswith("ran: schedule list\n")

    def test_a_text_in_chat_form_asks_no_model(self):
        office = Office()
        assert office.say("schedule list").route == "explicit"
        assert office.asked == []
        assert not office.said.startswith("ran:")

    def test_without_a_model_prose_fails(self):
        office = Office(settings={"model_base_url": ""})
        run = office.say("which schedules are there?")
        assert (run.state, run.code) == ("failed", "no_model")

    def test_a_model_that_is_down_fails_the_run(self):
        office = Office(fails(401))
        run = office.say("which schedules are there?")
        assert (run.state, run.code, run.route) == ("failed", "model_unavailable", "routed")

    def test_a_model_that_chats_instead_is_not_understood(self):
        office = Office(says("Sure! I removed it."))
        run = office.say("remove it")
        assert (run.state, run.code) == ("refused", "not_understood")
        assert "Sure!" not in office.said
