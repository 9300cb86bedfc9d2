"""Both measurements in one run, and their report."""

from dataclasses import asdict

import httpx2
from rich.console import Console

from bench.live.exactness import Exactness, exactness
from bench.live.speed import ratio, speed
from bench.live.stack import TICKETS_A_SECOND, Stack, running_stack
from bench.measure import Series
from bench.report import Ratio, empty_table


def show(console: Console, series: list[Series], found: Exactness, ratios: list[Ratio]) -> None:
    shown = empty_table(
        "medians over the rounds", "scans", "a second", "p50 ms", "p99 ms", "Python µs", "PostgreSQL µs"
    )
    for one in series:
        shown.add_row(
            one.name,
            f"{one.rate:,.0f}",
            f"{(one.figure(lambda s: s.p50_us) or 0) / 1000:.1f}",
            f"{(one.figure(lambda s: s.p99_us) or 0) / 1000:.1f}",
            f"{one.figure(lambda s: s.python_us) or 0:,.0f}",
            f"{one.figure(lambda s: s.postgres_us) or 0:,.0f}",
        )
    console.print(shown)
    console.print(
        f"At {found.scans_a_second:,.0f} scans a second: {found.compared} reads equal a count of the same snapshot; "
        f"every screen was right at the end, and {found.settled_after_undo:.1f} s after undoing and cancelling. "
        f"From scan to screen: p50 {found.p50_ms:.0f} ms, p99 {found.p99_ms:.0f} ms, worst {found.worst_ms:.0f} ms; "
        f"{found.messages_a_second:.1f} messages a second to each screen."
    )
    for one in ratios:
        console.print(one.text())


def disagreements(stack: Stack) -> int:
    """How often a full count differed from the studio's figures, by its metrics."""
    port = stack.studio.metrics_port
    text = httpx2.get(f"http://127.0.0.1:{port}/metrics").text
    (line,) = (line for line in text.splitlines() if line.startswith("gatepass_live_disagreements_total "))
    return int(float(line.split()[1]))


def measure(
    console: Console, *, postgres: int, screens: int, rounds: int, seconds: int, load_seconds: int
) -> tuple[list[Ratio], dict[str, object]]:
    count = TICKETS_A_SECOND * (2 * rounds * seconds + load_seconds + seconds)
    with running_stack(postgres, count) as stack:
        stack.scan(seconds)  # plans, caches, connections
        found = exactness(stack, screens, load_seconds)
        series = speed(stack, screens, rounds, seconds)
        wrong = disagreements(stack)
    ratios = [ratio(series), Ratio("p99 from scan to screen, s", found.p99_ms / 1000, 1.0, at_most=True)]
    show(console, series, found, ratios)
    if wrong:
        raise AssertionError(f"{wrong} counts differ from what the screens showed")
    if failed := sum(one.failed for each in series for one in each.slices):
        raise AssertionError(f"{failed} calls were refused or broken: these figures mean nothing")
    return ratios, {"exactness": asdict(found), "series": [asdict(one) for one in series]}
