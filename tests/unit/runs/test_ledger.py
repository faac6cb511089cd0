from bot.authz.actor import Actor, Surface
from bot.dispatch.message import AdmissionKind, IncomingMessage
from bot.runs import ledger
from bot.runs.ledger import Verdict
from bot.words import Code, Source, State
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import grant

NOW = 1_000_000


def message(run_id, **values):
    return IncomingMessage(
        run_id=run_id,
        actor=Actor(Surface.WEB, "alice"),
        grants=(grant("run:read"),),
        source=Source.MESSAGE,
        text='it\'s "quoted", a line\nand {json}',
        **values,
    )


def admit(house, *messages, verdict=None):
    return run(ledger.admit(house.db, [(one, verdict) for one in messages], NOW))


def finish(house, run_id, state=State.OK):
    return run(
        ledger.finish(house.db, run_id, state=state, code=None, output="done", now_ms=NOW + 1)
    )


class TestAdmission:
    def test_keeps_the_message_as_it_was(self):
        house = make_house()
        sent = message("run1", channel="web:ops", name="n", due_at=5, coalesced=2)
        (answer,) = admit(house, sent)
        assert answer.kind is AdmissionKind.ADMITTED
        made = run(ledger.get(house.db, "run1"))
        assert (made.text, made.grants, made.due_at, made.coalesced, made.state) == (
            sent.text,
            sent.grants,
            5,
            2,
            State.RUNNING,
        )

    def test_of_the_same_run_id_is_a_duplicate_even_after_it_ended(self):
        house = make_house()
        admit(house, message("run1"))
        assert admit(house, message("run1"))[0].kind is AdmissionKind.DUPLICATE
        finish(house, "run1")
        assert admit(house, message("run1"))[0].kind is AdmissionKind.DUPLICATE
        assert not run(ledger.get(house.db, "run1")).live

    def test_a_thread_has_one_slot(self):
        house = make_house()
        first, second = admit(
            house, message("run1", thread="web:ops/a"), message("run2", thread="web:ops/a")
        )
        assert first.kind is AdmissionKind.ADMITTED
        assert (second.kind, second.code) == (AdmissionKind.REFUSED, Code.THREAD_BUSY)
        made = run(ledger.get(house.db, "run2"))
        assert (made.state, made.code, made.finished_at) == ("refused", "thread_busy", NOW)

    def test_a_slot_by_name_is_one_too(self):
        house = make_house()
        admit(house, message("run1", slot="standing:x"))
        assert admit(house, message("run2", slot="standing:x"))[0].code is Code.THREAD_BUSY

    def test_the_end_of_a_run_frees_its_slot(self):
        house = make_house()
        admit(house, message("run1", thread="web:ops/a"))
        finish(house, "run1", State.FAILED)
        again = admit(house, message("run2", thread="web:ops/a"))
        assert again[0].kind is AdmissionKind.ADMITTED

    def test_with_a_verdict_is_written_refused_and_takes_no_slot(self):
        house = make_house()
        verdict = Verdict(Code.SCHEDULE_WRITE, "explicit", "write")
        (answer,) = admit(house, message("run1", thread="web:ops/a"), verdict=verdict)
        assert (answer.kind, answer.code) == (AdmissionKind.REFUSED, Code.SCHEDULE_WRITE)
        made = run(ledger.get(house.db, "run1"))
        assert (made.state, made.effect, made.route) == ("refused", "write", "explicit")
        again = admit(house, message("run2", thread="web:ops/a"))
        assert again[0].kind is AdmissionKind.ADMITTED

    def test_of_more_than_a_hundred_goes_in_several_batches(self):
        house = make_house()
        answers = admit(house, *(message(f"run{n}") for n in range(250)))
        assert {answer.kind for answer in answers} == {AdmissionKind.ADMITTED}
        assert [answer.run_id for answer in answers] == [f"run{n}" for n in range(250)]


class TestEnding:
    def test_happens_once(self):
        house = make_house()
        admit(house, message("run1"))
        assert finish(house, "run1") is True
        assert finish(house, "run1", State.FAILED) is False
        assert run(ledger.get(house.db, "run1")).state is State.OK

    def test_an_ended_run_is_not_touched(self):
        house = make_house()
        admit(house, message("run1"))
        assert run(ledger.touch(house.db, "run1", NOW + 1)) is True
        finish(house, "run1")
        assert run(ledger.touch(house.db, "run1", NOW + 2)) is False

    def test_a_thread_that_another_live_run_holds_cannot_be_taken(self):
        house = make_house()
        admit(house, message("run1", thread="web:ops/a"), message("run2"))
        assert run(ledger.set_thread(house.db, "run2", "web:ops/a")) is False


class TestReading:
    def test_the_newest_first_filtered(self):
        house = make_house()
        admit(house, message("run1", name="a"), message("run2", name="b"))
        finish(house, "run1")
        found = run(ledger.recent(house.db, state="ok", name=None, limit=9))
        assert [one.id for one in found] == ["run1"]
        found = run(ledger.recent(house.db, state=None, name="b", limit=9))
        assert [one.id for one in found] == ["run2"]

    def test_many_by_id(self):
        house = make_house()
        admit(house, message("run1"), message("run2"))
        assert set(run(ledger.get_many(house.db, ["run1", "run2", "nobody"]))) == {"run1", "run2"}
