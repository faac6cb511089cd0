from typing import Any

from workers import WorkflowEntrypoint


class Flow(WorkflowEntrypoint):
    """Counts each run of each of its steps in a Counter, with a pause between the two steps."""

    async def run(self, event: Any, step: Any) -> dict[str, Any]:
        name = event["payload"]["name"]
        counter = self.env.COUNTERS.getByName(name)

        @step.do("first")
        async def first() -> int:
            return await counter.mark("first")

        @step.do("second")
        async def second() -> int:
            return await counter.mark("second")

        marked = await first()
        await step.sleep("nap", event["payload"]["nap"])
        return {"first": marked, "second": await second()}
