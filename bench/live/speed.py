"""How much do open live pages slow scans?"""

from statistics import median

from bench.live.stack import Stack, wait_until_all_show
from bench.measure import Series
from bench.report import Ratio

WITHOUT, WITH = "no screen", "with screens"


def speed(stack: Stack, screens: int, rounds: int, seconds: int) -> list[Series]:
    """The highest rate of scans, with open screens and without, in turn."""
    series = {WITHOUT: Series(WITHOUT), WITH: Series(WITH)}
    for turn in range(rounds):
        for name in (WITHOUT, WITH) if turn % 2 else (WITH, WITHOUT):
            if name == WITHOUT:
                series[name].slices.append(stack.scan(seconds))
                continue
            with stack.screens(screens) as log:
                series[name].slices.append(stack.scan(seconds))
                wait_until_all_show(stack, log)
    return list(series.values())


def ratio(series: list[Series]) -> Ratio:
    """The median of the rounds' ratios, because other work may disturb a round."""
    without, among = (one.slices for one in series)
    return Ratio(
        "scans with screens / without",
        median(b.rate / a.rate for a, b in zip(without, among, strict=True)),
        0.9,
    )
