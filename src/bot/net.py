"""Which addresses on the outside a person may have the bot call. Pure: no name is looked up.

An address is taken only in its plainest spelling, so that no other parser reads another host in
it: no credentials, no backslash, no percent signs or numbers of other bases in the host. A name
that resolves to a private address is not seen here; who follows a redirect asks again.
"""

from __future__ import annotations

import ipaddress
import re

from bot.words import Code, Refused

MAX_URL = 2_000
PORTS = ("443", "8443")

_URL = re.compile(r"(https?)://([^/?#]+)([/?#].*)?", re.ASCII | re.IGNORECASE)
_PRINTABLE = re.compile(r"[!-\[\]-~]+", re.ASCII)
"""Visible ASCII without the backslash, which browsers read as a slash."""
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
"""A last label that URL parsers take for a number, and the whole host for an IPv4 address."""

_PRIVATE_NAMES = frozenset(
    (
        *("localhost", "localdomain", "local", "internal", "intranet", "private", "corp"),
        *("home", "lan", "arpa", "onion", "invalid"),
    )
)
_PRIVATE_V4 = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # unspecified, this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
"""Global unicast: outside it lie loopback, mapped and NAT64 addresses, ULA, link-local."""
_PRIVATE_V6 = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
]


def bad_url(url: str, *, private_ok: bool = False) -> Refused | None:
    """Whether the bot may call that address for a person; None is yes.

    ``private_ok`` takes plain http, any port, and names and addresses of the local network as
    well. Returns ``Refused(bad_url)`` that says why not.
    """
    why = _why_not(url, private_ok)
    return Refused(Code.BAD_URL, f"{url[:80]!r} is refused: {why}") if why else None


def _why_not(url: str, private_ok: bool) -> str | None:
    if len(url) > MAX_URL:
        return f"an address has at most {MAX_URL:,} characters."
    if not _PRINTABLE.fullmatch(url):
        return "an address is visible ASCII without a backslash; write other names in punycode."
    match = _URL.fullmatch(url)
    if match is None:
        return "write https://HOST/PATH."
    if match[1].lower() != "https" and not private_ok:
        return "only https is called."
    authority = match[2].lower()
    if "@" in authority:
        return "an address carries no user name or password."
    if authority.startswith("["):
        host, bracket, port = authority[1:].partition("]")
        why = _why_not_v6(host, private_ok) if bracket else "a bracket is open."
    else:
        host, colon, rest = authority.partition(":")
        port = colon + rest
        why = _why_not_host(host, private_ok)
    return why or _why_not_port(port, private_ok)


def _why_not_port(port: str, private_ok: bool) -> str | None:
    """``port`` with its colon; empty where none is written."""
    if not port:
        return None
    number = port.removeprefix(":")
    if number == port or not _PORT.fullmatch(number) or int(number) > 65_535:
        return "the port is not a number from 1 to 65535."
    if not private_ok and number not in PORTS:
        return f"the port is {' or '.join(PORTS)}, or none."
    return None


def _why_not_host(host: str, private_ok: bool) -> str | None:
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _why_not_v4(host, private_ok)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return (
            "the host is not a name; it has letters, digits, hyphens and dots, no dot at its end."
        )
    if private_ok:
        return None
    if len(labels) == 1:
        return "a host of one word lies on a local network."
    if labels[-1] in _PRIVATE_NAMES:
        return f"names under .{labels[-1]} lie on a local network."
    return None


def _why_not_v4(host: str, private_ok: bool) -> str | None:
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError:
        return "write an IPv4 address as four decimal numbers without leading zeros."
    if not private_ok and any(address in network for network in _PRIVATE_V4):
        return f"{address} is not an address on the public internet."
    return None


def _why_not_v6(host: str, private_ok: bool) -> str | None:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return "that is not an IPv6 address."
    if address.scope_id is not None:
        return "an IPv6 address names no interface."
    if private_ok:
        return None
    if address not in _PUBLIC_V6 or any(address in network for network in _PRIVATE_V6):
        return f"{address} is not an address on the public internet."
    return None
