"""The live page of an event under load: is it exact, how soon does it show a scan, and how much does it slow scans?

python -m bench.live                            # ten screens; about three minutes
python -m bench.live --short --check 0.6        # for CI
"""

import argparse
import json
import sys
from pathlib import Path

from bench.console import wide_console
from bench.live.measure import measure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--screens", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--load-seconds", type=int, default=15)
    parser.add_argument("--short", action="store_true", help="fewer and shorter rounds, for CI")
    parser.add_argument(
        "--check", type=float, metavar="SHARE", help="fail if a ratio does not reach this share of the wanted one"
    )
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    rounds, seconds, load_seconds = (
        (2, 2, 5) if options.short else (options.rounds, options.seconds, options.load_seconds)
    )
    ratios, figures = measure(
        wide_console(), postgres=options.postgres, screens=options.screens, rounds=rounds, seconds=seconds,
        load_seconds=load_seconds,
    )  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    figures["ratios"] = {one.name: one.value for one in ratios}
    (options.out / "live.json").write_text(json.dumps(figures, indent=1, default=str))
    missed = [one.name for one in ratios if options.check and not one.keeps(options.check)]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
