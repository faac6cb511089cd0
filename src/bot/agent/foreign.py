"""What tools from outside have in common: names, schemas and answers within bounds. Pure.

An MCP server or an OpenAPI document is somebody else's text. A model's provider refuses a whole
request for one odd name or schema, so both are made over here into what every provider takes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, cast
from urllib.parse import unquote

from bot.agent.github import one_line
from bot.ports import Json

MAX_TOOL_NAME = 64
MAX_DESCRIPTION = 600
MAX_SCHEMA = 3_000
"""Characters of one tool's parameters, as JSON."""
MAX_ANSWER = 20_000
MAX_PROPERTIES = 60
_MAX_DEPTH = 12
_MAX_NODES = 400
_ODD = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NUMBERS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems"),
)
ANYTHING: Mapping[str, Any] = {"type": "object", "properties": {}}


def tool_name(family: str, name: str, taken: Collection[str]) -> str:
    """``FAMILY__NAME`` as every model takes it, and as no other tool in ``taken`` is named.

    What is too long or taken ends in a mark made from the whole name, the same each time.
    """
    whole = f"{family}__{name}"
    plain = _ODD.sub("_", whole)
    if len(plain) <= MAX_TOOL_NAME and plain not in taken:
        return plain
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: MAX_TOOL_NAME - 9]}_{mark}"


def argument_name(name: str) -> str:
    """A parameter's name as every model takes it as a property."""
    return _ODD.sub("_", name)[:MAX_TOOL_NAME] or "_"


def described(text: Json, fallback: str) -> str:
    """A description as one bounded line."""
    line = one_line(text, MAX_DESCRIPTION) if isinstance(text, str) else ""
    return line or fallback


def cut(text: str) -> str:
    """An answer within ``MAX_ANSWER`` characters, saying how much was left out."""
    if len(text) <= MAX_ANSWER:
        return text
    return f"{text[:MAX_ANSWER]}\n({len(text) - MAX_ANSWER:,} more characters were left out.)"


def bounded_schema(schema: Json, root: Json = None) -> dict[str, Any]:
    """A JSON schema of an object, copied within bounds.

    References into ``root`` (the schema itself, unless given) are written out; one that leads
    outside, into itself or too deep becomes "anything". Keywords that are not understood, and
    values that break their own keyword, are left out. What stays over ``MAX_SCHEMA`` characters
    loses its descriptions, then all but its properties' names.
    """
    for described_too in (True, False):
        made = _object(_Copy(schema if root is None else root, described_too).of(schema))
        if len(json.dumps(made)) <= MAX_SCHEMA:
            return made
    names: list[str] = list(made["properties"])
    bare: dict[str, Any] = {**ANYTHING, "properties": {name: dict[str, Any]() for name in names}}
    return bare if len(json.dumps(bare)) <= MAX_SCHEMA else dict(ANYTHING)


def _object(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "type": "object", "properties": made.get("properties", {})}


class _Copy:
    """Copies a schema, node by node, within one budget of nodes."""

    def __init__(self, root: Json, descriptions: bool) -> None:
        self._root = root
        self._descriptions = descriptions
        self._left = _MAX_NODES

    def of(self, node: Json, inside: tuple[str, ...] = (), depth: int = 0) -> dict[str, Any]:
        """The copy; an empty schema, which takes anything, where a bound is passed."""
        self._left -= 1
        if not isinstance(node, dict) or depth > _MAX_DEPTH or self._left < 0:
            return {}
        schema = cast(dict[str, Any], node)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in inside:
                return {}
            return self.of(pointed(self._root, reference), (*inside, reference), depth + 1)
        made = _plain_keywords(schema, self._descriptions)

        def copied(child: Json) -> dict[str, Any]:
            return self.of(child, inside, depth + 1)

        properties = schema.get("properties")
        if isinstance(properties, dict):
            named = cast(dict[str, Any], properties)
            kept = [name for name in named if _PROPERTY.fullmatch(name)][:MAX_PROPERTIES]
            made["properties"] = {name: copied(named[name]) for name in kept}
            required = schema.get("required")
            if isinstance(required, list):
                made["required"] = [name for name in kept if name in cast(list[Any], required)]
        if made.get("type") == "array" or "items" in schema:
            made["items"] = copied(schema.get("items"))
        if isinstance(schema.get("additionalProperties"), bool):
            made["additionalProperties"] = schema["additionalProperties"]
        for keyword in ("anyOf", "oneOf", "allOf"):
            parts = schema.get(keyword)
            if isinstance(parts, list) and parts:
                made[keyword] = [copied(part) for part in cast(list[Any], parts)[:10]]
        return made


def _plain_keywords(schema: Mapping[str, Any], descriptions: bool) -> dict[str, Any]:
    made: dict[str, Any] = {}
    kind = _type(schema.get("type"), schema.get("nullable") is True)
    if kind is not None:
        made["type"] = kind
    if descriptions and isinstance(schema.get("description"), str):
        made["description"] = one_line(schema["description"], 300)
    values = schema.get("enum")
    if isinstance(values, list):
        plain = [each for each in cast(list[Any], values)[:50] if _is_scalar(each)]
        if plain:
            made["enum"] = plain
    if "default" in schema and _is_scalar(schema["default"]):
        made["default"] = schema["default"]
    if isinstance(schema.get("format"), str):
        made["format"] = one_line(schema["format"], 40)
    for keyword in _NUMBERS:
        value = schema.get(keyword)
        if not isinstance(value, bool) and _is_number(value):
            made[keyword] = value
    return made


def _type(value: Json, nullable: bool) -> str | list[str] | None:
    listed: list[Any] = cast(list[Any], value) if isinstance(value, list) else [value]
    kinds = [kind for kind in listed if isinstance(kind, str) and kind in _TYPES]
    if kinds and nullable and "null" not in kinds:
        kinds.append("null")
    if not kinds:
        return None
    return kinds[0] if len(kinds) == 1 else kinds


def _is_scalar(value: Json) -> bool:
    return (isinstance(value, str) and len(value) <= 200) or _is_number(value)


def _is_number(value: Json) -> bool:
    """Of a size that JSON, JavaScript and Python agree on; true and false are numbers here."""
    return isinstance(value, (int, float)) and abs(value) < 1e300


def pointed(root: Json, reference: str) -> Json:
    """What a reference within the document (``#/a/b``) points at; None for any other."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    node = root
    for part in unquote(reference[1:]).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = cast(dict[str, Any], node).get(key)
        elif isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 6:
            items = cast(list[Any], node)
            node = items[int(key)] if int(key) < len(items) else None
        else:
            return None
    return node
