"""Write docs/reference.md from the code: commands, routes, states, codes, settings and limits.

``python scripts/reference.py`` writes it; ``--check`` only says whether it is up to date.
``tests/unit/test_docs.py`` holds it up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT / "src") not in sys.path:
    sys.path.insert(0, str(ROOT / "src"))

from bot.agent import limits as agent_limits  # noqa: E402
from bot.authz.grants import ACTIONS, FLOORS  # noqa: E402
from bot.authz.policy import COMMANDS, ROUTES, Door, Need  # noqa: E402
from bot.channels import base  # noqa: E402
from bot.commands import grammar, grant, own  # noqa: E402
from bot.commands.all import REGISTRY  # noqa: E402
from bot.dispatch import handback  # noqa: E402
from bot.http import app, cookie, ingress, turns, values  # noqa: E402
from bot.http.visit import Route  # noqa: E402
from bot.jobs import service as jobs_service  # noqa: E402
from bot.jobs import store as jobs_store  # noqa: E402
from bot.runs import watchdog  # noqa: E402
from bot.schedules import catalog, claim, due, firing, row  # noqa: E402
from bot.settings import read_settings  # noqa: E402
from bot.words import (  # noqa: E402
    STATE_TEXTS,
    TEXTS,
    Delivery,
    Effect,
    OutcomeKind,
    Source,
    Trigger,
)
from bot.words import Route as HowFound  # noqa: E402
from config_do import documents  # noqa: E402
from schedule_do import firings, ticks  # noqa: E402

PAGE = ROOT / "docs" / "reference.md"

INTRO = """\
# Reference

Written from the code by `scripts/reference.py`; change the code and run it again. A test holds
this page up to date.
"""

CHAT_FORM = """\
A message is a command in this form, or prose. Names come first and in order; the clauses after them
in any order; `[...]` may be left out. The header ends at the first colon that white space follows.
A value that holds blanks stands in double quotes, and a backslash keeps a quote inside them. Curly
quotes, long dashes and special blanks are read as their plain forms. A command that is written
wrong is answered with its usage, and one that does not exist with the nearest one's.

What an effect allows is in [security.md](security.md#the-write-rule). `help COMMAND` says the same
as this table.
"""

DOORS: Mapping[Door, str] = {
    Door.OPEN: "nothing",
    Door.ACTOR: "bearer or session",
    Door.SESSION: "session",
    Door.BEARER: "bearer",
    Door.INTERNAL: "`X-Internal-Key`",
    Door.SIGNED: "the surface's signature",
}

HTTP = """\
Bodies are JSON objects, read strictly: no unknown field, no coercion, at most 256 KiB. Errors are
`application/problem+json` (RFC 9457) with `code`, `title`, `detail` and `status`; the codes are
below. A path that exists answers 405 with `Allow` to another method. HEAD is a GET. What a page
polls carries an `ETag` and answers 304 while nothing changed.

A *bearer* is `Authorization: Bearer TOKEN`: a token of `INGRESS_TOKENS` makes `http:SUBJECT`,
`CRON_TOKEN` makes `http:cron`. A *session* is the cookie of `POST /api/session`; its writes repeat
the session's `csrf` as `X-CSRF-Token`. In the table `?` marks what may be left out.
"""

DELIVERIES: Mapping[Delivery, str] = {
    Delivery.DELIVERED: "the outcome was posted",
    Delivery.UNDELIVERED: "it was not, followed by the reason",
    Delivery.UNKNOWN: "whether it was cannot be told",
}
TRIGGERS: Mapping[Trigger, str] = {
    Trigger.TICK: "the minute tick, or a cron event",
    Trigger.REFIRE: "a person fired a claim that never started",
    Trigger.HAND: "a person fired it once, outside its slot",
}
SOURCES: Mapping[Source, str] = {
    Source.SCHEDULE: "a stored schedule",
    Source.JOB: "a person's job",
    Source.MESSAGE: "a message of a person",
    Source.CATALOG: "a schedule that ships in code",
    Source.INGRESS: "`POST /ingress`, or a program's command",
}
HOW_FOUND: Mapping[HowFound, str] = {
    HowFound.EXPLICIT: "typed in chat form",
    HowFound.ROUTED: "picked by the router from prose",
    HowFound.AGENT: "an agent turn",
}
EFFECTS: Mapping[Effect, str] = {
    Effect.READ: "it looks",
    Effect.EXEC: "it runs something",
    Effect.WRITE: "it changes something",
}
OUTCOMES: Mapping[OutcomeKind, str] = {
    OutcomeKind.OK: "the command did what it says",
    OutcomeKind.REFUSED: "it was refused and changed nothing",
    OutcomeKind.FAILED: "it was allowed and did not succeed",
}

VARIABLES: Mapping[str, str] = {
    "ADMINS": "actors that hold `all`, with commas between them (`web:alice,http:ci`)",
    "INGRESS_TOKENS": 'secret. A JSON object, subject to token: `{"ci": "..."}`',
    "CRON_TOKEN": "secret. The bearer of `http:cron`, which may fire the tick and nothing else",
    "INTERNAL_KEY": "secret. The `X-Internal-Key`",
    "SESSION_KEY": "secret. Signs browser sessions; without it nobody signs in",
    "SEAL_KEY": "secret. Seals people's secrets for MCP servers; without it none is kept",
    "MODEL_BASE_URL": "an OpenAI-compatible endpoint, such as `https://api.example.com/v1`",
    "MODEL_API_KEY": "secret. Its key",
    "MODEL": "the model's name there, or at Workers AI",
    "GITHUB_API_URL": "default `https://api.github.com`",
    "GITHUB_TOKEN": "secret. The bot's token at GitHub",
    "SLACK_SIGNING_SECRET": "secret. Checks what comes from Slack",
    "SLACK_BOT_TOKEN": "secret. Posts to Slack",
    "SLACK_API_URL": "default `https://slack.com/api`",
    "TELEGRAM_BOT_TOKEN": "secret. Posts to Telegram",
    "TELEGRAM_WEBHOOK_SECRET": "secret. Checks what comes from Telegram",
    "TELEGRAM_API_URL": "default `https://api.telegram.org`",
    "TELEGRAM_MEMBERS": "ids of the Telegram users and groups that are let in, with blanks or "
    "commas between them; **unset, everybody who finds the bot is**",
    "ACCESS_TEAM_DOMAIN": "the Cloudflare Access team that signs people in, "
    "`TEAM.cloudflareaccess.com`",
    "ACCESS_AUD": "the audience tag of the Access application; Access is off without both",
    "WEB_CHANNELS": "names of the web channels, default `general,ops`",
    "ALLOW_PRIVATE_ADDRESSES": "`true` lets people's MCP servers and skills lie on private "
    "addresses, over plain http: for the local runtime alone",
}

ORG_SETTINGS: Mapping[str, str] = {
    "zone": "the zone of a schedule that names none; default `UTC`",
    "channel": "where the bot says what concerns no schedule's channel; default the first web "
    "channel",
}


def render() -> str:
    """The whole page."""
    sections = (
        INTRO,
        "## Commands",
        CHAT_FORM,
        _commands(),
        "## Routes",
        HTTP,
        _routes(),
        "## States and words",
        "Each surface says these words and no others; they stand in `src/bot/words.py`.",
        "### State of a firing and of its run",
        _words("state", STATE_TEXTS),
        "### Delivery",
        _words("delivery", DELIVERIES),
        "### Trigger",
        _words("trigger", TRIGGERS),
        "### Source of a run",
        _words("source", SOURCES),
        "### Route of a run",
        _words("route", HOW_FOUND),
        "### Effect of a command",
        _words("effect", EFFECTS),
        "### Outcome of a command",
        _words("outcome", OUTCOMES),
        "## Codes",
        "Why something was refused or failed, with the status that HTTP answers. The `detail` "
        "beside a code says what to do.",
        _codes(),
        "## Grants",
        _grants(),
        "## Schedules that ship in code",
        _catalog(),
        "## Variables",
        "Read once an isolate, in `src/bot/settings.py`. An unset or empty secret denies.",
        _table(("variable", "what it is"), _variables()),
        "## Settings of the organisation",
        "Keys of the org document, written with `config set KEY VALUE`. Other keys may be written "
        "and mean nothing to the bot.",
        _org_settings(),
        "## Limits",
        _limits(),
    )
    return "\n\n".join(section.strip() for section in sections) + "\n"


def variables() -> list[str]:
    """Every variable that the code reads, in the order it reads them."""
    asked: list[str] = []
    read_settings(lambda name: asked.append(name))  # type: ignore[func-returns-value]
    return list(dict.fromkeys(asked))


def _variables() -> list[tuple[str, str]]:
    unknown = sorted(set(variables()) ^ set(VARIABLES))
    assert not unknown, f"say what {', '.join(unknown)} is in VARIABLES of this script, or drop it"
    return [(f"`{name}`", VARIABLES[name]) for name in variables()]


def _commands() -> str:
    rows = [
        (f"`{_piped(command.usage)}`", _effect(command), _needs(command), command.summary)
        for command in REGISTRY
    ]
    return _table(("command", "effect", "needs", "does"), rows)


def _effect(command: Any) -> str:
    if command.routed_effect is None:
        return command.effect
    return f"{command.effect}; from prose {command.routed_effect}"


def _needs(command: Any) -> str:
    need = COMMANDS.get(command.name)
    if need is None:
        return "denied"
    shown = {arg.name: arg.shown for arg in command.syntax.all_args}
    return _need(need, shown)


def _need(need: Need, shown: Mapping[str, str]) -> str:
    if need.action is None:
        return "-"
    action = need.action.format_map({**shown, "role": "ROLE"})
    return f"`{action} on {need.on.upper()}`" if need.on else f"`{action}`"


def _routes() -> str:
    rows: list[tuple[str, ...]] = []
    for route in app.ROUTES:
        need = ROUTES.get((route.method, route.pattern))
        door = DOORS[need.door] if need else "denied"
        action = _need(need, {}) if need else "-"
        rows.append(
            (
                f"`{route.method} {route.pattern}`",
                door,
                action,
                _taken(route),
                _first_sentence(route.handler),
            )
        )
    return _table(("route", "door", "grant", "takes", "does"), rows)


def _taken(route: Route) -> str:
    body = [
        (field.alias or name) + ("" if field.is_required() else "?")
        for name, field in (route.body.model_fields.items() if route.body else ())
    ]
    parts = [f"`{{{', '.join(body)}}}`"] if body else []
    query = _query_of(route.handler)
    if query:
        parts.append(f"`?{'&'.join(query)}`")
    return " ".join(parts) or "-"


_QUERY = re.compile(r'(?:query\.get\(|_query\([^,()]*(?:\.request)?, |_moment\([^,()]+, )"(\w+)"')


def _query_of(handler: Callable[..., object]) -> list[str]:
    """The names that a handler reads from the query, in the order of its source."""
    return list(dict.fromkeys(_QUERY.findall(inspect.getsource(handler))))


def _first_sentence(handler: Callable[..., object]) -> str:
    told = " ".join((inspect.getdoc(handler) or "").split())
    return re.split(r"(?<=\.)\s", told, maxsplit=1)[0].replace("``", "`")


def _words(word: str, told: Mapping[Any, str]) -> str:
    kind = type(next(iter(told)))
    missing = set(kind) - set(told)
    assert not missing, f"{kind.__name__}: say what {', '.join(missing)} means in this script"
    return _table((word, "means"), ((f"`{each}`", told[each]) for each in kind))


def _codes() -> str:
    return _table(
        ("code", "status", "says"),
        ((f"`{code}`", str(text.status), f"{text.title}.") for code, text in TEXTS.items()),
    )


def _grants() -> str:
    floor = ", ".join(f"`{each}`" for each in FLOORS[True])
    return "\n\n".join(
        (
            "`ACTION` or `ACTION on OWNER/REPO` or `ACTION on OWNER/*`. `agent:run:*` covers the "
            "paths below it, `all` covers everything. What `grant add` takes: "
            + ", ".join(f"`{action}`" for action in ACTIONS)
            + ", any other `agent:run:ROLE`, and a `*` after any of these paths.",
            f"Every person holds {floor} without being given anything. `http:*` actors and "
            "schedules hold nothing but what they are given; `http:cron` holds `schedule:fire` and "
            "nothing else.",
        )
    )


def _catalog() -> str:
    return _table(
        ("name", "cron (UTC)", "does"),
        ((f"`{each.name}`", f"`{each.cron}`", each.text or "-") for each in catalog.CATALOG),
    )


def _org_settings() -> str:
    rows = [(f"`{key}`", told) for key, told in ORG_SETTINGS.items()]
    for key, ceiling in agent_limits.CEILINGS.items():
        bounds = f"{ceiling.low:,} to {ceiling.high:,}"
        rows.append(
            (f"`{key}`", f"a ceiling of an agent turn, {bounds}; default {ceiling.default:,}")
        )
    return _table(("key", "what it is"), rows)


def _limits() -> str:
    day = 24 * 3_600_000
    rows: Iterable[tuple[str, str]] = (
        ("stored schedules", f"{row.MAX_ROWS:,}"),
        ("characters of a schedule's text", f"{row.MAX_TEXT:,}"),
        ("characters of a message", f"{turns.MAX_TEXT:,}"),
        ("characters of a command over HTTP", f"{grammar.MAX_TEXT:,}"),
        ("bytes of a request's body", f"{values.MAX_BODY:,}"),
        ("rows that one swap claims", f"{claim.CLAIM_BATCH:,}"),
        ("missed minutes counted as folded", f"{due.MAX_COALESCED:,}"),
        ("how far ahead a row's base may lie before it is repaired", _ms(due.SKEW_MS)),
        ("how long a claim is `starting`", _ms(firing.STARTING_MS)),
        ("entries of a document", f"{documents.MAX_ENTRIES:,}"),
        ("bytes of a document", f"{documents.MAX_DOCUMENT_BYTES:,}"),
        ("bytes of one entry", f"{documents.MAX_VALUE_BYTES:,}"),
        ("keys that one swap may change", f"{documents.MAX_CHANGES:,}"),
        ("grants given to one actor", f"{grant.MAX_GRANTS:,}"),
        ("life of a `confirm` code", _ms(handback.LIFETIME_MS)),
        ("life of a browser session", _ms(cookie.LIFETIME_MS)),
        ("how long `POST /ingress` waits", _ms(ingress.WAIT_MS)),
        ("characters of one post", f"{base.MAX_POST:,}"),
        ("quiet after which a run counts as stalled", _ms(watchdog.STALL_MS)),
        ("times that a run is resumed", f"{watchdog.MAX_RESUMES:,}"),
        ("how long any run may live", _ms(watchdog.DEADLINE_MS)),
        ("jobs of one person that may still fire", f"{jobs_store.MAX_JOBS_PER_USER:,}"),
        ("jobs that one tick looks at", f"{jobs_store.MAX_A_TICK:,}"),
        ("characters of a job's prompt", f"{jobs_service.MAX_PROMPT:,}"),
        ("how long a job's turn may take", _ms(agent_limits.JOB_DEADLINE_S * 1000)),
        ("MCP servers of one person, and skills", f"{own.MAX_OF_A_KIND:,}"),
        ("how long a firing is kept", f"{firings.KEEP_MS // day:,} days"),
        ("firings of each schedule that are kept for good", f"{firings.KEEP_AT_LEAST:,}"),
        ("how long a tick's figures are kept", f"{ticks.KEEP_MS // day:,} days"),
    )
    return _table(("limit", "value"), rows)


def _ms(ms: int) -> str:
    for unit, size in (("hour", 3_600_000), ("minute", 60_000), ("second", 1000)):
        if ms >= size and ms % size == 0:
            count = ms // size
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return f"{ms:,} ms"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def _piped(text: str) -> str:
    """A pipe inside a table's cell."""
    return text.replace("|", "\\|")


def main(args: list[str]) -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    page = render()
    if args == ["--check"]:
        fresh = PAGE.is_file() and PAGE.read_text() == page
        print(f"{PAGE.name} is {'up to date' if fresh else 'not what scripts/reference.py writes'}")
        return 0 if fresh else 1
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
