"""Gates that scan at a steady pace, whatever they are answered."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import httpx2

from tests.faults.gates import load, scan
from tests.observe.stack import Stack
from tests.processes import GatepassProcess

GATES = 8
SECONDS_APART = 0.2


@asynccontextmanager
async def scanning(stack: Stack, server: GatepassProcess) -> AsyncGenerator[None]:
    """Each gate scans the same card again and again: one activation, then 409."""
    numbers = await load(stack.tenant, GATES)
    async with server.client((await stack.tenant.key()).text) as client:

        async def gate(number: str) -> None:
            while True:
                with suppress(httpx2.TransportError):  # the process was killed
                    await scan(client, stack.tenant, {"card_number": number})
                await asyncio.sleep(SECONDS_APART)

        gates = [asyncio.create_task(gate(number)) for number in numbers]
        try:
            yield
        finally:
            for one in gates:
                one.cancel()
            await asyncio.wait(gates)
