"""What a turn's text asks for, and a command carried out under the write rule (contract §4)."""

from __future__ import annotations

from dataclasses import replace

from bot.agent.ask import PERSONAL, AgentAsk
from bot.agent.bounded import bounded
from bot.agent.limits import JOB_DEADLINE_S, job_deadline_ms, late
from bot.authz.actor import Actor, parse_actor
from bot.channels.base import headline
from bot.commands.grammar import Malformed, Parsed, render
from bot.commands.registry import Command, Invocation, Outcome
from bot.dispatch.handback import make_handback, render_handback
from bot.dispatch.rule import Ruling, kind_of, rule
from bot.dispatch.todo import AskRouter, End, Gone, RunAgent, RunCommand, Todo
from bot.ports import House
from bot.runs import ledger
from bot.runs.ending import Ending, refused
from bot.runs.ledger import Run
from bot.words import Code, OutcomeKind, Route, Source, State

_STATES = {
    OutcomeKind.OK: State.OK,
    OutcomeKind.REFUSED: State.REFUSED,
    OutcomeKind.FAILED: State.FAILED,
}
_NOTES = {"agent:ship": "\nThe plan is a file of that repository that a person writes first."}


def actor_of(run: Run) -> Actor:
    """The run's actor, whom admission made."""
    actor = parse_actor(run.actor)
    assert isinstance(actor, Actor), "the ledger holds actors that admission made"
    return actor


def first_todo(house: House, run: Run) -> Todo:
    """What the text asks for, as far as it says so by itself: chat form first, never a guess.

    A job's prose needs no router: it is its owner's own agent turn (contract §7). So is whatever
    an agent wrote as a job's prompt, and that is not read as a command either.
    """
    own_turn = RunAgent(AgentAsk(PERSONAL, None, run.text), Route.AGENT)
    if run.by_agent:
        return own_turn
    parsed = house.commands.parse(run.text)
    if isinstance(parsed, Malformed):
        refusal = parsed.refusal
        return End(Ending(State.REFUSED, refusal.detail, refusal.code, Route.EXPLICIT))
    if isinstance(parsed, Parsed):
        return RunCommand(parsed.name, parsed.args, Route.EXPLICIT)
    if Source(run.source) is Source.JOB:
        return own_turn
    return AskRouter(run.text, actor_of(run).is_person)


async def act(house: House, run_id: str, todo: RunCommand) -> Todo:
    """Run a command, or hand it back, or refuse it: the work of the step ``act``.

    The effect is read here, from the command itself, whatever route led to it.
    """
    now_ms = house.clock.now_ms()
    run = await ledger.begin(house.db, run_id, now_ms)
    if run is None:
        return Gone()
    command = house.commands.get(todo.name)
    assert command is not None, "the parser and the router know the registry's commands alone"
    actor, route = actor_of(run), Route(todo.route)
    effect = command.effect_by(route)
    written = run.text if route is Route.EXPLICIT else _written(command, todo)
    ruling = rule(kind_of(actor, Source(run.source)), route, effect)
    if ruling is Ruling.REFUSE:
        return End(refused_write(written, route, effect))
    if ruling is Ruling.HAND_BACK:
        code = await make_handback(house, actor, written, now_ms)
        text = render_handback(written, code) + _NOTES.get(command.name, "")
        return End(Ending(State.REFUSED, text, Code.HANDED_BACK, route, effect))
    call = Invocation(actor, run.grants, run.id, now_ms, run.thread)
    if Source(run.source) is Source.JOB:
        house = bounded(house, job_deadline_ms(run))
    outcome = await house.commands.invoke(house, call, todo.name, todo.args)
    receipt = "" if route is Route.EXPLICIT else receipt_of(written)
    if _cut_off(house, run, outcome):
        return End(replace(late(JOB_DEADLINE_S), route=route, effect=effect))
    if outcome.then is not None:
        return RunAgent(outcome.then, route, receipt)
    return End(_ending_of(outcome, route, effect, receipt))


def refused_write(written: str, route: str, effect: str | None) -> Ending:
    """The end of a schedule's turn that would have written: the command, ready to be pasted."""
    text = render_handback(written, None)
    return Ending(State.REFUSED, text, Code.SCHEDULE_WRITE, route, effect)


def receipt_of(written: str) -> str:
    """The first line of what a routed turn answers: what was run."""
    return f"ran: {headline(written, 200)}"


def with_receipt(receipt: str, text: str) -> str:
    """An answer under its receipt, which stands alone on its line."""
    return f"{receipt}\n{text}" if receipt else text


def unclear(detail: str) -> Ending:
    """The end of a turn whose text could not be understood: nothing was done."""
    ending = refused(Code.NOT_UNDERSTOOD, detail)
    return Ending(ending.state, ending.text, ending.code, Route.ROUTED)


def _cut_off(house: House, run: Run, outcome: Outcome) -> bool:
    """Whether a job's command failed since its time was up."""
    is_job = Source(run.source) is Source.JOB
    over = house.clock.now_ms() >= job_deadline_ms(run)
    return is_job and over and outcome.kind is OutcomeKind.FAILED


def _written(command: Command, todo: RunCommand) -> str:
    return render(command.name, command.syntax, todo.args)


def _ending_of(outcome: Outcome, route: str, effect: str, receipt: str) -> Ending:
    state = _STATES[outcome.kind]
    if state is State.OK and not outcome.text.strip():
        return Ending(State.FAILED, "", Code.NO_OUTPUT, route, effect)
    ran = state is not State.REFUSED
    text = with_receipt(receipt, outcome.text) if ran else outcome.text
    return Ending(state, text, outcome.code, route, effect, outcome.secret)
