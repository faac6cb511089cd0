"""An object's client over its own routes in this process: the crossings as in production."""

from __future__ import annotations

from collections.abc import Callable

from bot.objects import Reply
from config_do import routes as config_routes
from config_do.documents import Documents
from schedule_do import routes as schedule_routes
from schedule_do.routes import Schedules
from tests.support.sql import MemorySql

Answer = Callable[[str, str, str | None], Reply]


class LocalObject:
    """A namespace of one object. ``calls`` lists what came in, ``broken`` makes every call fail."""

    def __init__(self, answer: Answer):
        self._answer = answer
        self.broken = False
        self.calls: list[tuple[str, str, int]] = []

    def getByName(self, name: str) -> LocalObject:  # noqa: N802
        return self

    async def handle(self, method: str, path: str, body: str | None) -> str:
        if self.broken:
            raise RuntimeError("Traceback (most recent call last): ...")
        reply = self._answer(method, path, body)
        self.calls.append((method, path, reply.status))
        return reply.crossing()


def config_object() -> LocalObject:
    documents = Documents(MemorySql())
    return LocalObject(
        lambda method, path, body: config_routes.answer(documents, method, path, body)
    )


def schedule_object() -> LocalObject:
    schedules = Schedules(MemorySql())
    return LocalObject(
        lambda method, path, body: schedule_routes.answer(schedules, method, path, body)
    )
