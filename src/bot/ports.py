"""The seams between the pure house and the platform.

Everything below is a Protocol that ``bot.cloudflare`` implements for production
and the tests implement over ``sqlite3`` and plain memory. Core code awaits
nothing but these.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from bot.words import Delivery

if TYPE_CHECKING:
    from bot.commands.registry import Registry

Json = Any


class Fault(Exception):
    """A port failed (a store is down, a connection broke); never a refusal."""


class Clock(Protocol):
    """The one source of time."""

    def now_ms(self) -> int:
        """Epoch milliseconds now."""
        ...

    async def sleep(self, ms: int) -> None:
        """Let ``ms`` milliseconds pass; only a caller that waits for an answer may ask."""
        ...


class Ids(Protocol):
    """The one source of randomness."""

    def new(self) -> str:
        """A fresh id: 20 lower-case letters and digits, never seen before."""
        ...

    def secret(self, characters: int) -> str:
        """An unguessable string of that many characters of ``A-Z2-9`` without look-alikes."""
        ...


# --- documents (ConfigDO) ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """One tier's document: its version and its entries (key to JSON value)."""

    version: int
    entries: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Swap:
    """The answer to a compare-and-swap: ``won`` or not, and the version that stands now.

    ``refusal`` says why the document does not take the change, such as a limit that it would
    pass; nothing was written then.
    """

    won: bool
    version: int
    refusal: str | None = None


class ConfigStore(Protocol):
    """Documents by tier, each written by compare-and-swap (contract §1, ConfigDO)."""

    async def read(self, tier: str) -> Document:
        """The tier's document; version 0 and no entries where none was written."""
        ...

    async def swap(
        self,
        tier: str,
        expected_version: int,
        changes: Mapping[str, Json],
        *,
        upkeep: bool = False,
    ) -> Swap:
        """Write ``changes`` (None removes a key) if the version is still the expected one.

        ``upkeep`` is said of what the bot itself notes on standing schedules, such as a claim:
        it has a reserve beyond the limits that no other write can use up.
        """
        ...


# --- history (ScheduleDO) ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing in the history, keyed by ``key`` (the run id a due minute has or would have).

    Times are epoch milliseconds. ``run_id`` is None where no run was admitted.
    """

    key: str
    name: str
    row_id: str
    due_at: int | None
    claimed_at: int
    trigger: str
    by: str | None
    state: str
    code: str | None = None
    run_id: str | None = None
    delivery: str | None = None
    coalesced: int = 0


@dataclass(frozen=True, slots=True)
class TickRecord:
    """What one tick did, for the statistics. ``at`` epoch ms, ``ms`` its duration."""

    at: int
    ms: int
    due: int = 0
    claimed: int = 0
    lost: int = 0
    started: int = 0
    errors: int = 0


class HistoryStore(Protocol):
    """Firing history of both kinds of schedule, and tick statistics (ScheduleDO)."""

    async def record(self, firings: Sequence[Firing]) -> None:
        """Insert or advance firings by key; a final state is never put back to a live one."""
        ...

    async def latest(self, claims: Mapping[str, str | None]) -> Mapping[str, Firing]:
        """The last firing of each row, by row id.

        ``claims`` says of each row the key of the minute that it claimed last, None where it
        never claimed one. Its last firing is that minute's or a press by hand that came after
        it. A row is left out where the history does not hold its claim yet, which is then newer
        than all that it holds.
        """
        ...

    async def history(
        self, name: str, limit: int, before_ms: int | None, row_id: str | None = None
    ) -> Sequence[Firing]:
        """Firings of one name, or of one row where ``row_id`` is given, newest first.

        Newest is what was recorded last, whatever the clock said; a firing that is recorded
        again keeps its place. ``before_ms`` is when the last firing of the page before was
        claimed: what came before that one. Of any other time, what was claimed before it.
        """
        ...

    async def record_tick(self, tick: TickRecord) -> None:
        """Keep one tick's figures."""
        ...

    async def ticks(self, limit: int, before_ms: int | None) -> Sequence[TickRecord]:
        """Ticks, newest first, paged as ``history`` is."""
        ...

    async def tick_summary(self, now_ms: int) -> Json:
        """Count, p50, p95 of 24 h and 30 d, the last tick, claims with no run in 30 d."""
        ...

    async def strips(self, since_ms: int, bucket_ms: int) -> Json:
        """What happened since then by bucket of time: ``{ticks: [[bucket, count]], firings:
        {name: [[bucket, state, count, folded]]}}``."""
        ...


# --- the database (D1) ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement with its positional parameters (int, str, float, None)."""

    sql: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A statement's answer: rows as dicts, how many it changed, how many it read."""

    rows: Sequence[Mapping[str, Any]] = ()
    changes: int = 0
    rows_read: int = 0


class Database(Protocol):
    """D1, or sqlite3 in the tests."""

    async def run(self, sql: str, *params: Any) -> Rows:
        """One statement."""
        ...

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Rows]:
        """Several statements as one transaction: all or none."""
        ...


# --- the run engine ------------------------------------------------------------------


class EngineStatus(StrEnum):
    """Where a Workflow instance stands, folded to what the watchdog decides on."""

    ABSENT = "absent"
    ALIVE = "alive"
    ENDED = "ended"


class RunEngine(Protocol):
    """Carries admitted runs to their end (Workflows)."""

    async def start(self, run_ids: Sequence[str]) -> None:
        """Start a run each; an id that was started before is left alone."""
        ...

    async def status(self, run_id: str) -> EngineStatus:
        """Whether the run's instance exists and lives."""
        ...

    async def resume(self, run_id: str) -> None:
        """Set a stalled instance going again; finished steps are not repeated."""
        ...

    async def stop(self, run_id: str) -> None:
        """End an instance between steps."""
        ...


class Steps(Protocol):
    """The durable steps of one run: a finished step is never run again."""

    async def do(self, name: str, work: StepWork, *, retries: int = 0) -> Json:
        """Run ``work`` once and keep its JSON value; ``retries`` more times if it raises."""
        ...

    async def sleep(self, name: str, ms: int) -> None:
        """Let ``ms`` milliseconds pass, once, without holding anything meanwhile."""
        ...


class StepWork(Protocol):
    """A step's work: an async function without arguments that answers a JSON value."""

    def __call__(self) -> Coroutine[Any, Any, Json]:
        """Do it."""
        ...


# --- channels ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """A thread that was opened: its key is ``<surface>:<channel id>/<thread id>``."""

    thread: str


@dataclass(frozen=True, slots=True)
class NotOpened:
    """A thread that could not be opened; ``gone``: the channel itself is not there.

    With ``wait_s`` the service asks to be asked again in that many seconds; nothing was opened.
    """

    reason: str
    gone: bool = True
    wait_s: int | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """How a post ended: the delivery word, and the reason where it is ``undelivered``.

    With ``wait_s`` the service asks to be asked again in that many seconds: the same key then
    goes on with what was not posted yet.
    """

    delivery: Delivery
    reason: str | None = None
    wait_s: int | None = None

    def __str__(self) -> str:
        return f"{self.delivery}: {self.reason}" if self.reason else str(self.delivery)


class ChannelIO(Protocol):
    """One surface's channels (contract §8)."""

    surface: str

    def exists(self, channel: str) -> bool:
        """Whether ``<surface>:<id>`` is a channel this surface can name, without any I/O."""
        ...

    async def can_open_threads(self, channel: str) -> NotOpened | None:
        """Whether that channel opens threads, as far as can be told; None is yes."""
        ...

    async def open_thread(
        self, channel: str, lead: str, *, key: str, now_ms: int
    ) -> Opened | NotOpened:
        """Open a thread that starts with ``lead``; the same ``key`` opens the same thread."""
        ...

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        """Post into a thread; the same ``key`` posts once."""
        ...


# --- the outside ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer from outside: status, lower-case headers, body text."""

    status: int
    headers: Mapping[str, str]
    text: str


class HttpClient(Protocol):
    """Plain HTTP to the outside."""

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        timeout_s: float = 20.0,
    ) -> HttpReply:
        """One request; raises Fault when no answer comes within ``timeout_s`` seconds.

        A fault is logged, so it names no more of the address than the host.
        """
        ...


class Inference(Protocol):
    """The platform's own models (Workers AI)."""

    async def run(self, model: str, inputs: Json, *, timeout_s: float) -> Json:
        """One call of a model; raises Fault when no answer comes within ``timeout_s`` seconds."""
        ...


class Background(Protocol):
    """Work that goes on after the answer (``ctx.waitUntil``)."""

    def defer(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` after the answer; its failure is logged, never raised."""
        ...


class Seal(Protocol):
    """Closes people's secrets so that whoever reads the database cannot read them.

    ``place`` says what a secret belongs to; a sealed text opens for that place alone.
    """

    async def close(self, secret: str, *, place: str) -> str | None:
        """The secret, sealed; None where no key is configured."""
        ...

    async def open(self, sealed: str, *, place: str) -> str | None:
        """The secret; None for another place, another key, no key, or a text that was changed."""
        ...


class AccessKeys(Protocol):
    """The keys by which a Cloudflare Access team signs its assertions."""

    async def signed(self, kid: str, data: bytes, signature: bytes, now_ms: int) -> bool:
        """Whether the team's key ``kid`` made this RS256 signature over ``data``.

        Raises Fault when the team's keys cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """The Worker's variables, read once. A secret that is unset or empty denies."""

    admins: frozenset[str] = frozenset()
    ingress_tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    cron_token: str = ""
    internal_key: str = ""
    session_key: str = ""
    seal_key: str = ""
    model_base_url: str = ""
    model_api_key: str = ""
    model: str = ""
    github_api_url: str = "https://api.github.com"
    github_token: str = ""
    slack_signing_secret: str = ""
    slack_bot_token: str = ""
    slack_api_url: str = "https://slack.com/api"
    telegram_bot_token: str = ""
    telegram_webhook_secret: str = ""
    telegram_api_url: str = "https://api.telegram.org"
    telegram_members: frozenset[str] | None = None
    """Ids of the Telegram users and groups that are let in; None lets everybody in."""
    access_team_domain: str = ""
    access_aud: str = ""
    web_channels: tuple[str, ...] = ("general", "ops")
    allow_private_addresses: bool = False
    """Whether people's MCP servers and skills may lie on private addresses, over plain http:
    for the local runtime alone."""


@dataclass(frozen=True, slots=True)
class House:
    """Every port of one request, bundled: made by ``bot.app`` or by a test.

    ``commands`` is the registry: it holds no state, and is here so that what runs commands
    need not import every command.
    """

    settings: Settings
    commands: Registry
    clock: Clock
    ids: Ids
    config: ConfigStore
    history: HistoryStore
    db: Database
    engine: RunEngine
    channels: Mapping[str, ChannelIO]
    http: HttpClient
    background: Background
    seal: Seal
    inference: Inference | None = None
    """The platform's models, where there is a binding for them."""
    access_keys: AccessKeys | None = None
    """The keys of the Cloudflare Access team, where Access is set up."""
