from typing import Any

from workers import DurableObject


class Counter(DurableObject):
    """Counts in SQLite, and says what it was asked."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS marks (name TEXT)")

    async def handle(self, method: str, path: str, body: str | None) -> dict[str, Any]:
        return {"method": method, "path": path, "body": body}

    async def mark(self, name: str) -> int:
        self.ctx.storage.sql.exec("INSERT INTO marks VALUES (?)", name)
        return self.ctx.storage.sql.exec("SELECT count(*) AS n FROM marks").one().n

    async def fetch(self, request: Any) -> Any:
        from workers import Response

        return Response.json({"object": True, "url": request.url})
