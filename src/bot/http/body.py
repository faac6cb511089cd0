"""JSON bodies: read strictly, and refused in one sentence that names the field."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.http.values import MAX_BODY
from bot.strictjson import loads
from bot.words import Code, Refused

MAX_NAMED = 5
"""Problems that one refusal names; the rest are counted."""


class StrictBody(BaseModel):
    """A request's body: no coercion, no field that is not declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    non_finite: ClassVar[bool] = False
    """Whether NaN and Infinity are read as numbers, for a service that says what is wrong."""


Body = TypeVar("Body", bound=StrictBody)


def read_body(model: type[Body], raw: bytes) -> Body | Refused:
    """The JSON object in ``raw`` as ``model``; an empty body is an empty object.

    Returns ``too_large`` over 256 KiB, and ``bad_request`` for what is not JSON, not an
    object, has an unknown field, lacks one or gives one a wrong type.
    """
    if len(raw) > MAX_BODY:
        return too_large()
    try:
        data: Any = loads(raw.decode(), non_finite=model.non_finite) if raw.strip() else {}
    except ValueError:
        return Refused(Code.BAD_REQUEST, "The body is not JSON.")
    if not isinstance(data, dict):
        return Refused(Code.BAD_REQUEST, "The body is JSON, but not an object.")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        return Refused(Code.BAD_REQUEST, _sentence(model, error))


def too_large() -> Refused:
    """The refusal of a body over its limit."""
    return Refused(Code.TOO_LARGE, f"A request's body may have {MAX_BODY // 1024} KiB.")


def _sentence(model: type[BaseModel], error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    named = [_problem(problem["type"], problem["loc"], problem["msg"]) for problem in problems]
    more = len(named) - MAX_NAMED
    told = "; ".join(named[:MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")
    hint = ""
    if any(problem["type"] == "extra_forbidden" for problem in problems):
        fields = [field.alias or name for name, field in model.model_fields.items()]
        hint = f" The fields are {', '.join(fields)}." if fields else " It takes no fields."
    return f"The body is refused: {told}.{hint}"


def _problem(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in loc)[:80]
    if kind == "extra_forbidden":
        return f"unknown field {where!r}"
    if kind == "missing":
        return f"{where} is missing"
    return f"{where}: {message[:1].lower()}{message[1:]}"
