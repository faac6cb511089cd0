"""A running bot with people's jobs in it, in a test's words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.runtime.bot import Bot, ms
from tests.runtime.server import ROOT, Answer, Server
from tests.runtime.world import build_world

KEY = "the-internal-key"
PEOPLE = {"admin": "token-of-admin", "alice": "token-of-alice", "bob": "token-of-bob"}
VARS = {
    "INTERNAL_KEY": KEY,
    "INGRESS_TOKENS": json.dumps(PEOPLE),
    "ADMINS": "web:admin,http:admin,http:alice,http:bob",
}
ALICE = "web:alice"
FILL = """
WITH RECURSIVE n (i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
INSERT INTO jobs (id, user_id, name, prompt, schedule, created_at, next_at)
SELECT 'stored' || i, 'web:p' || (i / 10), 'job ' || i, 'whoami', ?3, ?4, ?5 FROM n
"""


def jobs_world(folder: Path) -> Path:
    """The bot's own configuration with an entrypoint that has the door `/do`."""
    made = build_world("jobs", folder)
    shutil.copy(ROOT / "wrangler.jsonc", made)
    shutil.copytree(ROOT / "migrations", made / "migrations")
    (made / "public").mkdir(exist_ok=True)
    return made


class Jobs(Bot):
    """The bot as its worker, its administrator and its people see it."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, PEOPLE["admin"])

    def of(self, subject: str) -> Bot:
        """The bot as that person sees it."""
        return Bot(self.server, PEOPLE[subject])

    def key(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """A request with the internal key."""
        headers = {"x-internal-key": KEY}
        return self.server.request(method, path, json=body, headers=headers, **options)

    def make(self, owner: str = ALICE, **fields: Any) -> dict[str, Any]:
        """Make a job; what is not said is `whoami` every 30 minutes."""
        answer = self.try_make(owner, **fields)
        assert answer.status == 201, answer.text
        return answer.json()

    def try_make(self, owner: str = ALICE, **fields: Any) -> Answer:
        usual = {"name": "stretch", "prompt": "whoami"}
        if "run_in_minutes" not in fields:
            usual["schedule"] = "*/30m"
        return self.key("POST", "/jobs", {"userId": owner, **usual, **fields})

    def jobs(self, owner: str = ALICE) -> list[dict[str, Any]]:
        answer = self.key("GET", f"/jobs?userId={owner}")
        assert answer.status == 200, answer.text
        return answer.json()["jobs"]

    def events(self, subject: str = "alice", after: int = 0) -> list[dict[str, Any]]:
        """The person's ring."""
        browser = self.of(subject)
        answer = self.server.get(f"/api/events?after={after}", headers=browser.session)
        assert answer.status == 200, answer.text
        return answer.json()["events"]

    def do(self, name: str, *args: Any) -> Any:
        answer = self.server.post("/do", [name, args], timeout=120)
        assert answer.status == 200, answer.text
        return answer.json()["value"]

    def sql(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        return self.do("sql", sql, *params)["rows"]

    def job_runs(self) -> list[dict[str, Any]]:
        return self.sql("SELECT * FROM job_runs ORDER BY claimed_at, run_id")

    def empty(self) -> None:
        """No job, no run of one, no event, no link."""
        self.quiet()
        for table in ("jobs", "job_runs", "events", "identity_links"):
            self.sql(f"DELETE FROM {table}")

    def link(self, subject: str, chat: str) -> None:
        """Link a person's Telegram chat."""
        self.sql(
            "INSERT INTO identity_links (owner, surface, subject, linked_at)"
            " VALUES (?, 'telegram', ?, 0)",
            f"web:{subject}",
            chat,
        )

    def fill(self, first: int, count: int, hours: int, *, made: str) -> None:
        """Store many people's jobs past the rules: each every `hours` hours since it was made."""
        created_at = ms(made)
        due = created_at + hours * 3_600_000
        self.sql(FILL, first, first + count, f"*/{hours}h", created_at, due)
