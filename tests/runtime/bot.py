"""The bot as its people use it: the routes of a running server, in a test's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from tests.runtime.server import Answer, Server
from tests.runtime.world import until

MINUTE_CRON, WATCHDOG_CRON = "* * * * *", "*/10 * * * *"
FINAL = {"ok", "failed", "refused", "skipped_stale"}
SETTLED_SECONDS = 90


def ms(iso: str) -> int:
    """ISO 8601 as epoch milliseconds."""
    return int(datetime.fromisoformat(iso).timestamp() * 1000)


def at(epoch_ms: int) -> str:
    """Epoch milliseconds as the bot writes a time in UTC."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="seconds")


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do all works at the same time; their answers in order."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


class Bot:
    """A server seen by the holder of a token, over HTTP and signed in to the web chat.

    `token` is the administrator's unless given.
    """

    def __init__(self, server: Server, token: str | None = None) -> None:
        self.server = server
        self._token = token

    @property
    def token(self) -> str:
        return self._token or self.server.admin_token

    # --- HTTP ------------------------------------------------------------------------

    def get(self, path: str, **query: Any) -> Answer:
        asked = f"?{urlencode(query)}" if query else ""
        return self.server.get(path + asked, token=self.token)

    def post(self, path: str, json: Any = None) -> Answer:
        return self.server.post(path, json, token=self.token)

    def command(self, text: str) -> dict[str, Any]:
        """What `POST /admin/command` says of a command that it ran, or refused."""
        answer = self.post("/admin/command", {"text": text})
        assert answer.status in (200, 403), answer.text
        return answer.json()

    # --- schedules -------------------------------------------------------------------

    def add(self, name: str, **row: Any) -> dict[str, Any]:
        """Add a schedule; what is not said is hourly, a `whoami` in #general, with no grants."""
        answer = self.try_add(name, **row)
        assert answer.status == 201, answer.text
        return answer.json()

    def try_add(self, name: str, **row: Any) -> Answer:
        usual = {"cron": "0 * * * *", "channel": "web:general", "text": "whoami"}
        return self.post("/admin/schedules", {"name": name, **usual, **row})

    def remove(self, name: str) -> Answer:
        return self.server.delete(f"/admin/schedules/{name}", token=self.token)

    def fire(self, name: str) -> Answer:
        return self.post(f"/admin/schedules/{name}/fire")

    def preview(self, **query: Any) -> Answer:
        return self.get("/admin/schedules/preview", **query)

    def schedules(self) -> dict[str, dict[str, Any]]:
        """What the panel shows, by name."""
        answer = self.get("/admin/schedules")
        assert answer.status == 200, answer.text
        return {one["name"]: one for one in answer.json()["schedules"]}

    def last(self, name: str) -> dict[str, Any] | None:
        """The last firing of a schedule, as the panel shows it."""
        answer = self.get(f"/admin/schedules/{name}")
        assert answer.status == 200, answer.text
        return answer.json()["last"]

    def firings(self, name: str, **query: Any) -> list[dict[str, Any]]:
        answer = self.get(f"/admin/schedules/{name}/firings", **query)
        assert answer.status == 200, answer.text
        return answer.json()["firings"]

    # --- time ------------------------------------------------------------------------

    def tick(self, now: str | None = None) -> dict[str, Any]:
        """One tick over HTTP, at the time given or at the clock's."""
        if now is not None:
            self.server.set_clock(now)
        answer = self.post("/admin/schedules/tick")
        assert answer.status == 200, answer.text
        return answer.json()

    def cron_tick(self) -> None:
        """One tick as a cron event."""
        answer = self.server.fire(MINUTE_CRON)
        assert answer.status == 200, answer.text

    def watch(self) -> None:
        """One round of the watchdog."""
        answer = self.server.fire(WATCHDOG_CRON)
        assert answer.status == 200, answer.text

    # --- runs ------------------------------------------------------------------------

    def runs(self, **query: Any) -> list[dict[str, Any]]:
        answer = self.get("/admin/runs", **{"limit": 200, **query})
        assert answer.status == 200, answer.text
        return answer.json()["runs"]

    def run(self, run_id: str) -> dict[str, Any]:
        answer = self.get(f"/admin/runs/{run_id}")
        assert answer.status == 200, answer.text
        return answer.json()

    def ended(self, run_id: str) -> dict[str, Any]:
        """The run, once it has ended."""
        return self._until(run_id, lambda run: run["state"] in FINAL)

    def told(self, run_id: str) -> dict[str, Any]:
        """The run, once its outcome is posted or is known not to be."""
        return self._until(run_id, lambda run: run["delivery"] is not None)

    def _until(self, run_id: str, truth: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            run = self.run(run_id)
            return run if truth(run) else None

        return until(look, SETTLED_SECONDS)

    def quiet(self) -> None:
        """Wait until no run lives."""
        until(lambda: not self.runs(state="running", limit=1), SETTLED_SECONDS)

    # --- the organisation's document -------------------------------------------------

    def document(self) -> dict[str, Any]:
        answer = self.get("/admin/config/org")
        assert answer.status == 200, answer.text
        return answer.json()

    def row(self, name: str) -> dict[str, Any]:
        """A row as it is stored."""
        return self.document()["entries"][f"schedules.{name}"]

    def write(self, changes: Mapping[str, Any]) -> None:
        """Write entries of the document as they are, past the commands and their rules."""
        body = {"expectedVersion": self.document()["version"], "changes": dict(changes)}
        answer = self.server.put("/admin/config/org", body, token=self.token)
        assert answer.status == 200, answer.text

    def write_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store rows as they are given; what is not said is as in `add`."""
        self.write({f"schedules.{row['name']}": stored(**row) for row in rows})

    def clear(self) -> None:
        """Remove every stored schedule."""
        rows = [key for key in self.document()["entries"] if key.startswith("schedules.")]
        if rows:
            self.write(dict.fromkeys(rows))

    # --- the web chat ----------------------------------------------------------------

    def chat(self, text: str) -> dict[str, Any]:
        """Say something in a new thread of #general, as `web:SUBJECT`; the run, once it ended."""
        said = {"channel": "web:general", "text": text}
        answer = self.server.post("/api/chat", said, headers=self.session)
        assert answer.status == 202, answer.text
        return self.ended(answer.json()["run_id"])

    def thread(self, key: str) -> list[str]:
        """The messages of a thread, oldest first."""
        answer = self.server.get(f"/api/threads/{quote(key, safe='')}", headers=self.session)
        assert answer.status == 200, answer.text
        return [message["text"] for message in answer.json()["messages"]]

    def threads(self, channel: str) -> list[dict[str, Any]]:
        query = urlencode({"channel": channel, "limit": 100})
        answer = self.server.get(f"/api/threads?{query}", headers=self.session)
        assert answer.status == 200, answer.text
        return answer.json()["threads"]

    @property
    def session(self) -> dict[str, str]:
        """The headers of a browser that has just signed in."""
        answer = self.server.post("/api/session", {"token": self.token})
        assert answer.status == 200, answer.text
        cookie = answer.headers["set-cookie"].partition(";")[0]
        return {"cookie": cookie, "x-csrf-token": answer.json()["csrf"]}


def stored(name: str, *, made: str, **fields: Any) -> dict[str, Any]:
    """A row as the document keeps it; `made` is when it was added."""
    return {
        "id": f"row{name.replace('-', '')}",
        "name": name,
        "cron": "0 * * * *",
        "zone": "UTC",
        "text": "whoami",
        "channel": "web:general",
        "thread": "new",
        "grants": [],
        "enabled": True,
        "createdBy": "http:admin",
        "createdAt": ms(made),
        **fields,
    }
