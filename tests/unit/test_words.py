"""One table of texts: every code has its sentence, and every surface says every state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.channels.base import render_outcome
from bot.commands.registry import Invocation
from bot.http.problem import problem
from bot.ports import Firing
from bot.schedules.firing import run_id_of
from bot.words import FINAL_STATES, LIVE_STATES, TEXTS, Code, Delivery, Refused, State
from tests.support.drive import run
from tests.unit.builders import entry, ms
from tests.unit.http.chats import Chats

SRC = Path(__file__).resolve().parents[2] / "src"


def trees() -> Iterator[tuple[str, ast.Module]]:
    for source in sorted(SRC.rglob("*.py")):
        yield str(source.relative_to(SRC)), ast.parse(source.read_text())


class TestTexts:
    def test_every_code_has_its_sentence(self):
        assert set(TEXTS) == set(Code)

    def test_every_code_that_the_code_names_is_one(self):
        named = {
            (file, node.attr)
            for file, tree in trees()
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "Code"
        }
        assert len({name for _, name in named}) > 50
        assert [each for each in named if each[1] not in Code.__members__] == []

    def test_no_refusal_is_made_of_a_loose_string(self):
        loose = [
            (file, node.lineno)
            for file, tree in trees()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("Refused", "refusal")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ]
        assert loose == []

    @pytest.mark.parametrize("code", Code)
    def test_a_sentence_is_plain_and_has_a_status(self, code: Code):
        text = TEXTS[code]
        assert re.fullmatch(r"[A-Z][^.!?\n]{5,70}", text.title)
        assert text.status == 200 or 400 <= text.status < 600

    def test_no_two_codes_share_a_sentence(self):
        titles = [text.title for text in TEXTS.values()]
        assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("code", Code)
def test_over_http_a_code_is_a_problem_of_its_own(code: Code) -> None:
    made = problem(Refused(code, "Because."))
    assert made.status == TEXTS[code].status
    for said in (code, TEXTS[code].title, "Because."):
        assert f'"{said}"'.encode() in made.body


class TestOutcomes:
    def test_an_ok_is_its_text_alone(self):
        assert render_outcome(State.OK, None, " done \n") == "done"

    def test_anything_else_says_its_state_and_code_first(self):
        assert render_outcome(State.REFUSED, Code.THREAD_BUSY, "Wait.") == (
            "refused: thread_busy\nWait."
        )

    def test_without_a_text_the_codes_sentence_stands_in(self):
        assert render_outcome(State.FAILED, Code.NO_OUTPUT, "") == (
            "failed: no_output\nThe run gave an empty answer."
        )
        assert render_outcome(State.OK, None, "") == "ok"

    def test_a_code_that_nobody_knows_is_said_as_it_is(self):
        assert render_outcome(State.FAILED, "from_the_past", "x") == "failed: from_the_past\nx"


def posted(chats: Chats, thread: str, text: str) -> str:
    """What a surface shows of a text."""
    surface = chats.house.channels[thread.partition(":")[0]]
    if surface.surface == "web":
        opened = run(surface.open_thread("web:ops", "lead", key="t", now_ms=1))
        thread = opened.thread  # type: ignore[union-attr]
    done = run(surface.post(thread, text, key="k", now_ms=1))
    assert done.delivery is Delivery.DELIVERED
    shown = {
        "slack": chats.slack.texts,
        "telegram": lambda: chats.telegram.texts("500"),
        "web": lambda: [row["text"] for row in chats.house.db.sql("SELECT text FROM messages")],
    }
    return shown[surface.surface]()[-1]


@pytest.mark.parametrize("thread", ["web:ops/x", "slack:C042/1.2", "telegram:500/0"])
class TestEverySurface:
    @pytest.mark.parametrize("state", State)
    def test_says_every_state(self, thread: str, state: State):
        outcome = render_outcome(state, Code.INTERRUPTED, "")
        assert posted(Chats(), thread, outcome) == outcome
        assert outcome.startswith(f"{state}: interrupted\n")

    def test_says_every_code(self, thread: str):
        for code in Code:
            outcome = render_outcome(State.REFUSED, code, "")
            assert posted(Chats(), thread, outcome) == outcome
            assert TEXTS[code].title in outcome

    @pytest.mark.parametrize("state", State)
    def test_lists_a_schedule_in_every_state(self, thread: str, state: State):
        chats = Chats()
        now_ms = fired(chats, state)
        call = Invocation(actor_of(thread), (), "c", now_ms)
        listed = run(chats.house.commands.get("schedule list").run(chats.house, call, {}))  # type: ignore[union-attr]
        (line,) = [line for line in listed.text.splitlines() if line.startswith("nightly")]
        assert f" → {state}" in line
        assert line in posted(chats, thread, listed.text)


def actor_of(thread: str):
    from bot.authz.actor import Actor, Surface

    surface = thread.partition(":")[0]
    return Actor(Surface(surface), "U042" if surface == "slack" else "500")


def fired(chats: Chats, state: State) -> int:
    """Store a row whose last firing stands so; the time at which it does."""
    due = ms("2026-09-01T03:00:00+00:00")
    claimed = {"last_due_at": due, "last_fired_at": due, "last_claimed_at": due}
    row = entry("nightly", **claimed, last_skipped=state is State.SKIPPED_STALE)
    chats.house.config.put({"schedules.nightly": row})
    if state in LIVE_STATES | FINAL_STATES - {State.SKIPPED_STALE}:
        key = run_id_of(row["id"], due)
        firing = Firing(key, "nightly", row["id"], due, due, "tick", None, state, run_id=key)
        run(chats.house.history.record([firing]))
    return due + (5_000 if state is State.STARTING else 600_000)


def test_the_states_are_live_final_or_a_claims_own() -> None:
    claims = {State.STARTING, State.CLAIMED_NOT_STARTED}
    assert LIVE_STATES | FINAL_STATES | claims == set(State)
    assert not LIVE_STATES & FINAL_STATES
