"""The ``job`` commands: the caller's own reminders and routines."""

from __future__ import annotations

import re

from bot.commands.grammar import Syntax, body, word, words
from bot.commands.registry import Args, Command, Invocation, Outcome, ok, refused
from bot.jobs import service
from bot.jobs.service import Draft
from bot.ports import House
from bot.words import Effect, Refused

WHEN = ("every 30m", "every 2h", "daily at 09:00", "in 45 minutes")
_NUMBER = re.compile(r"-?[0-9]{1,15}", re.ASCII)


def draft_of(name: str, when: str, prompt: str) -> Draft:
    """A job to be, from the phrase that the grammar read: ``every 30m``, ``in 45 minutes``.

    What stands in the phrase's place for a number or a time is judged by the service, in the
    same words as on every surface.
    """
    first, *rest = when.split()
    if first == "every":
        return Draft(name, prompt, schedule=f"*/{rest[0]}")
    if first == "daily":
        return Draft(name, prompt, schedule=f"daily@{rest[-1]}")
    minutes = rest[0]
    return Draft(
        name, prompt, run_in_minutes=int(minutes) if _NUMBER.fullmatch(minutes) else minutes
    )


async def _add(house: House, call: Invocation, args: Args) -> Outcome:
    job = await service.create(
        house,
        call.actor,
        draft_of(args["name"], args["when"], args["prompt"]),
        job_id=service.job_id_of(call.id),
        now_ms=call.now_ms,
        thread=call.thread,
    )
    if isinstance(job, Refused):
        return refused(job)
    return ok(service.receipt(job, call.now_ms), service.view_of(job, call.now_ms))


async def _list(house: House, call: Invocation, args: Args) -> Outcome:
    jobs = await service.list_jobs(house, call.actor, call.now_ms)
    if isinstance(jobs, Refused):
        return refused(jobs)
    return ok(service.listing(jobs), {"jobs": [each.view for each in jobs]})


async def _delete(house: House, call: Invocation, args: Args) -> Outcome:
    refusal = await service.delete(house, call.actor, args["id"])
    if refusal is not None:
        return refused(refusal)
    return ok(service.deleted(args["id"]), {"id": args["id"], "removed": True})


COMMANDS = (
    Command(
        "job add",
        "Have a prompt run for you later: again and again, or once.",
        Effect.WRITE,
        Syntax(
            args=(word("name"), words("when", forms=WHEN)), body=body("prompt", may_be_empty=True)
        ),
        _add,
    ),
    Command("job list", "Your jobs.", Effect.READ, Syntax(), _list),
    Command(
        "job delete", "Delete one of your jobs.", Effect.WRITE, Syntax(args=(word("id"),)), _delete
    ),
)
