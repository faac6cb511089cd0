"""The words of the contract: every state, code and kind, in one place.

Each surface (chat, HTTP, the panel) says these words and no others. ``TEXTS``
holds the sentence and the HTTP status of each code; a test holds it complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """What a command does to the world (contract §4)."""

    READ = "read"
    EXEC = "exec"
    WRITE = "write"


class Route(StrEnum):
    """How a text became a command: typed in chat form, or picked by the router from prose."""

    EXPLICIT = "explicit"
    ROUTED = "routed"
    AGENT = "agent"


class Source(StrEnum):
    """What brought a turn into the house (the ledger's ``source``)."""

    SCHEDULE = "schedule"
    JOB = "job"
    MESSAGE = "message"
    CATALOG = "catalog"
    INGRESS = "ingress"


class Trigger(StrEnum):
    """What pressed the trigger of a firing."""

    TICK = "tick"
    REFIRE = "refire"
    HAND = "hand"


class State(StrEnum):
    """The state of a firing and of its run, the same on every surface (contract §3)."""

    STARTING = "starting"
    CLAIMED_NOT_STARTED = "claimed_not_started"
    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    SKIPPED_STALE = "skipped_stale"


LIVE_STATES = frozenset({State.RUNNING})
FINAL_STATES = frozenset({State.OK, State.FAILED, State.REFUSED, State.SKIPPED_STALE})


STATE_TEXTS: dict[State, str] = {
    State.STARTING: "Claimed a moment ago; its run is about to start",
    State.CLAIMED_NOT_STARTED: "Claimed, and no run was ever started",
    State.RUNNING: "Its run is under way",
    State.OK: "It ran and answered",
    State.FAILED: "Its run failed",
    State.REFUSED: "It was refused, and did not do what it asks for",
    State.SKIPPED_STALE: "It was older than its window, and was skipped",
}
"""The sentence of each state, the same on every surface."""


class Delivery(StrEnum):
    """Whether the outcome reached its channel; apart from the state, never folded into it.

    Stored and shown as ``delivered``, ``unknown`` or ``undelivered: REASON``.
    """

    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"
    UNKNOWN = "unknown"


class OutcomeKind(StrEnum):
    """How a command ended, as ``POST /admin/command`` says it."""

    OK = "ok"
    REFUSED = "refused"
    FAILED = "failed"


class Code(StrEnum):
    """Why something was refused or failed."""

    # the request
    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    BAD_CSRF = "bad_csrf"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    BAD_VALUE = "bad_value"
    INTERNAL = "internal"
    STORE_UNAVAILABLE = "store_unavailable"
    # commands
    BAD_COMMAND = "bad_command"
    BAD_CODE = "bad_code"
    BAD_URL = "bad_url"
    # authority
    BAD_ACTOR = "bad_actor"
    BAD_GRANT = "bad_grant"
    GRANT_NOT_HELD = "grant_not_held"
    # configuration
    CONFLICT = "conflict"
    BAD_KEY = "bad_key"
    BAD_TIER = "bad_tier"
    DOCUMENT_TOO_LARGE = "document_too_large"
    # schedules
    SCHEDULE_EXISTS = "schedule_exists"
    NO_SCHEDULE = "no_schedule"
    CATALOG_SCHEDULE = "catalog_schedule"
    BAD_NAME = "bad_name"
    BAD_CRON = "bad_cron"
    NEVER_FIRES = "never_fires"
    BAD_ZONE = "bad_zone"
    BAD_WINDOW = "bad_window"
    BAD_TEXT = "bad_text"
    BAD_THREAD = "bad_thread"
    NO_CHANNEL = "no_channel"
    CHANNEL_CANNOT_OPEN_THREAD = "channel_cannot_open_thread"
    TOO_MANY_SCHEDULES = "too_many_schedules"
    # turns and runs
    SCHEDULE_WRITE = "schedule_write"
    HANDED_BACK = "handed_back"
    THREAD_BUSY = "thread_busy"
    NO_RUN = "no_run"
    RUN_ENDED = "run_ended"
    NOT_UNDERSTOOD = "not_understood"
    NO_MODEL = "no_model"
    MODEL_UNAVAILABLE = "model_unavailable"
    BAD_TOOL_CALL = "bad_tool_call"
    TOO_MANY_STEPS = "too_many_steps"
    TOO_MANY_TOKENS = "too_many_tokens"
    NO_OUTPUT = "no_output"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed_out"
    # people's own things
    NOT_A_PERSON = "not_a_person"
    TOO_MANY = "too_many"
    BAD_TIME = "bad_time"
    NOT_CONFIGURED = "not_configured"
    BAD_DOCUMENT = "bad_document"
    NO_ANSWER = "no_answer"
    # GitHub
    GITHUB_NO_TOKEN = "github_no_token"
    GITHUB_TOKEN_REFUSED = "github_token_refused"
    GITHUB_NOT_FOUND = "github_not_found"
    GITHUB_RATE_LIMITED = "github_rate_limited"
    GITHUB_UNAVAILABLE = "github_unavailable"


@dataclass(frozen=True, slots=True)
class Text:
    """A code's plain title and the HTTP status it answers with."""

    title: str
    status: int


TEXTS: dict[Code, Text] = {
    Code.BAD_REQUEST: Text("The request is malformed", 400),
    Code.UNAUTHORIZED: Text("No credential, or a wrong one", 401),
    Code.FORBIDDEN: Text("Not allowed", 403),
    Code.BAD_CSRF: Text("The request lacks the session's CSRF token", 403),
    Code.NOT_FOUND: Text("There is no such thing", 404),
    Code.METHOD_NOT_ALLOWED: Text("This route does not take that method", 405),
    Code.TOO_LARGE: Text("The request is over 256 KiB", 413),
    Code.RATE_LIMITED: Text("Too many requests", 429),
    Code.BAD_VALUE: Text("A value is refused", 422),
    Code.INTERNAL: Text("Something broke on our side", 500),
    Code.STORE_UNAVAILABLE: Text("A store did not answer", 503),
    Code.BAD_COMMAND: Text("That is not a command", 422),
    Code.BAD_CODE: Text("That code does not confirm anything of yours", 422),
    Code.BAD_URL: Text("That address is refused", 422),
    Code.BAD_ACTOR: Text("That is not an actor", 422),
    Code.BAD_GRANT: Text("That is not a grant", 422),
    Code.GRANT_NOT_HELD: Text("You do not hold that grant yourself", 422),
    Code.CONFLICT: Text("Somebody else changed it first", 409),
    Code.BAD_KEY: Text("That key is refused", 422),
    Code.BAD_TIER: Text("That is not a tier", 404),
    Code.DOCUMENT_TOO_LARGE: Text("The document would pass its limits", 422),
    Code.SCHEDULE_EXISTS: Text("A schedule of that name exists", 409),
    Code.NO_SCHEDULE: Text("There is no schedule of that name", 404),
    Code.CATALOG_SCHEDULE: Text("That schedule ships in code", 409),
    Code.BAD_NAME: Text("That name is refused", 422),
    Code.BAD_CRON: Text("That cron expression is refused", 422),
    Code.NEVER_FIRES: Text("That cron expression never fires", 422),
    Code.BAD_ZONE: Text("That time zone is unknown", 422),
    Code.BAD_WINDOW: Text("That window is refused", 422),
    Code.BAD_TEXT: Text("That text is refused", 422),
    Code.BAD_THREAD: Text("A thread is either new or standing", 422),
    Code.NO_CHANNEL: Text("There is no such channel", 422),
    Code.CHANNEL_CANNOT_OPEN_THREAD: Text("That channel cannot open a thread", 422),
    Code.TOO_MANY_SCHEDULES: Text("There are as many schedules as there may be", 422),
    Code.SCHEDULE_WRITE: Text("A schedule may not write", 403),
    Code.HANDED_BACK: Text("Nothing was written: the command is handed back", 200),
    Code.THREAD_BUSY: Text("The thread has a live run", 409),
    Code.NO_RUN: Text("There is no run of that id", 404),
    Code.RUN_ENDED: Text("That run has ended already", 409),
    Code.NO_MODEL: Text("No model is configured", 422),
    Code.NOT_UNDERSTOOD: Text("It is not clear what was asked for", 422),
    Code.MODEL_UNAVAILABLE: Text("The model did not answer", 502),
    Code.BAD_TOOL_CALL: Text("The model called a tool in a way that cannot be read", 502),
    Code.TOO_MANY_STEPS: Text("The run passed its ceiling of steps", 422),
    Code.TOO_MANY_TOKENS: Text("The run passed its ceiling of tokens", 422),
    Code.NO_OUTPUT: Text("The run gave an empty answer", 422),
    Code.CANCELLED: Text("The run was cancelled", 409),
    Code.INTERRUPTED: Text("The run was cut off before it could finish", 500),
    Code.TIMED_OUT: Text("The run passed its deadline", 504),
    Code.NOT_A_PERSON: Text("Only a person has things of their own", 403),
    Code.BAD_TIME: Text("That time is refused", 422),
    Code.TOO_MANY: Text("There are as many of these as there may be", 429),
    Code.NOT_CONFIGURED: Text("This bot is not set up for that", 422),
    Code.BAD_DOCUMENT: Text("That OpenAPI document is refused", 422),
    Code.NO_ANSWER: Text("That address did not answer", 502),
    Code.GITHUB_NO_TOKEN: Text("No GitHub token is configured", 422),
    Code.GITHUB_TOKEN_REFUSED: Text("GitHub refused the token", 422),
    Code.GITHUB_NOT_FOUND: Text("GitHub does not show that repository to this token", 422),
    Code.GITHUB_RATE_LIMITED: Text("GitHub's rate limit is used up", 429),
    Code.GITHUB_UNAVAILABLE: Text("GitHub did not answer", 502),
}


@dataclass(frozen=True, slots=True)
class Refused:
    """An expected failure, passed between parts as a value.

    ``detail`` is one or two sentences that say what is wrong and what to do.
    """

    code: Code
    detail: str
