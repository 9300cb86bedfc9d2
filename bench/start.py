"""What `gatepass serve` costs until it is ready, for an earlier commit and for today, in turn.

The last column is the cost as a multiple of five million additions, measured after each start, because a shared machine
is not always as fast.

python -m bench.start --commit f5bf142 --rounds 5
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import cpu
from bench.against import BEFORE
from bench.console import wide_console
from bench.report import Ratio, empty_table
from bench.stack import cluster_with
from gatepass.base.encryption import new_key
from tests.drills.upgrade.versions import TODAY, Version, exported
from tests.postgres import Cluster, free_port
from tests.processes import memory, wait_until_ready

PROCESSES = {"everything": (), "the API alone": ("--only", "api")}
CPU_SECONDS = 1.0


def environment_of(version: Version, cluster: Cluster) -> dict[str, str]:
    """The settings of its processes, with a database that it has migrated."""
    environment = {
        "GATEPASS_DATABASE_URL": cluster.create_database(f"of_{version.name}"),
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
    }
    version.run(environment, "migrate")
    return environment


class Start(NamedTuple):
    """Seconds of CPU until it is ready, megabytes of memory then, and seconds of CPU for the additions."""

    seconds: float
    megabytes: float
    additions: float


def started(version: Version, environment: dict[str, str], *options: str) -> Start:
    port = free_port()
    server = version.launch(environment, "serve", "--port", str(port), *options, port=port)
    try:
        wait_until_ready(server)
        return Start(cpu.seconds([server.process.pid]), memory(server), cpu.yardstick())
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    console = wide_console()
    found: dict[tuple[str, str], list[Start]] = {}
    with tempfile.TemporaryDirectory() as folder, cluster_with(18) as cluster:
        versions = exported(options.commit, options.commit, Path(folder)), TODAY
        environments = {version: environment_of(version, cluster) for version in versions}
        for version, environment in environments.items():
            started(version, environment)  # its bytecode is written
        for _ in range(options.rounds):
            for process, arguments in PROCESSES.items():
                for version, environment in environments.items():
                    one = started(version, environment, *arguments)
                    found.setdefault((process, version.name), []).append(one)
    shown = empty_table("until ready, medians", "process", "version", "seconds of CPU", "MB of memory", "to additions")
    for (process, version), starts in found.items():
        seconds, megabytes, _ = (median(figures) for figures in zip(*starts, strict=True))
        multiple = median(start.seconds / start.additions for start in starts)
        shown.add_row(process, version, f"{seconds:.2f}", f"{megabytes:.0f}", f"{multiple:.1f}")
    console.print(shown)
    additions = median(start.additions for starts in found.values() for start in starts)
    console.print(f"Five million additions took {additions:.2f} s of CPU.")
    ratios = [
        Ratio(
            f"seconds of CPU, {process}",
            median(start.seconds for start in found[process, TODAY.name]),
            CPU_SECONDS,
            True,
        )
        for process in PROCESSES
    ]
    for ratio in ratios:
        console.print(ratio.text())
    return 0 if all(ratio.reaches() for ratio in ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
