"""From 0.2.0 to today, side by side, under gates that scan and readers that hold locks; and once from 0.1, stopped.

    python -m tests.drills.upgrade [--held 5] [--only-side-by-side]

Every migration since 0.2.0 runs while all tables are read for `--held` seconds.
"""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.table import Table

from bench.console import wide_console
from tests.drills.upgrade.drill import UpgradeDrill, install, stop_migrate_start
from tests.drills.upgrade.versions import exported, first_commit_of
from tests.postgres import start_cluster
from tests.processes import GatepassProcess
from tests.size import NIGHT

LONGEST_GAP = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--only-side-by-side", action="store_true")
    options = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="gatepass-upgrade-")))
        cluster = start_cluster(15)
        opened.callback(cluster.stop)
        commit = first_commit_of("0.2.0")
        if not options.only_side_by_side:
            version = exported("0.1", f"{commit}~2", folder)  # the commit between them only moves files
            installed = install(cluster, version, cards=20)
            stopped = stop_migrate_start(installed, version, lambda one: _kill_at_the_end(opened, one))
            print(f"from 0.1: stop, migrate, start: {stopped:.1f} s without an answer, nothing lost, keys known")
        version = exported("0.2.0", commit, folder)
        side_by_side(UpgradeDrill(install(cluster, version), version, opened, options.held))


def side_by_side(drill: UpgradeDrill) -> None:
    load, judgement = drill.run()
    table = Table("step", "took", "longest gap")
    for step in drill.steps:
        table.add_row(step.name, f"{step.seconds:.1f} s", f"{step.gap:.2f} s")
    wide_console().print(table)
    print(
        f"from 0.2.0, side by side: {len(load.acknowledged):,} activated, {load.refused:,} refused, "
        f"{load.retried:,} tried again; longest gap {max(step.gap for step in drill.steps):.2f} s"
    )
    assert not judgement, judgement
    assert load.refused > 0
    if NIGHT:
        assert all(step.gap < LONGEST_GAP for step in drill.steps), f"longer than {LONGEST_GAP} s without an answer"


def _kill_at_the_end(opened: ExitStack, process: GatepassProcess) -> None:
    opened.callback(lambda: process.is_alive() and process.kill())


if __name__ == "__main__":
    main()
