"""A Worker for tests: `POST /do` runs one of the functions below with the body as its arguments.

`/object/BINDING/NAME/...` goes to an object's own HTTP door.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

from bot.cloudflare.background import WaitUntil
from bot.cloudflare.clock import SystemClock
from bot.cloudflare.d1 import D1
from bot.cloudflare.http import Fetch
from bot.cloudflare.ids import SecretIds
from bot.cloudflare.streams import read_at_most
from bot.cloudflare.workflows import Workflows
from bot.ports import Fault, Firing, Statement, TickRecord
from config_do.client import ConfigClient
from config_do.object import ConfigDO
from schedule_do.client import ScheduleClient
from schedule_do.object import ScheduleDO

__all__ = ["ConfigDO", "Default", "ScheduleDO", "WaitingFlow"]


class WaitingFlow(WorkflowEntrypoint):
    """Takes one note, then waits for an event that never comes."""

    async def run(self, event: Any, step: Any) -> None:
        run_id = event["payload"]["run_id"]

        @step.do("note")
        async def note() -> None:
            sql = "INSERT INTO notes (id, n) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1"
            await D1(self.env.DB).run(sql, run_id)

        await note()
        await step.wait_for_event("never", "never", timeout="1 hour")


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        door, _, path = url.path.strip("/").partition("/")
        if door == "do":
            name, args = await request.json()
            try:
                return Response.json({"value": await getattr(self, f"do_{name}")(*args)})
            except Fault as fault:
                return Response.json({"fault": str(fault)})
        if door == "size":
            raw = await read_at_most(request.js_object.body, 1000, 4_000_000)
            return Response.json({"value": len(raw)})
        binding, _, path = path.partition("/")
        name, _, path = path.partition("/")
        stub = getattr(self.env, binding).getByName(name)
        return await stub.fetch(
            f"http://object/{path}?{url.query}",
            method=str(request.method),
            headers=dict(request.headers),
            **({} if str(request.method) == "GET" else {"body": await request.text()}),
        )

    async def do_handle(self, binding: str, *call: Any) -> str:
        return await getattr(self.env, binding).getByName("rpc").handle(*call)

    async def do_read(self, tier: str) -> Any:
        document = await ConfigClient(self.env.CONFIG).read(tier)
        return {"version": document.version, "entries": dict(document.entries)}

    async def do_swap(self, tier: str, expected: int, changes: dict[str, Any]) -> Any:
        return asdict(await ConfigClient(self.env.CONFIG).swap(tier, expected, changes))

    async def do_increment(self, tier: str, key: str) -> int:
        """Add one to an entry, however often it takes; how many swaps were lost."""
        config, lost = ConfigClient(self.env.CONFIG), 0
        while True:
            document = await config.read(tier)
            value = document.entries.get(key, 0) + 1
            if (await config.swap(tier, document.version, {key: value})).won:
                return lost
            lost += 1

    async def do_record(self, firings: list[dict[str, Any]]) -> None:
        await ScheduleClient(self.env.SCHEDULES).record([Firing(**firing) for firing in firings])

    async def do_history(self, name: str) -> list[Any]:
        return [asdict(f) for f in await ScheduleClient(self.env.SCHEDULES).history(name, 200)]

    async def do_latest(self, claims: dict[str, str | None]) -> Any:
        latest = await ScheduleClient(self.env.SCHEDULES).latest(claims)
        return {row_id: asdict(firing) for row_id, firing in latest.items()}

    async def do_record_tick(self, tick: dict[str, int]) -> None:
        await ScheduleClient(self.env.SCHEDULES).record_tick(TickRecord(**tick))

    async def do_summary(self, now_ms: int) -> Any:
        return await ScheduleClient(self.env.SCHEDULES).tick_summary(now_ms)

    async def do_sql(self, *statements: list[Any]) -> Any:
        """One statement alone, several as a batch."""
        db = D1(self.env.DB)
        if len(statements) == 1:
            answers = [await db.run(*statements[0])]
        else:
            answers = await db.batch([Statement(sql, tuple(p)) for sql, *p in statements])
        return [[list(answer.rows), answer.changes] for answer in answers]

    async def do_bind_word(self) -> Any:
        from bot.words import State

        rows = await D1(self.env.DB).run("SELECT ? AS word, ? AS none", State.RUNNING, None)
        return list(rows.rows)

    async def do_send(self, method: str, url: str, options: dict[str, Any]) -> Any:
        return asdict(await Fetch().send(method, url, **options))

    async def do_defer(self, note: str, fails: bool) -> None:
        async def work() -> None:
            await D1(self.env.DB).run("INSERT INTO notes (id) VALUES (?)", note)
            if fails:
                raise ValueError("deferred work broke")

        WaitUntil(self.ctx).defer(work())

    async def do_draw(self) -> Any:
        ids = SecretIds()
        return [ids.new(), ids.new(), ids.secret(12), SystemClock().now_ms()]

    async def do_engine(self, method: str, *args: Any) -> Any:
        return await getattr(Workflows(self.env.RUNS), method)(*args)
