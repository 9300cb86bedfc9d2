"""Many seeds through one service, several at once, each with an event of its own."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from gatepass_sdk import _ed25519
from tests.gate.simulator.doorman import Doorman
from tests.gate.simulator.generator import scenario
from tests.gate.simulator.judge import Figures, judge
from tests.gate.simulator.line import KnownNetwork, Line
from tests.gate.simulator.model import Model
from tests.gate.simulator.run import Run
from tests.gate.simulator.stack import Stack
from tests.gate.simulator.violation import Violation
from tests.gate.simulator.world import World, furnish

# The journals of gates are synced to the disk at each step. What is simulated here is no power cut.
MEMORY: Final = Path("/dev/shm")  # noqa: S108  a folder of its own is made in it


@dataclass(frozen=True)
class Outcome:
    """Of one seed: its figures, or what was wrong."""

    seed: int
    figures: Figures | None = None
    violation: str | None = None


async def run_seeds(stack: Stack, seeds: Iterable[int], *, at_once: int) -> AsyncGenerator[Outcome]:
    """The outcome of each seed, as soon as it is known. Who stops asking ends the rest."""
    waiting, running = iter(seeds), set[asyncio.Task[Outcome]]()
    verify, _ed25519.verify = _ed25519.verify, verified_by_libsodium
    try:
        while True:
            while len(running) < at_once and (seed := next(waiting, None)) is not None:
                running.add(asyncio.create_task(run_seed(stack, seed)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield await task
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        _ed25519.verify = verify


def verified_by_libsodium(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """As the SDK's own in plain Python, and forty times as fast. `tests/sdk/test_ed25519.py` compares the two."""
    try:
        VerifyKey(public_key).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


async def run_seed(stack: Stack, seed: int) -> Outcome:
    drawn = scenario(seed)
    world = await furnish(stack.tenant, drawn)
    with ExitStack() as opened:
        doormen = _doormen(world, opened)
        run = Run(world, stack.calls, Model.of(drawn), doormen)
        try:
            await run.steps()
            return Outcome(seed, await judge(run, stack.reading_key))
        except Violation as found:
            return Outcome(seed, violation=f"seed {seed}: {found}")
        except AssertionError:
            print("".join(stack.server.lines[-40:]), file=sys.stderr)  # why a call got no answer that can be judged
            raise


def _doormen(world: World, opened: ExitStack) -> list[Doorman]:
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="gatepass-gates-", dir=memory)))
    doormen: list[Doorman] = []
    for n, device in enumerate(world.devices):
        line = Line(asyncio.get_running_loop(), KnownNetwork())
        doormen.append(Doorman(n, world, device, line, folder))
        opened.callback(doormen[-1].database.close)
    return doormen
