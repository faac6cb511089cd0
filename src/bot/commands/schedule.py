"""The ``schedule`` commands."""

from __future__ import annotations

from typing import Any

from bot.authz.actor import Surface
from bot.commands.grammar import (
    Syntax,
    body,
    clause,
    option,
    option_line,
    option_list,
    quoted,
    word,
)
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.ports import House
from bot.runs import ledger
from bot.schedules import edit, listing
from bot.schedules.edit import Draft
from bot.schedules.fire import fire
from bot.words import Code, Effect, Refused, Trigger


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    draft = Draft(
        name=args["name"],
        cron=args["cron"],
        text=args["text"],
        channel=args["channel"],
        thread=args["thread"],
        zone=args["zone"],
        window=args["window"],
        grants=args["grants"],
        enabled=args.get("enabled", True),
    )
    row = await edit.add(
        house,
        draft,
        author=call.actor.id,
        held=call.grants,
        row_id=_row_id(call.id),
        now_ms=call.now_ms,
    )
    if isinstance(row, Refused):
        return refused(row)
    view = listing.row_json(row, None, call.now_ms)
    holds = f"with {', '.join(view['grants'])}" if view["grants"] else "with no grants"
    thread = "its standing thread" if view["thread"] == "standing" else "a new thread each time"
    following = f"Next: {_fires(view['next'])}."
    if not row.stored.enabled:
        following = f"It is paused. Start it with schedule resume {row.name}."
    return ok(
        f"{row.name} runs {view['describe']} in {view['channel']}, in {thread}, {holds}: "
        f"{_short(row.stored.text)}\n{following}",
        view,
    )


def _row_id(call_id: str) -> str:
    """A row's id from the call that made it, in the alphabet that run ids are built of."""
    kept = "".join(letter for letter in call_id.lower() if letter.isascii() and letter.isalnum())
    return kept[-30:]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"


def _fires(fires: list[str]) -> str:
    return ", ".join(fires) if fires else "none"


async def _remove(house: House, call: Invocation, args: Args) -> Outcome:
    name = args["name"]
    # A command that was cut off is carried out again: it removes no row that came since.
    run = await ledger.get(house.db, call.id)
    asked_at = call.now_ms if run is None else run.admitted_at
    removed = await edit.remove(house, name, asked_at=asked_at)
    if isinstance(removed, Refused):
        return refused(removed)
    return ok(
        f"{name} is removed and fires no more. A run in flight ends undisturbed.",
        {"name": name, "removed": True},
    )


async def _fire(house: House, call: Invocation, args: Args) -> Outcome:
    if await _fired_by_a_schedule(house, call):
        return refused(
            Refused(
                Code.FORBIDDEN,
                "A schedule that a schedule fired fires no other: that could go on for ever.",
            )
        )
    fired = await fire(house, args["name"], by=call.actor.id, call_id=call.id, now_ms=call.now_ms)
    if isinstance(fired, Refused):
        return refused(fired)
    what = "re-fired for the minute it missed" if fired.trigger is Trigger.REFIRE else "fired once"
    return ok(
        f"{fired.name} is {what}: run {fired.run_id} is {fired.state}.",
        {"run_id": fired.run_id, "state": fired.state, "trigger": fired.trigger},
    )


async def _fired_by_a_schedule(house: House, call: Invocation) -> bool:
    """Whether the caller's own turn is a firing that a schedule pressed: one link, no chain."""
    if call.actor.surface is not Surface.SCHEDULE:
        return False
    run = await ledger.get(house.db, call.id)
    return run is not None and (run.by or "").startswith(f"{Surface.SCHEDULE}:")


async def _pause(house: House, call: Invocation, args: Args) -> Outcome:
    stored = await edit.pause(house, args["name"], args["reason"])
    if isinstance(stored, Refused):
        return refused(stored)
    because = f" because {stored.paused_reason}" if stored.paused_reason else ""
    return await _shown(
        house,
        call,
        stored.name,
        f"{stored.name} is paused{because}. Start it again with schedule resume {stored.name}.",
    )


async def _resume(house: House, call: Invocation, args: Args) -> Outcome:
    stored = await edit.resume(house, args["name"], call.now_ms)
    if isinstance(stored, Refused):
        return refused(stored)
    shown = await _shown(house, call, stored.name, "")
    fires = _fires(shown.data["next"])
    text = f"{stored.name} runs again; what fell due while it was paused is not caught up."
    return ok(f"{text}\nNext: {fires}.", shown.data)


async def _shown(house: House, call: Invocation, name: str, text: str) -> Outcome:
    listed = await listing.listing(house, call.now_ms, name)
    return ok(text, listed[0].view if listed else None)


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    listed = await listing.listing(house, call.now_ms)
    views = [one.view for one in listed]
    return ok("\n".join(_line(view) for view in views), {"schedules": views})


def _line(view: Any) -> str:
    paused = "" if view["enabled"] else f" · paused: {view['paused_reason'] or 'no reason given'}"
    following = f" · next {view['next'][0]}" if view["next"] else ""
    return f"{view['name']} · {view['describe']} · {_last(view['last'])}{following}{paused}"


def _last(last: Any) -> str:
    if last is None:
        return "not fired yet"
    code = f": {last['code']}" if last["code"] else ""
    folded = f", {last['coalesced']} folded" if last["coalesced"] else ""
    run = f" (run {last['run_id']})" if last["run_id"] else ""
    when = last["due_at"] or last["claimed_at"]
    return f"last {when} → {last['state']}{code}{run}{folded}"


async def _show(house: House, call: Invocation, args: Args) -> Outcome:
    listed = await listing.listing(house, call.now_ms, args["name"])
    if not listed:
        return refused(
            Refused(
                Code.NO_SCHEDULE,
                f"There is no schedule named {args['name'][:80]!r}. See schedule list.",
            )
        )
    view = listed[0].view
    lines = [
        _line(view),
        f"cron: {view['cron']} in {view['zone']}",
        f"channel: {view['channel']}, thread {view['thread']}",
        f"grants: {', '.join(view['grants']) or 'none'}",
    ]
    if view.get("window"):
        lines.append(f"window: {view['window']}")
    if view.get("created_by"):
        lines.append(f"added by {view['created_by']} at {view['created_at']}")
    if view["last"] and view["last"]["delivery"]:
        lines.append(f"delivery of the last firing: {view['last']['delivery']}")
    lines += [f"next: {_fires(view['next'])}", f"text: {view.get('text') or ''}"]
    return ok("\n".join(lines), view)


async def _preview(house: House, call: Invocation, args: Args) -> Outcome:
    found = await listing.preview(
        house, args["cron"], args["zone"], args.get("from_ms", call.now_ms), args.get("n", 3)
    )
    if isinstance(found, Refused):
        return refused(found)
    data = found.to_json()
    return ok(f"{data['describe']}\nNext: {_fires(data['next'])}.", data)


_NAME = Syntax(args=(word("name"),))
COMMANDS = (
    Command(
        "schedule add",
        "Store a schedule: what to do, when, where it answers, and with which grants.",
        Effect.WRITE,
        Syntax(
            args=(word("name"), quoted("cron")),
            clauses=(
                clause("in", "channel", "CHANNEL"),
                option("thread", shown="new|standing"),
                option("zone"),
                option("window", shown="2h"),
                option_list("grants", "G, G, ..."),
            ),
            body=body("text", may_be_empty=True),
        ),
        _add,
    ),
    Command("schedule remove", "Delete a schedule.", Effect.WRITE, _NAME, _remove),
    Command(
        "schedule fire",
        "Fire a schedule now: the minute it missed, or once by hand.",
        Effect.EXEC,
        _NAME,
        _fire,
    ),
    Command(
        "schedule pause",
        "Stop a schedule from falling due.",
        Effect.WRITE,
        Syntax(args=(word("name"),), clauses=(option_line("because", "reason"),)),
        _pause,
    ),
    Command("schedule resume", "Let a paused schedule run again.", Effect.WRITE, _NAME, _resume),
    Command("schedule list", "Every schedule and its last firing.", Effect.READ, Syntax(), _list),
    Command("schedule show", "One schedule in full.", Effect.READ, _NAME, _show),
    Command(
        "schedule preview",
        "What a cron expression means and when it fires next.",
        Effect.READ,
        Syntax(args=(quoted("cron"),), clauses=(option("zone"),)),
        _preview,
    ),
)
