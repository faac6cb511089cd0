"""What is shown of schedules: the same words for chat, HTTP and the panel (contract §3, §6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any, cast
from zoneinfo import ZoneInfo

from bot import org
from bot.objects import dump
from bot.ports import Firing, House, TickRecord
from bot.runs import ledger
from bot.runs.ledger import Run
from bot.schedules.catalog import CATALOG, KEEP_ALIVE, CatalogSchedule, row_id_of
from bot.schedules.cron import Cron, check, next_fires, parse, parse_zone
from bot.schedules.describe import describe
from bot.schedules.due import MINUTE_MS
from bot.schedules.edit import absent, default_zone
from bot.schedules.firing import claim_firing, claim_key, firing_of_run, last_firing
from bot.schedules.row import MAX_WHY, BrokenRow, Row, row_named, rows_of
from bot.times import iso, iso_or_none
from bot.words import Code, Refused, State, Trigger

NEXT = 3
NO_RUNS: Mapping[str, Run] = {}
STRIPS: Mapping[str, tuple[int, int]] = {"24h": (10 * 60_000, 144), "30d": (4 * 3_600_000, 180)}
"""The spans of time that are shown as a strip: a bucket's milliseconds, and how many there are."""
TICK_BOUND_MS = 5_000
UNSTARTED_BOUND = 1
"""More than this many claims with no run in thirty days, or a p95 over five seconds, is past
what the design allows for (the first seed, "What would change our mind")."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One schedule with everything that is shown of it, as JSON."""

    name: str
    view: Mapping[str, Any]


def firing_json(firing: Firing, zone: tzinfo, run: Run | None = None) -> dict[str, Any]:
    """A firing as the routes show it; with its run, also how long it ran and in which thread."""
    ran_ms = None
    if run is not None and run.started_at is not None and run.finished_at is not None:
        ran_ms = run.finished_at - run.started_at
    return {
        "due_at": iso_or_none(firing.due_at, zone),
        "claimed_at": iso(firing.claimed_at, zone, timespec="milliseconds"),
        "trigger": firing.trigger,
        "by": firing.by,
        "state": firing.state,
        "code": firing.code,
        "run_id": firing.run_id,
        "delivery": firing.delivery,
        "coalesced": firing.coalesced,
        "ran_ms": ran_ms,
        "thread": run.thread if run is not None else None,
    }


def row_json(
    row: Row, last: Firing | None, now_ms: int, runs: Mapping[str, Run] = NO_RUNS
) -> dict[str, Any]:
    """A stored schedule as the routes show it; ``runs`` holds its last firing's, by id."""
    stored = row.stored
    fires = next_fires(row.cron, row.zone, now_ms, NEXT) if stored.enabled else []
    return {
        "kind": "stored",
        "name": stored.name,
        "cron": stored.cron,
        "zone": stored.zone,
        "describe": describe(row.cron, stored.zone),
        "channel": stored.channel,
        "thread": stored.thread,
        "enabled": stored.enabled,
        "paused_reason": stored.paused_reason,
        "grants": stored.grants,
        "next": [iso(at, row.zone) for at in fires],
        "last": firing_json(last, row.zone, runs.get(last.key)) if last else None,
        "id": stored.id,
        "text": stored.text,
        "window": stored.window,
        "thread_key": stored.thread_key,
        "created_by": stored.created_by,
        "created_at": iso(stored.created_at, row.zone),
    }


def _broken_json(row: BrokenRow) -> dict[str, Any]:
    entry = row.fields or {}
    grants = entry.get("grants")
    return {
        "kind": "stored",
        "name": row.name,
        "cron": _as_text(entry.get("cron")),
        "zone": _as_text(entry.get("zone")),
        "describe": None,
        "channel": _as_text(entry.get("channel")),
        "thread": _as_text(entry.get("thread")),
        "enabled": False,
        "paused_reason": _as_text(entry.get("pausedReason")) or f"cannot be read: {row.reason}",
        "grants": [_as_text(grant) or "null" for grant in _as_list(grants)],
        "next": [],
        "last": None,
    }


def _as_text(value: Any) -> str | None:
    """A field of a broken row in the type that it is shown in, whatever it holds."""
    if value is None:
        return None
    text = value if isinstance(value, str) else dump(value)
    return text if len(text) <= MAX_WHY else f"{text[: MAX_WHY - 1]}…"


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value] if value else []


def _catalog_json(
    schedule: CatalogSchedule, last: Mapping[str, Any] | None, now_ms: int
) -> dict[str, Any]:
    cron, zone = parse(schedule.cron), parse_zone("UTC")
    assert isinstance(cron, Cron) and isinstance(zone, ZoneInfo)
    return {
        "kind": "catalog",
        "name": schedule.name,
        "cron": schedule.cron,
        "zone": "UTC",
        "describe": describe(cron, "UTC"),
        "channel": None,
        "thread": "new",
        "enabled": True,
        "paused_reason": None,
        "grants": [str(grant) for grant in schedule.grants],
        "next": [iso(at, zone) for at in next_fires(cron, zone, now_ms, NEXT)],
        "last": last,
        "text": schedule.text,
    }


async def listing(house: House, now_ms: int, name: str | None = None) -> list[Listed]:
    """Both kinds of schedule with their last firing, catalog first; one of them by name.

    One read each of the document, the history and the ledger.
    """
    document = await house.config.read(org.TIER)
    rows = [row for row in rows_of(document.entries) if name in (None, row.name)]
    shipped = [schedule for schedule in CATALOG if name in (None, schedule.name)]
    claims = _claims(rows)
    recorded = await house.history.latest({row_id_of(each): None for each in shipped} | claims)
    runs = await _runs_of(house, recorded.values(), claims)
    shown: list[Listed] = []
    for schedule in shipped:
        firing = recorded.get(row_id_of(schedule))
        last = _as_it_stands(firing, UTC, runs) if firing is not None else None
        if schedule is KEEP_ALIVE:
            last = next(iter(await _ticks(house, 1, None)), None)
        shown.append(Listed(schedule.name, _catalog_json(schedule, last, now_ms)))
    for row in rows:
        if isinstance(row, BrokenRow):
            shown.append(Listed(row.name, _broken_json(row)))
            continue
        last = last_firing(row.stored, recorded.get(row.stored.id), runs, now_ms)
        shown.append(Listed(row.name, row_json(row, last, now_ms, runs)))
    return shown


def _claims(rows: Iterable[Row | BrokenRow | None]) -> dict[str, str | None]:
    """The minute that each row claimed last, by row id: what ``HistoryStore.latest`` asks for."""
    return {row.stored.id: claim_key(row.stored) for row in rows if isinstance(row, Row)}


async def _runs_of(
    house: House, firings: Iterable[Firing], claims: Mapping[str, str | None]
) -> dict[str, Run]:
    """The runs of firings and of claims, by id."""
    ids = {firing.key for firing in firings} | set(filter(None, claims.values()))
    return await ledger.get_many(house.db, sorted(ids))


async def _ticks(house: House, limit: int, before_ms: int | None) -> list[dict[str, Any]]:
    """The ticks, newest first, as the firings of ``keep-alive``: it is the tick."""
    return [_tick_json(tick) for tick in await house.history.ticks(limit, before_ms)]


def _tick_json(tick: TickRecord) -> dict[str, Any]:
    firing = Firing(
        key=f"tick-{tick.at}",
        name=KEEP_ALIVE.name,
        row_id=row_id_of(KEEP_ALIVE),
        due_at=tick.at - tick.at % MINUTE_MS,
        claimed_at=tick.at,
        trigger=Trigger.TICK,
        by=None,
        state=State.OK,
    )
    return {**firing_json(firing, UTC), "ran_ms": tick.ms}


async def firings(
    house: House, name: str, limit: int, before_ms: int | None
) -> list[dict[str, Any]] | Refused:
    """A schedule's firings, newest first; a claim that the history does not hold yet included.

    While there is a row of that name they are the row's own; of a removed one, the name's.
    Those of ``keep-alive`` are the ticks. ``no_schedule`` where the name was never anything.
    """
    if name == KEEP_ALIVE.name:
        return await _ticks(house, limit, before_ms)
    document = await house.config.read(org.TIER)
    row = row_named(document.entries, name)
    row_id = row.stored.id if isinstance(row, Row) else None
    recorded = list(await house.history.history(name, limit, before_ms, row_id))
    if row is None and not recorded and before_ms is None:
        refusal = absent(document.entries, name)
        if refusal is not None and refusal.code is Code.NO_SCHEDULE:
            return refusal
    claims = _claims([row])
    runs = await _runs_of(house, recorded, claims)
    if isinstance(row, Row):
        claim = await _claim_ahead(house, row, recorded, runs)
        if claim is not None and (before_ms is None or claim.claimed_at < before_ms):
            recorded = [claim, *recorded][:limit]
    zone = row.zone if isinstance(row, Row) else UTC
    return [_as_it_stands(each, zone, runs) for each in recorded]


async def _claim_ahead(
    house: House, row: Row, recorded: Iterable[Firing], runs: Mapping[str, Run]
) -> Firing | None:
    """The row's last claim where the history does not hold it yet: newer than all it holds."""
    claim = claim_firing(row.stored, runs, house.clock.now_ms())
    if claim is None or claim.key in {firing.key for firing in recorded}:
        return None
    return None if await house.history.latest(_claims([row])) else claim


def _as_it_stands(firing: Firing, zone: tzinfo, runs: Mapping[str, Run]) -> dict[str, Any]:
    run = runs.get(firing.key)
    return firing_json(firing if run is None else firing_of_run(run), zone, run)


async def strips(house: House, span: str, now_ms: int) -> dict[str, Any]:
    """What happened in one of the ``STRIPS``, counted by bucket of time, for every schedule.

    ``from`` is where the first bucket begins; buckets begin at whole multiples of their length,
    so that the answer stays the same while nothing happens. See ``HistoryStore.strips``.
    """
    bucket_ms, count = STRIPS[span]
    since_ms = now_ms - now_ms % bucket_ms - (count - 1) * bucket_ms
    found = await house.history.strips(since_ms, bucket_ms)
    return {"from": iso(since_ms), "bucket_s": bucket_ms // 1000, "buckets": count, **found}


async def ticks(house: House, now_ms: int) -> dict[str, Any]:
    """Tick statistics and whether either passes its bound (contract §6, ``/admin/ticks``)."""
    summary: Mapping[str, Any] = await house.history.tick_summary(now_ms)
    document = await house.config.read(org.TIER)
    unstarted_now = await _unrecorded(house, rows_of(document.entries), now_ms)
    unstarted: int = summary["claims_without_run"]["d30"] + unstarted_now
    spans = (summary["h24"], summary["d30"])
    p95 = max((span["p95"] for span in spans if span["p95"] is not None), default=0)
    last = summary.get("last")
    return {
        "last": {"at": iso(last["at"]), "ms": last["ms"]} if last else None,
        "h24": summary["h24"],
        "d30": summary["d30"],
        "claims_without_run": {"d30": unstarted},
        "bounds": {
            "p95_ms": TICK_BOUND_MS,
            "p95_passed": p95 > TICK_BOUND_MS,
            "claims_without_run": UNSTARTED_BOUND,
            "claims_without_run_passed": unstarted > UNSTARTED_BOUND,
        },
    }


async def _unrecorded(house: House, rows: list[Row | BrokenRow], now_ms: int) -> int:
    """Claims that show as not started and that the history does not count yet."""
    runs = await _runs_of(house, (), _claims(rows))
    claims = [claim_firing(row.stored, runs, now_ms) for row in rows if isinstance(row, Row)]
    waiting = {
        claim.row_id: claim.key
        for claim in claims
        if claim is not None and claim.state is State.CLAIMED_NOT_STARTED
    }
    if not waiting:
        return 0
    return len(waiting) - len(await house.history.latest(waiting))


@dataclass(frozen=True, slots=True)
class Preview:
    """An expression in one sentence, and its next fires (epoch milliseconds)."""

    describe: str
    next: list[int]
    zone: ZoneInfo

    def to_json(self) -> dict[str, Any]:
        """The route's answer."""
        return {"describe": self.describe, "next": [iso(at, self.zone) for at in self.next]}


async def preview(
    house: House, cron_text: str, zone_text: str | None, from_ms: int, n: int
) -> Preview | Refused:
    """What an expression means: its sentence and ``n`` fires strictly after ``from_ms``."""
    zone_name = zone_text
    if zone_name is None:
        zone_name = default_zone((await house.config.read(org.TIER)).entries)
    cron, zone = parse(cron_text), parse_zone(zone_name)
    if isinstance(cron, Refused):
        return cron
    if isinstance(zone, Refused):
        return zone
    never = check(cron, zone, from_ms)
    if never is not None:
        return never
    return Preview(describe(cron, zone_name), next_fires(cron, zone, from_ms, n), zone)
