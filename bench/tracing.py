"""What tracing costs a scan in CPU of the API: off, at 1 % and at 100 %, in one run.

    python -m bench.tracing --rounds 30

Each way has an API process of its own. They take turns wave by wave, a scan over each of 64 connections, so that their
batches are alike, however busy the machine is. All CPU of a process counts, with what it does between its waves. Spans
go to a receiver in a process of its own. The ratio is the median over the rounds.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles

from bench import cpu, dataset, report
from bench.connection import connect, post, read_answer
from bench.console import wide_console
from bench.stack import api, migrated_database
from tests.processes import GatepassProcess

OFF, SAMPLED, ALL = "not traced", "traced at 1 %", "traced at 100 %"
CONNECTIONS = 64
WAVES = 16
# At most 3 % of the CPU of a scan.
WANTED = 1.03


class Gates:
    """Connections to one process. In a wave each of them scans a ticket, and all wait for the last answer."""

    def __init__(self, process: GatepassProcess, stack: ExitStack) -> None:
        self.pid = process.process.pid
        self.failed = 0
        self._connections = [stack.enter_context(connect(process.port)) for _ in range(CONNECTIONS)]

    def wave(self, scans: Iterator[bytes]) -> None:
        for connection in self._connections:
            connection.sendall(next(scans))
        for connection in self._connections:
            self.failed += not read_answer(connection).startswith(b"HTTP/1.1 200 ")


def scans(plan: Path) -> Iterator[bytes]:
    """A request for each ticket of the plan, as `scan.lua` writes it."""
    with plan.open() as lines:
        for line in lines:
            key, event, number, _ = line.split()
            fields = {"event_id": event, "gate": "North 2", "scanner_id": "scanner-7"}
            yield post("/scan", key, f"bench-{number}", {**fields, "card_number": number.replace("_", " ")})


@contextmanager
def receiver() -> Generator[str]:
    """A receiver that takes every span and keeps none; its URL."""
    command = [sys.executable, "-m", "tests.load_receiver", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1/traces"
        finally:
            process.terminate()


def measured(options: argparse.Namespace) -> tuple[dict[str, list[float]], int, int]:
    """Microseconds of CPU a scan, by way and round; scans that failed; requests that the receiver took."""
    with ExitStack() as stack:
        _, url = stack.enter_context(migrated_database(options.postgres))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = dataset.load(url, folder, (options.rounds + 1) * 3 * WAVES * CONNECTIONS, 1)
        traces_url = stack.enter_context(receiver())
        traced = {"GATEPASS_TRACES_URL": traces_url}
        ways = {OFF: {}, SAMPLED: traced, ALL: {**traced, "GATEPASS_TRACES_RATIO": "1"}}
        served = {name: stack.enter_context(api(url, 1, **settings))[0] for name, settings in ways.items()}
        # Connected once all of them run: a process closes connections that idle for seconds.
        gates = {name: Gates(process, stack) for name, process in served.items()}
        found = _rounds(gates, scans(data.plan), options.rounds)
        with urllib.request.urlopen(traces_url.replace("/v1/traces", "/count")) as answer:
            taken = int(answer.read())
        return found, sum(one.failed for one in gates.values()), taken


def _rounds(gates: dict[str, Gates], tickets: Iterator[bytes], rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in gates}
    # The first round warms up.
    for turn in range(rounds + 1):
        before = {name: cpu.exact_seconds(one.pid) for name, one in gates.items()}
        for _ in range(WAVES):
            for one in gates.values():
                one.wave(tickets)
        for name, one in gates.items():
            if turn:
                found[name].append((cpu.exact_seconds(one.pid) - before[name]) / (WAVES * CONNECTIONS) * 1e6)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--check", action="store_true", help="fail if tracing at 1 %% costs more than is wanted")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    console = wide_console()
    found, failed, taken = measured(options)
    console.print(f"{options.rounds} rounds, {taken:,} requests to the receiver of traces; CPU of the API for a scan:")
    shown = report.empty_table("", "scans", "µs", "to not traced", "half of the rounds")
    ratios = {name: [one / off for one, off in zip(values, found[OFF], strict=True)] for name, values in found.items()}
    for name, values in found.items():
        low, middle, high = quantiles(ratios[name], n=4)
        shown.add_row(name, f"{median(values):,.1f}", f"{middle:.3f}", f"{low:.3f} to {high:.3f}")
    console.print(shown)
    wanted = report.Ratio(f"CPU of a scan, {SAMPLED} / {OFF}", median(ratios[SAMPLED]), WANTED, at_most=True, digits=3)
    console.print(wanted.text())
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "tracing.json").write_text(json.dumps({"microseconds": found, "ratios": ratios}, indent=1))
    if failed:
        console.print(f"[red]{failed} calls were refused: these figures mean nothing.")
    return 1 if failed or not taken or (options.check and not wanted.reaches()) else 0


if __name__ == "__main__":
    sys.exit(main())
