from bot.runs.trace import MAX_ARGS, MAX_NOTE, Did, Entry, line, read, record
from tests.support.drive import run
from tests.support.turns import Office


def office() -> Office:
    made = Office()
    made.admit("hello")
    return made


def test_calls_are_kept_in_their_order_and_counted():
    at = office()
    for number in (1, 2, 10):
        entry = Entry(f"model-{number}", Did.OK, 1_000, 5, tokens_in=100, tokens_out=10)
        run(record(at.house.db, "run1", entry))
        run(record(at.house.db, "run1", Entry(f"tool-{number}-1", Did.OK, 1_000, 5, tool="look")))
    names = [step["name"] for step in run(read(at.house.db, "run1"))]
    assert names == ["model-1", "tool-1-1", "model-2", "tool-2-1", "model-10", "tool-10-1"]
    row = at.run()
    assert (row.model_calls, row.tokens_in, row.tokens_out) == (3, 300, 30)


def test_a_step_that_ran_again_replaces_its_record_and_keeps_its_place():
    at = office()
    run(record(at.house.db, "run1", Entry("model-1", Did.FAILED, 1_000, 5, note="busy")))
    run(record(at.house.db, "run1", Entry("tool-1-1", Did.OK, 1_000, 5, tool="look")))
    again = Entry("model-1", Did.OK, 2_000, 7, tokens_in=100, tokens_out=10)
    run(record(at.house.db, "run1", again))
    first, _ = run(read(at.house.db, "run1"))
    assert (first["name"], first["outcome"], first["note"]) == ("model-1", "ok", None)
    assert (at.run().model_calls, at.run().tokens_in) == (1, 100)


def test_what_is_long_is_cut():
    at = office()
    entry = Entry("tool-1-1", Did.FAILED, 0, 0, tool="t" * 999, args="a" * 9_999, note="n" * 9_999)
    run(record(at.house.db, "run1", entry))
    (step,) = run(read(at.house.db, "run1"))
    assert len(step["args"]) == MAX_ARGS
    assert len(step["note"]) == MAX_NOTE
    assert len(step["tool"]) == MAX_NOTE


def test_a_line_for_people_stays_one_line():
    at = office()
    entry = Entry("tool-1-1", Did.REFUSED, 0, 3, tool="leak", args="{}", note="forbidden:\nno")
    run(record(at.house.db, "run1", entry))
    (step,) = run(read(at.house.db, "run1"))
    assert line(step) == '- tool-1-1 · leak {} → refused: "forbidden:\\nno" (3 ms)'


def test_run_show_shows_them():
    at = office()
    entry = Entry("model-1", Did.OK, 1_000, 5, tokens_in=100, tokens_out=10)
    run(record(at.house.db, "run1", entry))
    at.house.db.sql("UPDATE runs SET state = 'ok' WHERE id = 'run1'")
    shown = at.say("run show run1", run_id="run2")
    assert "- model-1 · model → ok (5 ms, 100 + 10 tokens)" in (shown.output or "")


def test_run_show_speaks_to_people():
    at = office()
    at.house.db.sql("UPDATE runs SET state = 'ok' WHERE id = 'run1'")
    shown = (at.say("run show run1", run_id="run2").output or "").splitlines()
    assert "grants: schedule:read, job:write, run:read, agent:run:research" in shown
    assert "usage: 0 model calls, 0 tokens in, 0 tokens out" in shown
