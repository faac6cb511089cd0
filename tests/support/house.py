"""A whole house for a test: real stores over sqlite3, everything else in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.commands.registry import Registry
from bot.ports import House, Settings
from tests.support.drive import Pause, no_pause
from tests.support.sql import MemoryDatabase
from tests.support.stores import MemoryConfig, MemoryHistory
from tests.support.world import (
    CollectingBackground,
    CountingIds,
    FakeClock,
    MemoryChannel,
    MemorySeal,
    RecordingEngine,
    ScriptedHttp,
)

SETTINGS = Settings(
    admins=frozenset({"web:root"}),
    ingress_tokens={"ci": "token-of-ci", "root": "token-of-root"},
    cron_token="token-of-cron",
    internal_key="key-of-internal",
    session_key="key-of-session",
    seal_key="key-of-seal",
)


@dataclass(frozen=True, slots=True)
class TestHouse(House):
    """A House whose ports are known to be the tests' own."""

    __test__ = False

    clock: FakeClock
    ids: CountingIds
    config: MemoryConfig
    history: MemoryHistory
    db: MemoryDatabase
    engine: RecordingEngine
    channels: Mapping[str, MemoryChannel]
    http: ScriptedHttp
    background: CollectingBackground
    seal: MemorySeal

    @property
    def web(self) -> MemoryChannel:
        """The surface ``web``, with the channels general and ops."""
        return self.channels["web"]


def make_house(pause: Pause = no_pause, **overrides: Any) -> TestHouse:
    """A fresh house; ``pause`` goes to every port, ``overrides`` are fields of ``House``.

    ``settings`` may be a mapping of single settings over ``SETTINGS``.
    """
    settings = overrides.pop("settings", SETTINGS)
    if not isinstance(settings, Settings):
        settings = replace(SETTINGS, **settings)
    house = TestHouse(
        settings=settings,
        commands=Registry(()),
        clock=FakeClock(pause=pause),
        ids=CountingIds(),
        config=MemoryConfig(pause),
        history=MemoryHistory(pause),
        db=MemoryDatabase(pause),
        engine=RecordingEngine(pause),
        channels={"web": MemoryChannel(pause=pause)},
        http=ScriptedHttp(pause=pause),
        background=CollectingBackground(),
        seal=MemorySeal(settings.seal_key),
    )
    return replace(house, **overrides)
