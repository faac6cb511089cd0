"""A month of a small team's schedules, up to the morning after a bad night. All made up."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.ports import Firing, TickRecord
from bot.schedules.cron import Cron, next_fires, parse
from bot.schedules.firing import run_id_of
from bot.times import parse_iso
from tests.runtime.server import Server
from tests.support.past import write_past

MORNING = "2026-11-30T08:12:00+00:00"
"""When the browser looks at it: a Monday, twelve past nine in Berlin."""
SILENCE = ("2026-11-29T23:40:00+00:00", "2026-11-30T03:21:00+00:00")
"""When the bot did not tick."""

PAUSED = ("load-test", "until the freeze is over")

_AUDIT = "agent:run:research on acme/api"
SCHEDULES: tuple[Mapping[str, Any], ...] = (
    {
        "name": "nightly-audit",
        "cron": "0 3 * * *",
        "zone": "Europe/Berlin",
        "channel": "web:ops",
        "text": "advisories in acme/api",
        "grants": [_AUDIT],
    },
    {
        "name": "certificate-watch",
        "cron": "15 2 * * *",
        "zone": "Europe/Berlin",
        "channel": "web:ops",
        "text": "Which of our certificates end within 30 days?",
        "grants": [_AUDIT],
    },
    {
        "name": "queue-depth",
        "cron": "*/30 * * * *",
        "channel": "web:ops",
        "thread": "standing",
        "text": "run list",
        "grants": ["run:read"],
    },
    {
        "name": "morning-brief",
        "cron": "0 8 * * MON-FRI",
        "zone": "Europe/Berlin",
        "channel": "web:general",
        "text": "schedule list",
        "grants": ["schedule:read"],
    },
    {
        "name": "freeze-guard",
        "cron": "0 6,18 * * *",
        "channel": "web:ops",
        "text": "schedule pause release-notes because the freeze begins",
        "grants": ["schedule:read"],
    },
    {
        "name": "release-notes",
        "cron": "0 16 * * FRI",
        "zone": "Europe/Berlin",
        "channel": "web:general",
        "text": "Draft the notes of this week's releases.",
        "grants": [_AUDIT],
    },
    {
        "name": "backlog-digest",
        "cron": "30 7 * * MON,THU",
        "zone": "America/New_York",
        "channel": "web:general",
        "text": "Summarise the issues nobody has touched for a month.",
        "window": "2h",
    },
    {
        "name": "load-test",
        "cron": "0 22 * * SUN",
        "channel": "web:ops",
        "text": "run list",
        "grants": ["run:read"],
    },
)

_DAYS = 30


def _ms(iso: str) -> int:
    at = parse_iso(iso)
    assert at is not None
    return at


def created_at() -> str:
    """When the schedules were added: before everything that is shown."""
    return (datetime.fromisoformat(MORNING) - timedelta(days=_DAYS + 6)).isoformat()


def firings_of(row: Mapping[str, Any], chance: random.Random) -> Iterator[Firing]:
    """What a stored row did in the month: each due minute once, folded over the silence."""
    cron = parse(row["cron"])
    assert isinstance(cron, Cron)
    begin, end = _ms(MORNING) - _DAYS * 86_400_000, _ms(MORNING)
    down, up = (_ms(each) for each in SILENCE)
    due = [at for at in next_fires(cron, ZoneInfo(row["zone"]), begin, 1600) if at <= end]
    missed = [at for at in due if down <= at < up]
    for at in due:
        if at in missed and at != missed[-1]:
            continue
        claimed = up + 400 if at in missed else at + 300
        state, code = _ending(row["name"], at, at in missed, chance)
        run_id = run_id_of(row["id"], at)
        started = state not in ("claimed_not_started", "skipped_stale")
        yield Firing(
            key=run_id,
            name=row["name"],
            row_id=row["id"],
            due_at=at,
            claimed_at=claimed,
            trigger="tick",
            by=None,
            state=state,
            code=code,
            run_id=run_id if started else None,
            delivery="delivered" if started else None,
            coalesced=len(missed) - 1 if at in missed else 0,
        )


def _ending(name: str, at: int, late: bool, chance: random.Random) -> tuple[str, str | None]:
    if name == "certificate-watch" and late:
        return "claimed_not_started", None
    if name == "freeze-guard" and at > _ms(MORNING) - 3 * 86_400_000:
        return "refused", "schedule_write"
    if name == "backlog-digest" and datetime.fromtimestamp(at / 1000, UTC).day == 19:
        return "skipped_stale", None
    if chance.random() < (0.006 if name == "queue-depth" else 0.05):
        return "failed", chance.choice(["model_unavailable", "github_unavailable", "no_output"])
    return "ok", None


def ticks(chance: random.Random) -> Iterator[TickRecord]:
    """A tick each minute of the month, but for the silence."""
    down, up = (_ms(each) for each in SILENCE)
    at = _ms(MORNING) - _DAYS * 86_400_000
    while at <= _ms(MORNING):
        if not down <= at < up:
            yield TickRecord(at + 250, int(chance.lognormvariate(3.6, 0.7)))
        at += 60_000


def start(chance: random.Random, **options: Any) -> Server:
    """A bot that has the month behind it, at ``MORNING``; its first minute is ticked."""
    server = Server.start(demo=True, clock=created_at(), **options)
    try:
        rows = [_call(server, "POST", "/admin/schedules", dict(row)) for row in SCHEDULES]
        _call(server, "GET", "/admin/ticks")
        server.stop()
        firings = [firing for row in rows for firing in firings_of(row, chance)]
        write_past(server.state, firings, ticks(chance))
        server.restart()
        _write_claims(server, firings)
        server.set_clock(MORNING)
        name, reason = PAUSED
        _call(server, "POST", f"/admin/schedules/{name}/pause", {"reason": reason})
        _call(server, "POST", "/admin/schedules/tick")
    except BaseException:
        server.close()
        raise
    return server


def _write_claims(server: Server, firings: list[Firing]) -> None:
    """What the rows themselves keep of their last claims."""
    document = _call(server, "GET", "/admin/config/org")
    changes: dict[str, Any] = {}
    for firing in sorted(firings, key=lambda each: each.claimed_at):
        key = f"schedules.{firing.name}"
        claim = {
            "lastFiredAt": firing.claimed_at,
            "lastClaimedAt": firing.claimed_at,
            "lastDueAt": firing.due_at,
            "coalesced": firing.coalesced,
            "lastSkipped": True if firing.state == "skipped_stale" else None,
            "lastRunId": firing.run_id,
        }
        known = {name: value for name, value in claim.items() if value is not None}
        changes[key] = {**document["entries"][key], **known}
    swap = {"expectedVersion": document["version"], "changes": changes}
    _call(server, "PUT", "/admin/config/org", swap)


def _call(server: Server, method: str, path: str, body: Any = None) -> Any:
    answer = server.request(method, path, json=body, token=server.admin_token)
    assert answer.status in (200, 201), (path, answer.text)
    return answer.json()
