"""Every command of contract §5: its syntax and the usage line that the contract prints."""

from dataclasses import dataclass

from bot.commands.grammar import (
    Arg,
    Kind,
    Syntax,
    body,
    clause,
    flag,
    line,
    option,
    option_line,
    option_list,
    quoted,
    word,
    words,
)


@dataclass(frozen=True)
class Entry:
    """A command as the grammar sees it."""

    name: str
    usage: str
    syntax: Syntax


WHEN = ("every 30m", "every 2h", "daily at 09:00", "in 45 minutes")
NAME = Syntax((word("name"),))
ID = Syntax((word("id"),))
NOTHING = Syntax()

COMMANDS = (
    Entry(
        "schedule add",
        'schedule add NAME "CRON" in CHANNEL [thread new|standing] [zone ZONE] [window 2h] '
        "[grants G, G, ...]: TEXT",
        Syntax(
            (word("name"), quoted("cron")),
            (
                clause("in", "channel", "CHANNEL"),
                option("thread", shown="new|standing"),
                option("zone"),
                option("window", shown="2h"),
                option_list("grants", "G, G, ..."),
            ),
            body("text"),
        ),
    ),
    Entry("schedule remove", "schedule remove NAME", NAME),
    Entry("schedule fire", "schedule fire NAME", NAME),
    Entry(
        "schedule pause",
        "schedule pause NAME [because REASON]",
        Syntax((word("name"),), (option_line("because", "reason"),)),
    ),
    Entry("schedule resume", "schedule resume NAME", NAME),
    Entry("schedule list", "schedule list", NOTHING),
    Entry("schedule show", "schedule show NAME", NAME),
    Entry(
        "schedule preview",
        'schedule preview "CRON" [zone ZONE]',
        Syntax((quoted("cron"),), (option("zone"),)),
    ),
    Entry(
        "job add",
        "job add NAME every 30m|every 2h|daily at 09:00|in 45 minutes: PROMPT",
        Syntax((word("name"), words("when", forms=WHEN)), body=body("prompt", may_be_empty=True)),
    ),
    Entry("job list", "job list", NOTHING),
    Entry("job delete", "job delete ID", ID),
    Entry("memory list", "memory list", NOTHING),
    Entry("memory forget", "memory forget ID", ID),
    Entry("mcp add", "mcp add NAME URL", Syntax((word("name"), word("url")))),
    Entry("mcp list", "mcp list", NOTHING),
    Entry("mcp remove", "mcp remove NAME", NAME),
    Entry(
        "skill add",
        "skill add NAME URL [writes]",
        Syntax((word("name"), word("url")), (flag("writes"),)),
    ),
    Entry("skill list", "skill list", NOTHING),
    Entry("skill remove", "skill remove NAME", NAME),
    Entry("link telegram", "link telegram", NOTHING),
    Entry("config get", "config get [KEY]", Syntax((word("key", optional=True),))),
    Entry("config set", "config set KEY VALUE", Syntax((word("key"), line("value")))),
    Entry("config unset", "config unset KEY", Syntax((word("key"),))),
    Entry("grant list", "grant list [ACTOR]", Syntax((word("actor", optional=True),))),
    Entry("grant add", "grant add ACTOR GRANT", Syntax((word("actor"), words("grant")))),
    Entry("grant remove", "grant remove ACTOR GRANT", Syntax((word("actor"), words("grant")))),
    Entry(
        "agent:run",
        "agent:run ROLE in REPO: ASK",
        Syntax((word("role"),), (clause("in", "repo", "REPO"),), body("ask")),
    ),
    Entry(
        "agent:ship",
        "agent:ship in REPO: plan PATH",
        Syntax((), (clause("in", "repo", "REPO"),), body("path", prefix="plan")),
    ),
    Entry("advisories", "advisories in REPO", Syntax((), (clause("in", "repo", "REPO"),))),
    Entry("run list", "run list", NOTHING),
    Entry("run show", "run show ID", ID),
    Entry("run cancel", "run cancel ID", ID),
    Entry("confirm", "confirm CODE", Syntax((word("code"),))),
    Entry("whoami", "whoami", NOTHING),
    Entry(
        "help",
        "help [COMMAND]",
        Syntax((Arg("command", "COMMAND", Kind.COMMAND, optional=True),)),
    ),
)

BY_NAME = {entry.name: entry for entry in COMMANDS}
