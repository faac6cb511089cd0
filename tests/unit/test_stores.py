"""Every implementation of a store keeps its contract; the runtime tests run the same suites."""

import pytest

from bot.ports import ConfigStore, HistoryStore, Seal
from config_do.client import ConfigClient
from schedule_do.client import ScheduleClient
from tests.support.contracts import ConfigStoreContract, HistoryStoreContract, SealContract
from tests.support.objects import config_object, schedule_object
from tests.support.stores import MemoryConfig, MemoryHistory
from tests.support.world import MemorySeal


class TestMemoryConfig(ConfigStoreContract):
    @pytest.fixture
    def store(self) -> ConfigStore:
        return MemoryConfig()


class TestConfigClient(ConfigStoreContract):
    @pytest.fixture
    def store(self) -> ConfigStore:
        return ConfigClient(config_object(), cache={})


class TestMemoryHistory(HistoryStoreContract):
    @pytest.fixture
    def store(self) -> HistoryStore:
        return MemoryHistory()


class TestScheduleClient(HistoryStoreContract):
    @pytest.fixture
    def store(self) -> HistoryStore:
        return ScheduleClient(schedule_object())


class TestMemorySeal(SealContract):
    @pytest.fixture
    def seal(self) -> Seal:
        return MemorySeal("one")

    @pytest.fixture
    def other(self) -> Seal:
        return MemorySeal("another")

    @pytest.fixture
    def keyless(self) -> Seal:
        return MemorySeal("")
