"""The alert about clocks fires before a process is out, and while it is."""

import asyncio

from tests.domain.maintenance.wrong_clocks import off_by
from tests.observe.prometheus import Target, prometheus
from tests.observe.stack import running_stack


async def test_a_machine_has_a_wrong_clock() -> None:
    """That of the studio is three seconds behind: it still serves. That of the worker is a day ahead."""
    async with running_stack() as stack:
        studio = await asyncio.to_thread(stack.serve, "studio", **off_by("-3s"))  # pyright: ignore[reportArgumentType]
        worker = await asyncio.to_thread(stack.work, **off_by("+1d"))
        targets = [
            Target("gatepass-studio", studio.metrics_port, "serves"),
            Target("gatepass-worker", worker.metrics_port, "waits"),
        ]
        with prometheus(targets) as watching:
            await asyncio.to_thread(watching.wait_until_firing, "GatepassClockSkew", "GatepassNotReady")
            firing = watching.firing_by_cell()
        assert firing["serves"] - {"GatepassNoWorker", "GatepassNotServing"} == {"GatepassClockSkew"}
        assert {"GatepassClockSkew", "GatepassNotReady"} <= firing["waits"]
