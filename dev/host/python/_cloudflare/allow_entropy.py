"""No randomness outside a request, except where a package's import is known to need some.

The SDK's patches name those packages and count their calls; the host answers them with a constant.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import _local_entropy  # type: ignore[import-not-found]

_state = {"in_request": True}


def in_request() -> bool:
    """Tell whether randomness is allowed."""
    return _state["in_request"]


def refusal(name: str) -> OSError:
    """Return the error for a call of `name` outside a request."""
    return OSError(
        errno.EIO,
        f"{name}: no randomness outside a request (the main module is imported outside one)",
    )


def guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises outside a request and afterwards is the given one."""

    @wraps(function)
    def guard(*args: Any, **kwargs: Any) -> Any:
        if not in_request() and not _local_entropy.allowed:
            raise refusal(name)
        return function(*args, **kwargs)

    return guard


def refuse() -> None:
    """Refuse randomness until `allow`."""
    _state["in_request"] = False
    os.urandom = guarded("os.urandom", os.urandom)


def allow() -> None:
    """Allow randomness: a request is here."""
    _state["in_request"] = True
    os.urandom = os.urandom.__wrapped__  # type: ignore[attr-defined]


@contextmanager
def allow_bad_entropy_calls(count: int) -> Iterator[None]:
    """Answer exactly `count` calls for randomness inside the block."""
    before = _local_entropy.allowed
    _local_entropy.allowed = count
    yield
    left = _local_entropy.allowed
    _local_entropy.allowed = before
    if left:
        raise RuntimeError(f"{left} allowed calls for randomness were not made")
