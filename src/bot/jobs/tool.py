"""The agent's ``schedule`` tool: a person's jobs, in one sentence (contract §7).

What it answers is the store's own receipt, so that the agent tells the person what is stored.
"""

from __future__ import annotations

from typing import Any

from bot.agent.tools import Tool, ToolCall, ToolResult
from bot.authz.actor import Actor, parse_actor
from bot.authz.grants import Grant
from bot.jobs import service
from bot.jobs.service import Draft
from bot.words import Code, Refused, Source

NAME = "schedule"
NEED = Grant("job:write")
ACTIONS = ("create", "list", "delete")

DESCRIPTION = (
    "The person's own jobs: reminders and routines that run later, unattended, as a turn of "
    "theirs. create takes name, prompt (what to do each run, complete in itself) and either "
    "schedule or run_in_minutes; list takes nothing; delete takes id. Repeat the answer's times "
    "and id to the person as they stand."
)
PROPERTIES: dict[str, dict[str, Any]] = {
    "action": {"type": "string", "enum": list(ACTIONS)},
    "name": {"type": "string", "description": "The job's name, a few words."},
    "prompt": {"type": "string", "description": "What the job does each run."},
    "schedule": {
        "type": "string",
        "description": "Recurring: */30m or */2h (every N minutes or hours), or daily@09:00 "
        "(UTC, two digits each).",
    },
    "run_in_minutes": {
        "type": "integer",
        "minimum": 1,
        "description": "Once, that many minutes from now.",
    },
    "id": {"type": "string", "description": "The id of the job to delete."},
}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": PROPERTIES,
    "required": ["action"],
    "additionalProperties": False,
}


async def _call(call: ToolCall) -> ToolResult:
    owner = parse_actor(call.run.actor)
    assert isinstance(owner, Actor), "the ledger holds actors that admission made"
    answer = await _do(call, owner)
    if isinstance(answer, Refused):
        return ToolResult(f"{answer.code}: {answer.detail}", ok=False)
    return ToolResult(answer, receipt=call.args.get("action") != "list")


async def _do(call: ToolCall, owner: Actor) -> str | Refused:
    unknown = sorted(set(call.args) - set(PROPERTIES))
    if unknown:
        return Refused(Code.BAD_VALUE, f"There is no argument {unknown[0][:40]!r}.")
    action = call.args.get("action")
    if action == "list":
        jobs = await service.list_jobs(call.house, owner, call.now_ms)
        return jobs if isinstance(jobs, Refused) else service.listing(jobs)
    if action not in ACTIONS:
        return Refused(Code.BAD_VALUE, f"action is one of {', '.join(ACTIONS)}.")
    if call.run.source == Source.JOB:
        # Or a job could make jobs while nobody looks.
        return Refused(Code.FORBIDDEN, f"A job's own turn may list jobs, and not {action} them.")
    if action == "delete":
        job_id = call.args.get("id")
        if not isinstance(job_id, str):
            return Refused(Code.BAD_VALUE, "delete takes the job's id. See action list.")
        return await service.delete(call.house, owner, job_id) or service.deleted(job_id)
    draft = Draft(*(call.args.get(key) for key in ("name", "prompt", "schedule", "run_in_minutes")))
    job = await service.create(
        call.house,
        owner,
        draft,
        job_id=service.job_id_of(call.key),
        now_ms=call.now_ms,
        thread=call.run.thread,
        by_agent=True,
    )
    return job if isinstance(job, Refused) else service.receipt(job, call.now_ms)


SCHEDULE = Tool(NAME, DESCRIPTION, PARAMETERS, _call, lambda args: NEED)
TOOLS = (SCHEDULE,)
