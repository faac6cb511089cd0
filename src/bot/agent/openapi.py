"""An OpenAPI document read into operations that an agent can call. Pure.

A skill is a document of OpenAPI 3 in JSON. It is read once, when it is added; what is kept is
bounded, has its references written out, and names where each call goes. Only ``GET`` is kept
unless the owner allowed the skill to write.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast
from urllib.parse import urljoin

from pydantic import BaseModel, ConfigDict, TypeAdapter

from bot.agent.foreign import bounded_schema, described
from bot.agent.github import one_line
from bot.agent.openapi_parts import (
    LeftOut,
    Node,
    Parameter,
    body_of,
    items_of,
    node_of,
    parameters_of,
    resolved,
)
from bot.net import bad_url
from bot.strictjson import loads
from bot.words import Code, Refused

MAX_DOCUMENT_BYTES = 512 * 1024
MAX_OPERATIONS = 40
MAX_LISTED = 400
"""Operations of a document that are looked at."""
MAX_STORED = 100_000
"""Characters that one skill's operations may take in the database."""
METHODS = ("get", "post", "put", "patch", "delete")
READING = "GET"
_VERSION = re.compile(r"3\.[0-9]{1,3}(\.[0-9]{1,3})?", re.ASCII)
_TEMPLATE = re.compile(r"\{([^{}/]{1,100})\}")


class Operation(BaseModel):
    """One operation, as it is kept and called. ``base`` has no slash at its end."""

    model_config = ConfigDict(frozen=True)

    name: str
    method: str
    base: str
    path: str
    description: str
    parameters: tuple[Parameter, ...]
    body: str | None
    """The argument that is the request's body."""
    body_type: str
    body_required: bool
    schema_: dict[str, Any]


OPERATIONS = TypeAdapter(tuple[Operation, ...])


@dataclass(frozen=True, slots=True)
class Skill:
    """A document that was read: ``left_out`` says what cannot be called, and why."""

    title: str
    hash: str
    operations: tuple[Operation, ...]
    left_out: tuple[str, ...]


def read_document(text: str, url: str, *, writes: bool, private_ok: bool) -> Skill | Refused:
    """The document at ``url`` as a skill, or ``bad_document`` with what is wrong.

    ``private_ok`` as in ``bot.net.bad_url``, which judges the servers that the document names.
    """
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_DOCUMENT_BYTES:
        return _bad(f"it is over {MAX_DOCUMENT_BYTES // 1024} KiB")
    try:
        document: Any = loads(text)
    except ValueError:
        return _bad(
            "it is not JSON; a document in YAML is not read, so give the address of its JSON"
        )
    if not isinstance(document, dict):
        return _bad("it is JSON, but not an object")
    root = cast(Node, document)
    version = root.get("openapi")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        return _bad("it is not OpenAPI 3: its member openapi is not 3.x")
    base = _base(root, url, private_ok)
    if isinstance(base, Refused):
        return base
    operations, left_out = _operations(root, url, base, writes, private_ok)
    if not operations:
        reads = "" if writes else " by GET (other methods need: skill add NAME URL writes)"
        return _bad(f"it has no operation that can be called{reads}{_first(left_out)}")
    title = node_of(root.get("info")).get("title")
    named = one_line(title, 120) if isinstance(title, str) else ""
    return Skill(named, hashlib.sha256(raw).hexdigest(), tuple(operations), tuple(left_out))


def _operations(
    root: Node, url: str, base: str, writes: bool, private_ok: bool
) -> tuple[list[Operation], list[str]]:
    kept: list[Operation] = []
    left_out: list[str] = []
    size = 0
    for path, method, item in islice(_listed(root), MAX_LISTED):
        label = f"{method.upper()} {one_line(path, 80)}"
        try:
            if method != "get" and not writes:
                raise LeftOut("it writes")
            if len(kept) >= MAX_OPERATIONS:
                raise LeftOut("there are too many")
            operation = _operation(root, url, base, path, method, item, private_ok)
            size += len(operation.model_dump_json())
            if size > MAX_STORED:
                raise LeftOut("there is too much before it")
            kept.append(operation)
        except LeftOut as why:
            left_out.append(f"{label}: {why}")
    return kept, left_out


def _listed(root: Node) -> Iterator[tuple[str, str, Node]]:
    """Every path, method and path item, in the document's order."""
    for path, value in node_of(root.get("paths")).items():
        item = resolved(root, value)
        for method in METHODS:
            if path.startswith("/") and isinstance(item.get(method), dict):
                yield path, method, item


def _operation(
    root: Node, url: str, base: str, path: str, method: str, item: Node, private_ok: bool
) -> Operation:
    said = node_of(item[method])
    for level in (item, said):
        if "servers" in level:
            own = _base(level, url, private_ok)
            if isinstance(own, Refused):
                raise LeftOut("its server's address is refused")
            base = own
    parameters, properties = parameters_of(root, item, said)
    declared = {each.name for each in parameters if each.place == "path"}
    if set(_TEMPLATE.findall(path)) != declared:
        raise LeftOut("its path and its path parameters do not agree")
    body, body_type, body_required = None, "", False
    content = body_of(root, said)
    if content is not None:
        body = "body" if "body" not in properties else "request_body"
        properties[body], body_type, body_required = content
    required = [each.argument for each in parameters if each.required]
    shape = {
        "type": "object",
        "properties": properties,
        "required": [*required, body] if body and body_required else required,
        "additionalProperties": False,
    }
    own_name = said.get("operationId")
    return Operation(
        name=own_name if isinstance(own_name, str) and own_name else f"{method}_{path}",
        method=method.upper(),
        base=base,
        path=path,
        description=described(
            said.get("summary") or said.get("description"), f"{method.upper()} {one_line(path, 80)}"
        ),
        parameters=tuple(parameters),
        body=body,
        body_type=body_type,
        body_required=body_required,
        schema_=bounded_schema(shape, root),
    )


def _base(level: Node, url: str, private_ok: bool) -> str | Refused:
    """Where the first server of a document, a path or an operation lies."""
    server = next(iter(items_of(level.get("servers"))), {"url": "/"})
    written = node_of(server).get("url")
    if not isinstance(written, str):
        return _bad("its server has no address")
    variables = node_of(node_of(server).get("variables"))

    def default(match: re.Match[str]) -> str:
        value = node_of(variables.get(match[1])).get("default")
        return value if isinstance(value, str) else match[0]

    try:
        base = urljoin(url, _TEMPLATE.sub(default, written)).rstrip("/")
    except ValueError:
        return _bad("its server's address cannot be read")
    refusal = bad_url(base, private_ok=private_ok)
    if refusal is not None:
        return Refused(refusal.code, f"The document's server: {refusal.detail}")
    if re.search(r"[?#{}]", base):
        return _bad("its server's address has more than a host and a path")
    return base


def _first(left_out: list[str]) -> str:
    return f". The first is left out: {left_out[0]}" if left_out else ""


def _bad(why: str) -> Refused:
    return Refused(Code.BAD_DOCUMENT, f"The document is refused: {why}.")


def stored(operations: tuple[Operation, ...]) -> str:
    """Operations as the database keeps them."""
    return json.dumps([each.model_dump() for each in operations], separators=(",", ":"))
