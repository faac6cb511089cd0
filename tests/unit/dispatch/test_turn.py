"""What a whole turn posts, keeps and says, beyond the rule (``test_act``) and the loop."""

import pytest

from bot.channels.base import MAX_POST
from bot.dispatch.turn import run_turn
from bot.ports import Fault
from bot.words import Source
from tests.support.drive import run as drive
from tests.support.model_server import calls, says
from tests.support.turns import KeptSteps, Office

RESEARCH = "agent:run research in acme/api: what is there?"


class TestAnAgentTurn:
    def test_by_its_command_has_no_receipt(self):
        office = Office(says("two files"))
        run = office.say(RESEARCH)
        assert (run.state, run.route, run.effect) == ("ok", "explicit", "exec")
        assert office.said == run.output == "two files"

    def test_by_prose_has_one(self):
        office = Office(calls(("agent", {"role": "research"})), says("two files"))
        run = office.say("in acme/api: what is there?")
        assert (run.state, run.route, run.effect) == ("ok", "agent", "exec")
        assert office.said == "ran: agent:run research in acme/api\ntwo files"

    def test_without_the_grant_asks_no_model(self):
        office = Office()
        run = office.say(RESEARCH, "http:ci")
        assert (run.state, run.code) == ("refused", "forbidden")
        assert office.asked == []

    def test_by_prose_without_the_grant_asks_the_router_and_no_agent(self):
        office = Office(calls(("agent", {"role": "research"})))
        grants = ("agent:run:research on acme/web",)
        run = office.say("in acme/api: go", "schedule:nightly", grants, Source.SCHEDULE)
        assert (run.state, run.code, run.route) == ("refused", "forbidden", "agent")
        assert "agent:run:research on acme/api" in office.said
        assert len(office.asked) == 1

    @pytest.mark.parametrize("role", ["ship", "personal", "admin"])
    def test_has_no_role_but_those_that_run(self, role: str):
        office = Office()
        run = office.say(f"agent:run {role} in acme/api: go", grants=("all",))
        assert (run.state, run.code) == ("refused", "bad_value")
        assert office.asked == []

    def test_offers_what_the_grants_cover(self):
        for grants, offered in {
            ("github:issue-write on acme/api",): True,
            ("github:issue-write on acme/web",): False,
            (): False,
        }.items():
            office = Office(says("done"))
            office.say(RESEARCH, grants=grants)
            names = {each["function"]["name"] for each in office.asked[0]["tools"]}
            assert ("create_issue" in names) is offered
            assert "list_advisories" in names

    def test_a_job_is_its_owners_own_agent(self):
        office = Office(says("stretched"))
        run = office.say("remind me to stretch", source=Source.JOB, name="stretch", row_id="job1")
        assert (run.state, run.route, run.effect) == ("ok", "agent", "exec")
        assert run.output == "stretched"
        names = {each["function"]["name"] for each in office.asked[0]["tools"]}
        assert {"learn", "recall", "schedule"} <= names
        assert not {"create_issue", "read_file"} & names

    @pytest.mark.parametrize("prompt", ["remind me", RESEARCH])
    def test_a_job_has_fifty_seconds(self, prompt: str):
        office = Office(*[calls(("nothing", {}))] * 9)
        office.steps.after = lambda name: office.house.clock.advance(seconds=10)
        run = office.say(prompt, source=Source.JOB, name="stretch", row_id="job1")
        assert (run.state, run.code) == ("failed", "timed_out")
        assert "50 seconds" in (run.output or "")
        timeouts = [sent.timeout_s for sent in office.house.http.sent]
        assert timeouts[-1] < 45, "the call in flight has the time that is left"

    def test_by_prose_a_person_has_the_personal_agent(self):
        office = Office(calls(("agent", {"role": "personal"})), says("noted"))
        run = office.say("remind me in 5 minutes to stretch")
        assert (run.state, run.route) == ("ok", "agent")
        assert office.said == "ran: agent, personal\nnoted"
        system, user = office.asked[1]["messages"]
        assert "web:alice" in system["content"]
        assert user["content"] == "remind me in 5 minutes to stretch"

    def test_its_failure_is_posted_with_its_code(self):
        office = Office(says(""))
        run = office.say(RESEARCH)
        assert (run.state, run.code) == ("failed", "no_output")
        assert office.said.startswith("failed: no_output\n")


class TestWhatIsPosted:
    def test_is_cut_with_a_pointer_and_kept_whole(self):
        office = Office(says("x" * (MAX_POST + 5_000)))
        run = office.say(RESEARCH)
        assert len(office.said) <= MAX_POST
        assert office.said.endswith("run show run1")
        assert len(run.output or "") == MAX_POST + 5_000

    def test_mentions_nobody_at_large(self):
        office = Office(says("@channel look, <!here>"))
        office.say(RESEARCH)
        assert "@channel" not in office.said
        assert "<!here>" not in office.said

    def test_is_one_post_however_often_the_turn_is_run(self):
        office = Office(says("done"))
        office.say(RESEARCH)
        office.turn(steps=KeptSteps())
        assert office.said == "done"


class TestARunEndedFromOutside:
    @pytest.mark.parametrize("last", ["open", "route", "model-1", "tool-1-1", "model-2"])
    def test_is_left_as_it_is_and_posts_nothing_more(self, last: str):
        office = Office(
            calls(("agent", {"role": "research"})), calls(("list_issues", {})), says("done")
        )

        def cancel(name: str) -> None:
            if name == last:
                office.house.db.sql("UPDATE runs SET state = 'failed', code = 'cancelled'")

        office.steps.after = cancel
        run = office.say("in acme/api: go")
        assert (run.state, run.code, run.output) == ("failed", "cancelled", None)
        assert office.house.web.texts() == []
        assert "finish" not in office.steps.ran


class TestAnUnknownRun:
    def test_does_nothing(self):
        office = Office()
        drive(run_turn(office.house, "nobody", office.steps))
        assert office.steps.ran == ["open"]


def test_a_step_that_breaks_fails_the_run_and_says_no_more_than_that():
    office = Office()

    async def fail(point: str) -> None:
        if point == "config.read":
            raise Fault("a secret of the store")

    office.house.config.pause = fail
    run = office.say("please")
    assert (run.state, run.code) == ("failed", "internal")
    assert "secret" not in office.said
