"""The world outside the stores, in memory: time, ids, the engine, channels, HTTP, background."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.ports import EngineStatus, Fault, HttpReply, NotOpened, Opened, Posted
from bot.times import parse_iso
from bot.words import Delivery
from tests.support.drive import Pause, Port, no_pause, run

SECRET_ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"


class FakeClock(Port):
    """A clock that stands still until it is set. Takes epoch milliseconds or ISO 8601."""

    def __init__(self, now: int | str = "2026-03-02T09:00:00Z", pause: Pause = no_pause):
        super().__init__(pause)
        self.set(now)

    def now_ms(self) -> int:
        return self._now_ms

    async def sleep(self, ms: int) -> None:
        await self.pause("clock.sleep")
        self.advance(ms=ms)
        await self.pause("clock.sleep done")

    def set(self, now: int | str) -> None:
        at = parse_iso(now) if isinstance(now, str) else now
        assert at is not None, now
        self._now_ms = at

    def advance(self, *, ms: int = 0, seconds: int = 0, minutes: int = 0, hours: int = 0) -> None:
        self._now_ms += ms + 1000 * (seconds + 60 * (minutes + 60 * hours))


class CountingIds:
    """Ids that count: ``id000...001``, secrets ``AAB``, ``AAC``."""

    def __init__(self):
        self.made = 0
        self.secrets = 0

    def new(self) -> str:
        self.made += 1
        return f"id{self.made:018d}"

    def secret(self, characters: int) -> str:
        self.secrets += 1
        rest, text = self.secrets, ""
        for _ in range(characters):
            rest, digit = divmod(rest, len(SECRET_ALPHABET))
            text = SECRET_ALPHABET[digit] + text
        return text


class RecordingEngine(Port):
    """Takes runs and carries them nowhere: ``started`` lists them, ``set`` says how they stand."""

    def __init__(self, pause: Pause = no_pause):
        super().__init__(pause)
        self.started: list[str] = []
        self.resumed: list[str] = []
        self.stopped: list[str] = []
        self.statuses: dict[str, EngineStatus] = {}

    async def start(self, run_ids: Sequence[str]) -> None:
        await self.pause("engine.start")
        for run_id in run_ids:
            if run_id not in self.statuses:
                self.started.append(run_id)
                self.statuses[run_id] = EngineStatus.ALIVE
        await self.pause("engine.start done")

    async def status(self, run_id: str) -> EngineStatus:
        await self.pause("engine.status")
        status = self.statuses.get(run_id, EngineStatus.ABSENT)
        await self.pause("engine.status done")
        return status

    async def resume(self, run_id: str) -> None:
        await self.pause("engine.resume")
        self.resumed.append(run_id)
        await self.pause("engine.resume done")

    async def stop(self, run_id: str) -> None:
        await self.pause("engine.stop")
        self.stopped.append(run_id)
        if run_id in self.statuses:
            self.statuses[run_id] = EngineStatus.ENDED
        await self.pause("engine.stop done")


@dataclass(frozen=True, slots=True)
class Post:
    """What was posted once."""

    thread: str
    text: str
    key: str
    at: int


class MemoryChannel(Port):
    """One surface with channels of these ids. Its two faults are told to it:

    ``gone``, ids of channels that are no longer there; ``failing``, why every post fails.
    """

    def __init__(
        self,
        surface: str = "web",
        ids: Sequence[str] = ("general", "ops"),
        *,
        opens_threads: bool = True,
        pause: Pause = no_pause,
    ):
        super().__init__(pause)
        self.surface = surface
        self.ids = set(ids)
        self.opens_threads = opens_threads
        self.gone: set[str] = set()
        self.failing: str | None = None
        self.threads: dict[str, str] = {}
        """Lead by thread key, in the order of opening."""
        self.posts: list[Post] = []
        self._thread_of: dict[str, str] = {}

    def exists(self, channel: str) -> bool:
        surface, _, channel_id = channel.partition(":")
        return surface == self.surface and channel_id in self.ids

    async def can_open_threads(self, channel: str) -> NotOpened | None:
        if not self.exists(channel):
            return NotOpened(f"{channel} is not there")
        return None if self.opens_threads else self._opens_none(channel)

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        await self.pause("channel.open_thread")
        opened = self._open(channel, lead, key)
        await self.pause("channel.open_thread done")
        return opened

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        await self.pause("channel.post")
        posted = self._post(Post(thread, text, key, now_ms))
        await self.pause("channel.post done")
        return posted

    def texts(self, thread: str | None = None) -> list[str]:
        """What was posted, into one thread or into all."""
        return [post.text for post in self.posts if thread in (None, post.thread)]

    def _open(self, channel: str, lead: str, key: str) -> Opened | NotOpened:
        if not self.exists(channel) or channel.partition(":")[2] in self.gone:
            return NotOpened(f"{channel} is not there")
        if not self.opens_threads:
            return self._opens_none(channel)
        if key not in self._thread_of:
            self._thread_of[key] = f"{channel}/t{len(self.threads) + 1}"
            self.threads[self._thread_of[key]] = lead
        return Opened(self._thread_of[key])

    def _opens_none(self, channel: str) -> NotOpened:
        return NotOpened(f"{channel} opens no threads", gone=False)

    def _post(self, post: Post) -> Posted:
        if post.thread.partition(":")[2].partition("/")[0] in self.gone:
            return Posted(Delivery.UNDELIVERED, "the channel is not there")
        if self.failing is not None:
            return Posted(Delivery.UNDELIVERED, self.failing)
        if all(earlier.key != post.key for earlier in self.posts):
            self.posts.append(post)
        return Posted(Delivery.DELIVERED)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that went outside."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None
    timeout_s: float


Answer = HttpReply | Fault | Callable[[Sent], HttpReply]


class ScriptedHttp(Port):
    """Answers requests from ``replies``, first come first served; a Fault in it is raised.

    ``otherwise``, when set, answers what the script does not. With neither, a request fails.
    """

    def __init__(self, replies: Sequence[Answer] = (), pause: Pause = no_pause):
        super().__init__(pause)
        self.replies: list[Answer] = list(replies)
        self.otherwise: Answer | None = None
        self.sent: list[Sent] = []

    def reply(
        self, text: str = "", *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Add one reply to the script."""
        self.replies.append(HttpReply(status, dict(headers or {}), text))

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        timeout_s: float = 20.0,
    ) -> HttpReply:
        await self.pause("http.send")
        sent = Sent(method, url, dict(headers or {}), body, timeout_s)
        self.sent.append(sent)
        answer = self.replies.pop(0) if self.replies else self.otherwise
        if answer is None:
            answer = Fault(f"no reply is scripted for {method} {url}")
        if isinstance(answer, Fault):
            raise answer
        reply = answer if isinstance(answer, HttpReply) else answer(sent)
        await self.pause("http.send done")
        return reply


class CollectingBackground:
    """Keeps deferred work until ``finish`` runs it, in order, with what it defers in turn."""

    def __init__(self):
        self.deferred: list[Coroutine[Any, Any, None]] = []

    def defer(self, work: Coroutine[Any, Any, None]) -> None:
        self.deferred.append(work)

    def finish(self) -> None:
        while self.deferred:
            run(self.deferred.pop(0))

    def __del__(self):
        for work in self.deferred:
            work.close()


class MemorySeal:
    """A seal that anyone can read, and that opens by its ``key`` and its place alone."""

    def __init__(self, key: str = "key-of-seal"):
        self.key = key

    async def close(self, secret: str, *, place: str) -> str | None:
        return json.dumps([self.key, place, secret[::-1]]) if self.key else None

    async def open(self, sealed: str, *, place: str) -> str | None:
        try:
            key, bound_to, secret = json.loads(sealed)
        except ValueError:
            return None
        return secret[::-1] if self.key and (key, bound_to) == (self.key, place) else None
