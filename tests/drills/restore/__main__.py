"""The database is lost under scanning gates, and restored to random moments: no acknowledged activation is missing.

    python -m tests.drills.restore [--moments 5] [--seconds 40] [--seed N]

A run prints its seed. With several moments, the end of the archive comes after them, as if all were lost but it.
"""

import argparse
import random
import statistics
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from rich.table import Table

from bench.console import wide_console
from tests.drills.restore.archive import ArchivedCluster
from tests.drills.restore.drill import Restored, RestoreDrill
from tests.receivers import receiver_process
from tests.size import seed_of_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--seed", type=int, default=seed_of_run())
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rng = random.Random(options.seed)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="gatepass-drill-")))
        receiver = opened.enter_context(receiver_process(log=folder / "received"))
        archived = opened.enter_context(closing(ArchivedCluster()))
        drill = RestoreDrill(folder, receiver, archived, rng)
        drill.load(options.seconds)
        moments = [drill.random_moment() for _ in range(options.moments)]
        results = [drill.restore(moment) for moment in (*moments, *([None] if len(moments) > 1 else []))]
    show(results)
    require(results)
    whole = [one.restore_seconds + one.start_seconds + one.resend_seconds for one in results]
    print(f"{len(results)} restored: every acknowledged activation is there, with the same winner, once")
    print(f"from the beginning of a restore until all is there: median {statistics.median(whole):.1f} s")


def show(results: list[Restored]) -> None:
    names = ("restored to", "acknowledged", "lost", "sent again", "were there", "waited", "same id", "new id")
    table = Table(*names, "restore", "start", "resend")
    for one in results:
        table.add_row(
            "end of archive" if one.second is None else f"second {one.second:.1f}",
            *(f"{number:,}" for number in (one.acknowledged, one.lost, one.resent["restored"], one.resent["present"])),
            *(f"{number:,}" for number in (one.waited, one.told_again, one.told_anew)),
            *(f"{seconds:.1f} s" for seconds in (one.restore_seconds, one.start_seconds, one.resend_seconds)),
        )
    wide_console().print(table)


def require(results: list[Restored]) -> None:
    for one in results:
        assert not one.judgement, one
        assert one.lost > 0, "nothing was lost, so nothing was shown"
        assert one.resent["restored"] + one.resent["present"] == one.acknowledged, one


if __name__ == "__main__":
    main()
