"""Whether a tool call's arguments fit the tool's JSON schema. Pure.

The part of JSON Schema that tools are described in: types, required and unknown properties,
enums, items. What it does not know (``anyOf``, formats, bounds) is left to the tool itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from bot import strictjson
from bot.ports import Json

MAX_DEPTH = 8
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


def read_arguments(written: str) -> dict[str, Json] | str:
    """The JSON object that a model wrote as arguments, or what is wrong with it."""
    try:
        value: Json = strictjson.loads(written or "{}")
    except ValueError as error:
        return f"The arguments cannot be read as JSON: {error}."
    if not isinstance(value, dict):
        return "The arguments are no JSON object."
    return cast(dict[str, Json], value)


def misfit(schema: Mapping[str, Any], value: Json, name: str = "arguments", depth: int = 0) -> str:
    """What does not fit, in a sentence; empty where everything fits."""
    if depth > MAX_DEPTH:
        return ""
    kind = schema.get("type")
    if isinstance(kind, str) and not _is(kind, value):
        return f"{name} is no {kind}."
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in cast(list[Json], allowed):
        return f"{name} is none of {json.dumps(allowed)[:200]}."
    if isinstance(value, dict):
        return _object_misfit(schema, cast(dict[str, Json], value), name, depth)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        for at, item in enumerate(cast(list[Json], value)):
            wrong = misfit(cast(dict[str, Any], items), item, f"{name}[{at}]", depth + 1)
            if wrong:
                return wrong
    return ""


def _object_misfit(schema: Mapping[str, Any], value: dict[str, Json], name: str, depth: int) -> str:
    properties: Any = schema.get("properties")
    known = cast(dict[str, Any], properties) if isinstance(properties, dict) else {}
    required: Any = schema.get("required")
    for needed in cast(list[Any], required) if isinstance(required, list) else ():
        if needed not in value:
            return f"{name} has no {needed}."
    for key, inner in value.items():
        shape = known.get(key)
        if shape is None and schema.get("additionalProperties") is False:
            return f"{name} takes no {key[:60]!r}."
        if isinstance(shape, dict):
            wrong = misfit(cast(dict[str, Any], shape), inner, key, depth + 1)
            if wrong:
                return wrong
    return ""


def _is(kind: str, value: Json) -> bool:
    wanted = _TYPES.get(kind)
    if wanted is None:
        return True
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, wanted)
