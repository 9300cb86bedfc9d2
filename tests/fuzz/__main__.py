"""A million malformed requests and uploads against a running server: no fault, no growth, no delay for others.

    python -m tests.fuzz --requests 1000000 [--seed N] [--clients 2]
    python -m tests.fuzz --seed N --show CLIENT:NUMBER     # the bytes of one request of that run

Each request is made of its seed, its client and its number. A run prints its seed, and where a fault came from.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from rich.table import Table

from bench.console import wide_console
from tests.fuzz.corpus import Corpus
from tests.fuzz.kinds import KINDS, request
from tests.fuzz.pools import fill
from tests.fuzz.run import Result, Size, run
from tests.fuzz.stack import running_stack
from tests.size import seed_of_run


def table_of(result: Result) -> Table:
    statuses = sorted({status for counts in result.counts.values() for status in counts})
    table = Table("kind", "requests", *statuses)
    for kind in KINDS:
        counts = result.counts.get(kind, {})
        table.add_row(
            kind,
            f"{sum(counts.values()):,}",
            *(f"{counts[status]:,}" if status in counts else "" for status in statuses),
        )
    return table


def show(result: Result) -> None:
    console = wide_console()
    console.print(table_of(result))
    console.print(
        f"{result.total:,} requests in {result.seconds:.0f} s, {result.total / result.seconds:,.0f} a second\n"
        f"memory {result.memory[0]:.0f} MB after the beginning, {result.memory[1]:.0f} MB at the end\n"
        f"p99 of another organization's scans: {result.delay}"
    )


async def fuzz(options: argparse.Namespace) -> Result:
    size = Size(options.requests, options.seconds, options.clients, options.window, options.drawn)
    with tempfile.TemporaryDirectory() as folder:
        async with running_stack() as stack:
            return await run(stack, size, options.seed, Path(folder))


async def one_request(options: argparse.Namespace) -> bytes:
    client, _, number = options.show.partition(":")
    pools = fill(options.seed, options.drawn)
    async with running_stack() as stack:
        return request(int(number), options.seed, int(client), Corpus(stack.facts), pools)[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=1_000_000)
    arguments.add_argument("--seconds", type=float, default=3600.0, help="it stops after these, whatever was sent")
    arguments.add_argument("--clients", type=int, default=2)
    arguments.add_argument("--seed", type=int, default=seed_of_run())
    arguments.add_argument("--window", type=float, default=5.0, help="seconds of a measurement of scans")
    arguments.add_argument("--drawn", type=int, default=800, help="values drawn from each generator")
    arguments.add_argument("--show", help="CLIENT:NUMBER of a request to print instead")
    options = arguments.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.show:
        print(asyncio.run(one_request(options)))
        return
    result = asyncio.run(fuzz(options))
    show(result)
    missing = [kind for kind in KINDS if not result.counts.get(kind)]
    problems = [*result.problems(), *(f"no request of the kind {kind}" for kind in missing)]
    raise SystemExit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
