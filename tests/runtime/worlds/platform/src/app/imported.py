"""What the import of the main module may do, as seen from inside it."""

import os
import random
import secrets
import time
import uuid
from collections.abc import Callable
from typing import Any

import js  # noqa: F401
from js import Object  # noqa: F401
from workers import env  # noqa: F401


def outcome(action: Callable[[], Any]) -> str:
    try:
        action()
    except Exception as error:
        return type(error).__name__
    return "allowed"


RANDOMNESS = {
    "os.urandom": outcome(lambda: os.urandom(4)),
    "uuid.uuid4": outcome(uuid.uuid4),
    "secrets.token_hex": outcome(secrets.token_hex),
    "random.random": outcome(random.random),
    "random.Random": outcome(lambda: random.Random(1)),
    "SystemRandom.random": outcome(lambda: random.SystemRandom().random()),
}
TIME = time.time()
