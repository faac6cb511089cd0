"""The engine's adapter over a binding that is written down; the real one is tested on workerd."""

from __future__ import annotations

import pytest

from bot.cloudflare.workflows import Workflows
from bot.ports import EngineStatus, Fault
from tests.support.drive import run


class Instance:
    def __init__(self, word):
        self.word = word
        self.told = []

    async def status(self):
        return {"status": self.word}

    async def pause(self):
        self.told.append("pause")

    async def resume(self):
        self.told.append("resume")

    async def restart(self):
        self.told.append("restart")


class Binding:
    def __init__(self, instance=None):
        self.instance = instance

    async def get(self, run_id):
        if self.instance is None:
            raise RuntimeError("instance.not_found")
        return self.instance


class TestResuming:
    @pytest.mark.parametrize("word", ["running", "waiting", "paused"])
    def test_an_instance_that_began_is_paused_and_resumed(self, word):
        instance = Instance(word)
        run(Workflows(Binding(instance)).resume("run1"))
        assert instance.told == ["pause", "resume"]

    def test_an_instance_that_died_in_the_queue_is_restarted(self):
        """A pause and a resume leave it in the queue for good."""
        instance = Instance("queued")
        run(Workflows(Binding(instance)).resume("run1"))
        assert instance.told == ["restart"]

    def test_an_instance_that_is_not_there_is_a_fault(self):
        with pytest.raises(Fault, match="run1"):
            run(Workflows(Binding()).resume("run1"))


class TestStatus:
    @pytest.mark.parametrize(
        ("word", "status"),
        [
            ("queued", EngineStatus.ALIVE),
            ("running", EngineStatus.ALIVE),
            ("complete", EngineStatus.ENDED),
            ("errored", EngineStatus.ENDED),
            ("terminated", EngineStatus.ENDED),
        ],
    )
    def test_is_folded_to_what_the_watchdog_decides_on(self, word, status):
        assert run(Workflows(Binding(Instance(word))).status("run1")) is status

    def test_of_an_unknown_instance_is_absent(self):
        assert run(Workflows(Binding()).status("run1")) is EngineStatus.ABSENT
