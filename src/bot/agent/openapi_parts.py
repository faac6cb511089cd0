"""The parts of an OpenAPI operation: its references, parameters and body. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from bot.agent.foreign import argument_name, pointed
from bot.agent.github import one_line
from bot.ports import Json

MAX_PARAMETERS = 60
_MAX_REFERENCES = 8
_OURS = frozenset(
    (
        *("accept", "authorization", "connection", "content-length", "content-type", "cookie"),
        *("expect", "host", "idempotency-key", "keep-alive", "origin", "referer", "te"),
        *("trailer", "transfer-encoding", "upgrade", "user-agent", "via"),
    )
)
"""Headers that no argument sets; the specification names three of them too."""
_OURS_BY_PREFIX = ("cf-", "proxy-", "sec-", "x-forwarded-")

Node = Mapping[str, Any]


class Parameter(BaseModel):
    """One argument of an operation: as the agent names it, and where the request carries it."""

    model_config = ConfigDict(frozen=True)

    argument: str
    name: str
    place: Literal["path", "query", "header"]
    form: Literal["plain", "explode", "deep", "json"]
    """How a list or an object is written; see ``openapi_call``."""
    required: bool


class LeftOut(Exception):
    """Why an operation cannot be called."""


def parameters_of(
    root: Node, item: Node, said: Node
) -> tuple[list[Parameter], dict[str, dict[str, Any]]]:
    """The parameters of a path item and its operation, which overrides, and their schemas.

    Raises LeftOut where the operation cannot be called without what cannot be written.
    """
    found: dict[tuple[str, str], Node] = {}
    for level in (item, said):
        listed = items_of(level.get("parameters"))
        if len(listed) > MAX_PARAMETERS:
            raise LeftOut("it has too many parameters")
        for value in listed:
            node = resolved(root, value)
            name, place = node.get("name"), node.get("in")
            if isinstance(name, str) and name and isinstance(place, str):
                found[place, name] = node
            else:
                raise LeftOut("one of its parameters cannot be read")
    made: list[Parameter] = []
    schemas: dict[str, dict[str, Any]] = {}
    for (place, name), node in found.items():
        required = node.get("required") is True or place == "path"
        form = _form(node, place)
        if place == "header" and _is_ours(name):
            continue
        if place not in ("path", "query", "header") or form is None:
            if required:
                raise LeftOut(f"its parameter {one_line(name, 40)} is of an unknown kind")
            continue
        argument = argument_name(name)
        if argument in schemas:
            argument = argument_name(f"{place}_{name}")
        if argument in schemas:
            raise LeftOut("two of its parameters have one name")
        parameter = Parameter(
            argument=argument, name=name, place=place, form=form, required=required
        )
        made.append(parameter)
        schemas[argument] = _schema(root, node)
    return made, schemas


def _form(node: Node, place: str) -> Literal["plain", "explode", "deep", "json"] | None:
    if "content" in node:
        return "json" if "application/json" in node_of(node["content"]) else None
    style = node.get("style", "form" if place == "query" else "simple")
    explode = node.get("explode", style == "form") is True
    if place == "query" and style == "form":
        return "explode" if explode else "plain"
    if place == "query" and style == "deepObject":
        return "deep"
    return "plain" if place != "query" and style == "simple" else None


def _schema(root: Node, node: Node) -> dict[str, Any]:
    schema = node.get("schema")
    if "content" in node:
        schema = node_of(node_of(node["content"]).get("application/json")).get("schema")
    shape = dict(resolved(root, schema))
    return {**shape, "description": node["description"]} if "description" in node else shape


def body_of(root: Node, said: Node) -> tuple[dict[str, Any], str, bool] | None:
    """The schema, media type and need of a JSON body; None where there is none.

    Raises LeftOut where a body is needed that is not JSON.
    """
    if "requestBody" not in said:
        return None
    node = resolved(root, said["requestBody"])
    content, required = node_of(node.get("content")), node.get("required") is True
    for media, value in content.items():
        plain = media.partition(";")[0].strip().lower()
        if plain in ("application/json", "*/*", "application/*") or plain.endswith("+json"):
            concrete = "application/json" if "*" in plain else plain
            return dict(resolved(root, node_of(value).get("schema"))), concrete, required
    if required:
        raise LeftOut("its body is not JSON")
    return None


def _is_ours(name: str) -> bool:
    plain = name.lower()
    return plain in _OURS or plain.startswith(_OURS_BY_PREFIX)


def resolved(root: Node, value: Json) -> Node:
    """An object, its references followed; an empty one for anything else."""
    for _ in range(_MAX_REFERENCES):
        reference = node_of(value).get("$ref")
        if not isinstance(reference, str):
            break
        value = pointed(root, reference)
    return {} if "$ref" in node_of(value) else node_of(value)


def node_of(value: Json) -> Node:
    """The value where it is an object, else an empty one."""
    return cast(Node, value) if isinstance(value, dict) else {}


def items_of(value: Json) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []
