"""Manifests: how long does one of 200,000 tickets take, and what do 1,000 devices cost that follow it?

python -m bench.manifest                            # about six minutes
python -m bench.manifest --short --check 0.6        # fewer devices and rounds
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench.console import wide_console
from bench.manifest.following import cost, exactness, ratio, speed
from bench.manifest.size import size
from bench.manifest.stack import TICKETS_A_SECOND, running_stack
from bench.report import Ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--tickets", type=int, default=200_000)
    parser.add_argument("--devices", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--short", action="store_true", help="fewer devices, fewer and shorter rounds")
    parser.add_argument("--only", choices=["size", "cost", "speed"], help="one of the measurements")
    parser.add_argument(
        "--check", type=float, metavar="SHARE", help="fail if a figure does not reach this share of the wanted one"
    )
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    if options.short:
        options.devices, options.rounds, options.seconds = 100, 2, 2
    console, ratios, figures = wide_console(), list[Ratio](), dict[str, object]()
    if options.only != "speed":
        with running_stack(options.postgres, options.tickets, options.devices) as stack:
            if options.only != "cost":
                found = size(stack, options.rounds)
                figures["size"] = asdict(found)
                console.print(
                    f"{found.tickets:,} tickets, {found.bytes_a_ticket:.0f} bytes each: made and sent in "
                    f"{found.seconds:.2f} s (best {found.best_seconds:.2f}); the next device waits "
                    f"{found.again_ms:.0f} ms."
                )
                ratios.append(Ratio("seconds for a manifest", found.seconds, 2.0, at_most=True))
            if options.only != "size":
                stack.scan(2, connections=10, pause_ms=98, most=110)  # plans, caches, connections
                spent = cost(stack, options.devices, max(1, options.rounds // 2), 5 * options.seconds)
                figures["cost"] = asdict(spent)
                console.print(
                    f"{spent.devices:,} devices at {spent.scans_a_second:.0f} scans a second: {spent.cores:.3f} of a "
                    f"core ({spent.cores_of_python:.3f} of it Python), {spent.messages_a_second:.2f} messages a second "
                    "to each."
                )
                ratios.append(Ratio("cores for devices that follow", spent.cores, 0.15, at_most=True, digits=3))
    if options.only in (None, "speed"):
        count = TICKETS_A_SECOND * (2 * options.rounds + 4) * options.seconds
        with running_stack(options.postgres, count, options.devices) as stack:
            stack.scan(options.seconds)
            looks, rate = exactness(stack, 3 * options.seconds)
            console.print(f"At {rate:,.0f} scans a second {looks} of {looks} looks equal a manifest of their snapshot.")
            series = speed(stack, options.devices, options.rounds, options.seconds)
        for one in series:
            console.print(f"{one.name}: {one.rate:,.0f} scans a second")
        figures |= {"series": [asdict(one) for one in series], "looks": looks, "looks_at_rate": rate}
        ratios.append(ratio(series))
    for one in ratios:
        console.print(one.text())
    options.out.mkdir(parents=True, exist_ok=True)
    figures["ratios"] = {one.name: one.value for one in ratios}
    (options.out / "manifest.json").write_text(json.dumps(figures, indent=1, default=str))
    return 1 if [one for one in ratios if options.check and not one.keeps(options.check)] else 0


if __name__ == "__main__":
    sys.exit(main())
