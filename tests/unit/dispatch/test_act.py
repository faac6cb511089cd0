"""The write rule over whole turns: every effect, route and kind of actor (contract §4)."""

import pytest

from bot.ports import HttpReply
from bot.words import Source
from tests.support.model_server import calls, says
from tests.support.turns import KeptSteps, Office
from tests.support.world import Sent
from tests.unit.builders import entry

SCHEDULE = "schedule:nightly"
READ = ("schedule list", "schedule_list", {})
EXEC = ("schedule fire nightly", "schedule_fire", {"name": "nightly"})
WRITE = ("schedule remove nightly", "schedule_remove", {"name": "nightly"})
ALL = ("all",)


def office(*script: object, **overrides: object) -> Office:
    made = Office(*script, **overrides)  # type: ignore[arg-type]
    made.house.config.put({"schedules.nightly": entry("nightly", text="whoami")})
    return made


def routed(case: tuple[str, str, object]) -> Office:
    return office(calls((case[1], case[2])))


def removed(at: Office) -> bool:
    return "schedules.nightly" not in at.house.config.get().entries


class TestAPerson:
    @pytest.mark.parametrize("case", [READ, EXEC])
    def test_reads_and_runs_by_prose_with_a_receipt(self, case: tuple[str, str, object]):
        at = routed(case)
        run = at.say("please", grants=ALL)
        assert (run.state, run.route) == ("ok", "routed")
        assert at.said.splitlines()[0] == f"ran: {case[0]}"

    def test_is_handed_back_a_write_by_prose_and_confirms_it_once(self):
        at = routed(WRITE)
        run = at.say("please", grants=ALL)
        assert (run.state, run.code) == ("refused", "handed_back")
        assert (run.route, run.effect) == ("routed", "write")
        assert not removed(at)
        code = at.said.partition("confirm ")[2].split()[0]
        run = at.turn(at.admit(f"confirm {code}", grants=ALL, run_id="run2"), KeptSteps())
        assert (run.state, run.route, run.effect) == ("ok", "explicit", "write")
        assert removed(at)
        run = at.turn(at.admit(f"confirm {code}", grants=ALL, run_id="run3"), KeptSteps())
        assert (run.state, run.code) == ("refused", "bad_code")

    @pytest.mark.parametrize("who", ["web:bob", "slack:alice", "http:ci", SCHEDULE])
    def test_nobody_else_confirms_it(self, who: str):
        at = routed(WRITE)
        at.say("please", grants=ALL)
        code = at.said.partition("confirm ")[2].split()[0]
        admitted = at.admit(f"confirm {code}", who, ALL, run_id="run2")
        run = at.turn(admitted, KeptSteps())
        assert run.state == "refused"
        assert not removed(at)

    def test_nor_late(self):
        at = routed(WRITE)
        at.say("please", grants=ALL)
        code = at.said.partition("confirm ")[2].split()[0]
        at.house.clock.advance(minutes=10)
        run = at.turn(at.admit(f"confirm {code}", grants=ALL, run_id="run2"), KeptSteps())
        assert run.code == "bad_code"
        assert not removed(at)

    def test_confirming_asks_for_the_grants_of_then(self):
        at = routed(WRITE)
        at.say("please")
        code = at.said.partition("confirm ")[2].split()[0]
        run = at.turn(at.admit(f"confirm {code}", run_id="run2"), KeptSteps())
        assert run.code == "forbidden"
        assert not removed(at)

    def test_writes_by_what_is_written_out(self):
        at = office()
        assert at.say(WRITE[0], grants=ALL).state == "ok"
        assert removed(at)

    def test_removes_no_row_that_came_after_they_asked(self):
        """As when a bot dies in the middle, and the step is carried out again."""
        at = office()
        at.admit(WRITE[0], grants=ALL)
        at.house.clock.advance(minutes=1)
        later = entry("nightly", created_at=at.house.clock.now_ms(), text="whoami")
        at.house.config.put({"schedules.nightly": later})
        run = at.turn()
        assert (run.state, run.code) == ("refused", "conflict")
        assert not removed(at)

    def test_the_grants_are_asked_whatever_the_route(self):
        at = routed(EXEC)
        run = at.say("please")
        assert (run.state, run.code) == ("refused", "forbidden")


class TestASchedule:
    @pytest.mark.parametrize("case", [READ, EXEC])
    def test_reads_and_runs_by_prose_with_a_receipt(self, case: tuple[str, str, object]):
        at = routed(case)
        run = at.say("please", SCHEDULE, ALL, Source.SCHEDULE)
        assert (run.state, run.route) == ("ok", "routed")
        assert at.said.splitlines()[0] == f"ran: {case[0]}"

    def test_is_refused_a_write_by_prose_and_handed_back_no_code(self):
        at = routed(WRITE)
        run = at.say("please", SCHEDULE, ALL, Source.SCHEDULE)
        assert (run.state, run.code) == ("refused", "schedule_write")
        assert (run.route, run.effect) == ("routed", "write")
        assert "```\nschedule remove nightly\n```" in at.said
        assert "confirm" not in at.said
        assert at.house.db.sql("SELECT * FROM handbacks") == []
        assert not removed(at)

    def test_is_refused_a_write_that_is_written_out(self):
        at = office()
        run = at.say(WRITE[0], SCHEDULE, ALL, Source.SCHEDULE)
        assert (run.state, run.code, run.route) == ("refused", "schedule_write", "explicit")
        assert "```\nschedule remove nightly\n```" in at.said
        assert not removed(at)

    def test_is_refused_a_change_of_code_by_prose(self):
        at = office(calls(("agent_ship", {"repo": "acme/api", "path": "plans/bump.md"})))
        run = at.say("in acme/api: bump it all", SCHEDULE, ALL, Source.SCHEDULE)
        assert (run.state, run.code) == ("refused", "schedule_write")
        assert (run.route, run.effect) == ("routed", "write")
        assert "```\nagent:ship in acme/api: plan plans/bump.md\n```" in at.said
        assert len(at.asked) == 1, "the router was asked, and no agent"


class TestAJob:
    def test_is_handed_back_a_write_that_is_written_out(self):
        at = office()
        run = at.say(WRITE[0], grants=ALL, source=Source.JOB)
        assert (run.state, run.code) == ("refused", "handed_back")
        assert not removed(at)

    def test_reads_by_what_is_written_out(self):
        assert office().say(READ[0], source=Source.JOB).state == "ok"

    @pytest.mark.parametrize("text", [READ[0], EXEC[0], WRITE[0], "confirm ABCDEFGH", "schedule"])
    def test_never_reads_an_agents_words_as_a_command(self, text: str):
        at = office(says("I may not."))
        run = at.say(text, grants=ALL, source=Source.JOB, by_agent=True)
        assert (run.state, run.route, run.output) == ("ok", "agent", "I may not.")
        assert at.asked[0]["messages"][-1]["content"] == text
        assert at.house.engine.started == []
        assert not removed(at)

    def test_that_waits_for_the_outside_past_its_deadline_is_timed_out(self):
        at = office(settings={"github_token": "t"})

        def hangs(sent: Sent) -> HttpReply:
            at.house.clock.advance(seconds=sent.timeout_s)
            return HttpReply(500, {}, "")

        at.outside = hangs
        at.steps.after = lambda name: at.house.clock.advance(seconds=45)
        run = at.say("advisories in acme/api", source=Source.JOB, grants=ALL)
        assert (run.state, run.code) == ("failed", "timed_out")
        assert [sent.timeout_s for sent in at.house.http.sent] == [5]


class TestReceipt:
    def test_stands_over_what_failed_as_well(self):
        at = office(calls(("advisories", {"repo": "acme/api"})))
        run = at.say("which advisories are open in acme/api?", grants=ALL)
        assert run.state == "failed"
        assert "ran: advisories in acme/api" in at.said.splitlines()


class TestAChangeOfCode:
    def test_by_prose_is_handed_back_to_a_person(self):
        at = office(calls(("agent_ship", {"repo": "acme/api", "path": "plans/bump.md"})))
        run = at.say("in acme/api: bump it all", grants=ALL)
        assert (run.state, run.code, run.effect) == ("refused", "handed_back", "write")
        assert "agent:ship in acme/api: plan plans/bump.md" in at.said
        assert "a person writes first" in at.said

    @pytest.mark.parametrize("who", ["web:alice", SCHEDULE])
    def test_written_out_it_is_an_agents_turn(self, who: str):
        at = office(calls(("nothing", {})))
        source = Source.SCHEDULE if who == SCHEDULE else Source.MESSAGE
        at.admit("agent:ship in acme/api: plan plans/bump.md", who, ALL, source)
        at.steps.after = lambda name: at.house.db.sql(
            "UPDATE runs SET state = 'failed' WHERE ?1 = 'model-1'", name
        )
        at.turn()
        assert len(at.asked) == 1
        offered = {each["function"]["name"] for each in at.asked[0]["tools"]}
        assert "open_pull_request" in offered


def test_a_malformed_command_is_told_its_usage():
    at = office()
    run = at.say("schedule remove")
    assert (run.state, run.code) == ("refused", "bad_command")
    assert "schedule remove NAME" in at.said
