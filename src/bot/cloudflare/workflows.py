"""``bot.ports.RunEngine`` over a Workflow binding: an instance a run, its id the run's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.ports import EngineStatus, Fault

BATCH = 100
"""Instances that one call creates at most."""

_ENDED = frozenset({"complete", "errored", "terminated"})
_ABSENT = "instance.not_found"
_QUEUED = "queued"


class Workflows:
    """Carries admitted runs to their end."""

    def __init__(self, binding: Any):
        self._workflow = binding

    async def start(self, run_ids: Sequence[str]) -> None:
        """Start a run each; the platform leaves an id that exists alone. Raises Fault."""
        for start in range(0, len(run_ids), BATCH):
            batch = [
                {"id": run_id, "params": {"run_id": run_id}}
                for run_id in run_ids[start : start + BATCH]
            ]
            try:
                await self._workflow.create_batch(batch)
            except Exception as error:
                raise Fault(f"workflows: {error}") from error

    async def status(self, run_id: str) -> EngineStatus:
        """Whether the run's instance exists and lives. Raises Fault."""
        try:
            instance = await self._workflow.get(run_id)
            word = (await instance.status())["status"]
        except Exception as error:
            if _ABSENT in str(error):
                return EngineStatus.ABSENT
            raise Fault(f"workflow {run_id}: {error}") from error
        return EngineStatus.ENDED if word in _ENDED else EngineStatus.ALIVE

    async def resume(self, run_id: str) -> None:
        """Set a stalled instance going again; finished steps are not repeated. Raises Fault.

        An instance whose process died still says that it runs, and only a pause lets it resume.
        One that died in the queue has no step behind it, and only a restart lets it begin.
        """
        try:
            instance = await self._workflow.get(run_id)
            if (await instance.status())["status"] == _QUEUED:
                await instance.restart()
            else:
                await instance.pause()
                await instance.resume()
        except Exception as error:
            raise Fault(f"workflow {run_id}: {error}") from error

    async def stop(self, run_id: str) -> None:
        """End an instance between steps; one that is not there or has ended is left alone.

        Raises Fault.
        """
        if await self.status(run_id) is not EngineStatus.ALIVE:
            return
        try:
            instance = await self._workflow.get(run_id)
            await instance.terminate()
        except Exception as error:
            raise Fault(f"workflow {run_id}: {error}") from error
