"""The open security advisories of a repository, from GitHub's Dependabot alerts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bot.agent.github import PER_PAGE, GitHub, Subject, one_line, unreadable
from bot.authz.grants import is_repository
from bot.words import Code, Refused

MAX_SUMMARY = 160
PERMISSION = (
    'the repository permission "Dependabot alerts: read" '
    "(a classic token: the scope security_events)"
)
_URL = re.compile(r"https?://[!-;=?-~]{1,500}", re.ASCII)


class Severity(StrEnum):
    """How bad an advisory is, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Advisory:
    """One open alert. All its text is from outside, cleaned to single lines.

    ``cve`` is None for one that has no CVE, ``fixed_in`` None where no fix was released.
    """

    number: int
    package: str
    ecosystem: str
    manifest: str
    severity: Severity
    ghsa: str
    cve: str | None
    summary: str
    vulnerable_range: str
    fixed_in: str | None
    url: str


@dataclass(frozen=True, slots=True)
class Advisories:
    """A repository's open advisories, as GitHub orders them; ``cut`` where there are more."""

    repo: str
    items: tuple[Advisory, ...]
    cut: bool = False


async def advisories(github: GitHub, repo: str, *, now_ms: int) -> Advisories | Refused:
    """The open advisories of ``owner/repo``, at most ``MAX_PAGES`` pages of them.

    Returns ``bad_value`` for a name that is no repository's, and the codes of ``GitHub.call``.
    The caller has asked for authority over ``repo`` already.
    """
    if not is_repository(repo):
        return bad_repository(repo)
    subject = Subject(repo, PERMISSION)
    listing = await github.pages(
        f"/repos/{repo}/dependabot/alerts",
        subject,
        now_ms=now_ms,
        query={"state": "open", "per_page": PER_PAGE},
    )
    if isinstance(listing, Refused):
        return listing
    try:
        alerts = _ALERTS.validate_python(listing.items)
    except ValidationError:
        return unreadable(subject)
    return Advisories(repo, tuple(_advisory(alert) for alert in alerts), listing.cut)


def bad_repository(text: str) -> Refused:
    """The refusal of a text that does not name one repository."""
    return Refused(
        Code.BAD_VALUE,
        f"{one_line(text, 80)!r} is not a repository. Write OWNER/REPO, such as acme/api.",
    )


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Package(_Wire):
    ecosystem: str
    name: str


class _Dependency(_Wire):
    package: _Package
    manifest_path: str = ""


class _Identity(_Wire):
    ghsa_id: str
    cve_id: str | None = None
    summary: str = ""


class _Version(_Wire):
    identifier: str


class _Vulnerability(_Wire):
    severity: str
    vulnerable_version_range: str = ""
    first_patched_version: _Version | None = None


class _Alert(_Wire):
    number: int
    html_url: str = ""
    dependency: _Dependency
    security_advisory: _Identity
    security_vulnerability: _Vulnerability


_ALERTS = TypeAdapter(tuple[_Alert, ...])


def _advisory(alert: _Alert) -> Advisory:
    package, identity = alert.dependency.package, alert.security_advisory
    vulnerability = alert.security_vulnerability
    fixed = vulnerability.first_patched_version
    return Advisory(
        number=alert.number,
        package=one_line(package.name, 120),
        ecosystem=one_line(package.ecosystem, 40),
        manifest=one_line(alert.dependency.manifest_path, 200),
        severity=_severity(vulnerability.severity),
        ghsa=one_line(identity.ghsa_id, 40),
        cve=one_line(identity.cve_id or "", 40) or None,
        summary=one_line(identity.summary, MAX_SUMMARY),
        vulnerable_range=one_line(vulnerability.vulnerable_version_range, 80),
        fixed_in=one_line(fixed.identifier, 40) or None if fixed else None,
        url=alert.html_url if _URL.fullmatch(alert.html_url) else "",
    )


def _severity(word: str) -> Severity:
    return next((each for each in Severity if each == word), Severity.UNKNOWN)
