import asyncio
import os
import random
import secrets
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workers import Response, WorkerEntrypoint

from app import imported

seen: dict[str, Any] = {"scheduled": [], "waited": 0}


def source_is_writable() -> bool:
    try:
        Path("/session/metadata/new.txt").touch()
    except OSError:
        return False
    return True


class Default(WorkerEntrypoint):
    """One route for each thing that a test asks."""

    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        route = url.path.removeprefix("/api/").replace("-", "_")
        answer = getattr(self, f"get_{route}", None)
        if answer is None:
            return Response("not found", status=404)
        return Response.json(await answer(**dict(parse_qsl(url.query))))

    async def scheduled(self, *args: Any) -> None:
        controller, *rest = args
        if controller.cron == "0 6 * * MON":
            raise LookupError("nothing on Mondays")
        await asyncio.sleep(0)
        seen["scheduled"].append(
            {
                "arguments": len(args),
                "rest": rest,
                "cron": controller.cron,
                "time": controller.scheduledTime,
            }
        )

    async def get_import(self) -> Any:
        return {"randomness": imported.RANDOMNESS, "time": imported.TIME}

    async def get_randomness(self) -> Any:
        return {
            "uuid": str(uuid.uuid4()),
            "token": secrets.token_hex(),
            "random": random.random(),
            "bytes": os.urandom(8).hex(),
        }

    async def get_now(self) -> Any:
        return {"now": time.time()}

    async def get_files(self) -> Any:
        import annotated_types

        return {
            "path": sys.path,
            "worker": imported.__file__,
            "vendored": annotated_types.__file__,
            "writable": source_is_writable(),
            "pth": "_workers_sdk_patch_loader" in sys.modules,
        }

    async def get_zone(self) -> Any:
        from datetime import datetime
        from zoneinfo import ZoneInfo

        return datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")).isoformat()

    async def get_wait(self) -> Any:
        async def later() -> None:
            await asyncio.sleep(0.05)
            seen["waited"] += 1

        self.ctx.waitUntil(later())
        return {"waited": seen["waited"]}

    async def get_seen(self) -> Any:
        return seen

    async def get_fail(self) -> Any:
        raise RuntimeError("a secret of the inside")

    async def get_vars(self, names: str) -> Any:
        return {name: getattr(self.env, name, None) for name in names.split(",")}

    async def get_object(self, name: str) -> Any:
        stub = self.env.COUNTERS.getByName(name)
        response = await stub.fetch("http://object/inside")
        return {
            "handled": await stub.handle("PUT", "/documents/org", None),
            "marked": await stub.mark("x"),
            "fetched": await response.json(),
        }

    async def get_missing_method(self) -> Any:
        try:
            await self.env.COUNTERS.getByName("x").nothing_like_it()
        except Exception as error:
            return {"error": str(error)}

    async def get_note(self, text: str) -> Any:
        await self.env.DB.prepare("INSERT INTO notes (text) VALUES (?)").bind(text).run()
        return (await self.env.DB.prepare("SELECT text, author FROM notes").all()).results

    async def get_migrations(self) -> Any:
        rows = (
            await self.env.DB.prepare("SELECT name FROM d1_migrations ORDER BY id").all()
        ).results
        return [row["name"] for row in rows]

    async def get_flow_start(self, name: str, nap: str) -> Any:
        flow = await self.env.FLOWS.create({"id": name, "params": {"name": name, "nap": nap}})
        return await flow.status()

    async def get_flow(self, name: str, do: str = "status") -> Any:
        flow = await self.env.FLOWS.get(name)
        if do != "status":
            await getattr(flow, do)()
        return await flow.status()
