"""What do open doors cost the gates?"""

from statistics import median

from bench.doors.estate import Estate, all_show
from bench.measure import Series
from bench.report import Ratio

WITHOUT, WITH = "no door", "ten doors"


def speed(made: Estate, doors: int, rounds: int, seconds: int) -> list[Series]:
    """As many scans as go through, with doors open and without, in turn."""
    series = {WITHOUT: Series(WITHOUT), WITH: Series(WITH)}
    for turn in range(rounds):
        for name in (WITHOUT, WITH) if turn % 2 else (WITH, WITHOUT):
            if name == WITHOUT:
                series[name].slices.append(made.scan(seconds))
                continue
            with made.screens(doors) as shown:
                series[name].slices.append(made.scan(seconds))
                all_show(made, shown)
    return list(series.values())


def ratio(series: list[Series]) -> Ratio:
    """Round by round, because the machine may be busy with something else."""
    without, among = (one.slices for one in series)
    return Ratio(
        "scans with ten doors / without",
        median(b.rate / a.rate for a, b in zip(without, among, strict=True)),
        0.9,
    )
