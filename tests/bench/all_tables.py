"""Every table of the benches, with names and figures as long as they get: `python -m tests.bench.all_tables`."""

from pathlib import Path

from rich.console import Console

from bench import dataset, growth, report, scan
from bench.batches import __main__ as batches
from bench.batches import speed as batch_speed
from bench.batches.million import Million
from bench.console import wide_console
from bench.imports import Figures
from bench.live import measure as live
from bench.live import speed
from bench.live.exactness import Exactness
from bench.measure import Series, Slice
from bench.pretix import figures as peer
from bench.webhooks import __main__ as webhooks
from bench.webhooks import fairness
from bench.webhooks.receipts import Latency
from tests.postgres import Cluster

BATCH_WAYS = (batch_speed.bare, batch_speed.http)
LONG = 12_345_678.9
SLICE = Slice(12_345_678, 1, LONG, LONG, LONG, 0, 0, LONG, LONG, LONG)


def print_all(console: Console) -> None:
    nowhere = Path()
    names = [
        one.name
        for one in scan.scenarios(Cluster(nowhere, nowhere, 0, None), nowhere, dataset.Dataset(nowhere, 0, 0), [])
    ]
    report.table(console, [Series(name, [SLICE]) for name in names], [])
    sizes = [
        growth.Size(
            *size, dataset.Dataset(nowhere, 0, 0), [], Series("scan", [SLICE]), Series("bare", [SLICE]), "bench_0"
        )
        for size in growth.parsed_sizes(growth.SIZES)
    ]
    growth.show(console, sizes)
    systems = [
        peer.System(name, 1_000, [peer.CostedSlice(SLICE, {"postgres": LONG})]) for name in ("pretix", "Gatepass")
    ]
    peer.table(console, systems, [])
    steps: dict[str, float] = dict.fromkeys(("receiving", "checking", "applying", "undoing"), 0.001)
    batches.show(console, [Series(name(n), [SLICE]) for n in batch_speed.CALLERS for name in BATCH_WAYS])
    Million([LONG] * 5, [LONG] * 5, 12_345_678, 0.001, 12_345_678, LONG, LONG).show(console)
    Figures(1_000_000, steps, {"studio": LONG}).show(console)
    series = [Series(name, [SLICE]) for name in (speed.WITHOUT, speed.WITH)]
    live.show(console, series, Exactness(LONG, 12_345_678, *[LONG] * 5), [])
    latencies = [Latency(name, 12_345_678, LONG, LONG, LONG) for name in (fairness.ALONE, fairness.CROWD)]
    webhooks.show_latencies(console, "the healthy endpoint, from commit to receipt", latencies, [])


if __name__ == "__main__":
    print_all(wide_console())
