"""The ``advisories`` command: a repository's open security advisories."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from bot.agent.advisories import Advisories, Advisory, Severity, advisories, bad_repository
from bot.agent.github import GitHub
from bot.authz.grants import is_repository
from bot.commands.registry import Args, Command, Invocation, Outcome, failed, ok, refused
from bot.commands.syntax import Syntax, clause
from bot.ports import House, Json
from bot.words import Effect, Refused


async def _run(house: House, call: Invocation, args: Args) -> Outcome:
    repo = args["repo"]
    if not is_repository(repo):
        return refused(bad_repository(repo))
    github = GitHub.of(house.http, house.settings)
    found = await advisories(github, repo, now_ms=call.now_ms)
    if isinstance(found, Refused):
        return failed(found)
    worst_first = sorted(found.items, key=lambda each: (each.severity.rank, each.package.lower()))
    text = "\n".join([headline(found), *(_line(each) for each in worst_first)])
    return ok(text, [_json(each) for each in worst_first])


def headline(found: Advisories) -> str:
    """How many there are, by severity, in a sentence."""
    count = len(found.items)
    if not count:
        return f"{found.repo} has no open advisories."
    by_severity = Counter(each.severity for each in found.items)
    parts = [f"{by_severity[each]} {each}" for each in Severity if each in by_severity]
    noun = "advisory" if count == 1 else "advisories"
    if found.cut:
        return (
            f"{found.repo} has more than {count:,} open {noun}; these are the first {count:,}: "
            f"{', '.join(parts)}."
        )
    return f"{found.repo} has {count:,} open {noun}: {', '.join(parts)}."


def _line(advisory: Advisory) -> str:
    versions = f"{advisory.vulnerable_range} → {advisory.fixed_in or 'no fix yet'}"
    ids = " ".join(filter(None, (advisory.cve, advisory.ghsa)))
    package = f"- {advisory.severity} {advisory.package} {versions}"
    return " · ".join(filter(None, (package, ids, advisory.summary)))


def _json(advisory: Advisory) -> Json:
    return {**asdict(advisory), "severity": str(advisory.severity)}


COMMANDS = (
    Command(
        "advisories",
        "The open security advisories of a repository.",
        Effect.READ,
        Syntax(clauses=(clause("in", "repo"),)),
        _run,
    ),
)
