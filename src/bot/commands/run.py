"""The ``run`` commands: the ledger, read and cancelled."""

from __future__ import annotations

from typing import cast

from bot.commands.grammar import Syntax, word
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House, Json
from bot.runs import ledger, trace
from bot.runs.ledger import Run
from bot.runs.privacy import may_see, reader_of
from bot.runs.view import run_json
from bot.runs.watchdog import end
from bot.words import Code, Effect, Refused

LISTED = 20


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    reader = reader_of(call.actor, call.grants)
    runs = await ledger.recent(house.db, state=None, name=None, limit=LISTED, reader=reader)
    views = [run_json(run) for run in runs]
    text = "\n".join(_line(run) for run in runs) or "There are no runs yet."
    return ok(text, {"runs": views})


def _line(run: Run) -> str:
    code = f": {run.code}" if run.code else ""
    view = run_json(run)
    return f"{run.id} · {run.name or run.actor} · {run.state}{code} · {view['admitted_at']}"


async def _show(house: House, call: Invocation, args: Args) -> Outcome:
    run = await _seen(house, call, args["id"])
    if run is None:
        return refused(_no_run(args["id"]))
    view = run_json(run)
    shown = [f"{key}: {_shown(value)}" for key, value in view.items() if value not in (None, [])]
    steps = await trace.read(house.db, run.id)
    if steps:
        shown += ["steps:", *map(trace.line, steps)]
    return ok("\n".join(shown), {**view, "steps": steps})


def _shown(value: Json) -> str:
    """A value of a run's view in words."""
    if isinstance(value, dict):
        counts = cast(dict[str, Json], value)
        return ", ".join(f"{each} {key.replace('_', ' ')}" for key, each in counts.items())
    if isinstance(value, list):
        return ", ".join(map(str, cast(list[Json], value)))
    return str(value)


async def _cancel(house: House, call: Invocation, args: Args) -> Outcome:
    run = await _seen(house, call, args["id"])
    if run is None:
        return refused(_no_run(args["id"]))
    if run.id == call.id:
        return refused(Refused(Code.BAD_VALUE, "A run cannot cancel itself."))
    if not run.live or not await end(house, run, Code.CANCELLED, call.now_ms):
        return refused(Refused(Code.RUN_ENDED, f"The run {run.id} has ended already."))
    await house.engine.stop(run.id)
    return ok(f"The run {run.id} is cancelled.", {"run_id": run.id, "state": "failed"})


async def _seen(house: House, call: Invocation, run_id: str) -> Run | None:
    """The run of that id, if the caller may see it."""
    run = await ledger.get(house.db, run_id)
    return run if run is not None and may_see(run, reader_of(call.actor, call.grants)) else None


def _no_run(run_id: str) -> Refused:
    return Refused(Code.NO_RUN, f"There is no run {run_id[:64]!r}. See run list.")


_ID = Syntax(args=(word("id"),))
COMMANDS = (
    Command("run list", "The newest runs.", Effect.READ, Syntax(), _list),
    Command("run show", "One run in full.", Effect.READ, _ID, _show),
    Command("run cancel", "End a live run between its steps.", Effect.WRITE, _ID, _cancel),
)
