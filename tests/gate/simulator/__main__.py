"""Gates that lose the network, simulated through the real service: `python -m tests.gate.simulator --seeds 1000`.

A seed that fails is printed, and `--from SEED --seeds 1` runs it again.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from gatepass.base import log
from tests.gate.simulator.judge import Figures
from tests.gate.simulator.seeds import run_seeds
from tests.gate.simulator.stack import started

EVERY = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.gate.simulator")
    parser.add_argument("--seeds", type=int, default=1_000, help="how many")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first of them")
    parser.add_argument("--at-once", type=int, default=8, help="seeds that run at the same time")
    given = parser.parse_args()
    log.configure("error", "json")
    return asyncio.run(simulate(range(given.first, given.first + given.seeds), given.at_once))


async def simulate(seeds: Sequence[int], at_once: int) -> int:
    figures: list[Figures] = []
    violations: list[str] = []
    async with started() as stack:
        begun = time.monotonic()
        async for outcome in run_seeds(stack, seeds, at_once=at_once):
            if outcome.figures:
                figures.append(outcome.figures)
            if outcome.violation:
                violations.append(outcome.violation)
                print(outcome.violation, flush=True)
            if (done := len(figures) + len(violations)) % EVERY == 0:
                print(f"{done} seeds after {time.monotonic() - begun:.0f} s", flush=True)
    print(summary(figures, len(violations), time.monotonic() - begun))
    return 1 if violations else 0


def summary(figures: Sequence[Figures], failed: int, seconds: float) -> str:
    scans, offline = sum(one.scans for one in figures), sum(one.offline for one in figures)
    return (
        f"{len(figures) + failed:,} seeds in {seconds:.0f} s, {failed} failed: {scans:,} scans at 20 gates each, "
        f"{offline:,} of them decided without the service, {sum(one.admissions for one in figures):,} admissions, "
        f"{sum(one.doubles for one in figures):,} second ones, all reported; "
        f"{sum(one.incidents for one in figures):,} incidents."
    )


if __name__ == "__main__":
    sys.exit(main())
