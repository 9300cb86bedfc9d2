"""Figures as a table, as ratios, and as a plot."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from rich.console import Console
from rich.table import Table

from bench.measure import Series, Slice

BARE = "bare, 8 clients"
BATCHED = "bare, 32 a transaction"


@dataclass
class Ratio:
    name: str
    value: float
    wanted: float
    at_most: bool = False
    digits: int = 2

    def reaches(self, share: float = 1.0) -> bool:
        """Whether the value reaches `wanted`, or at least this share of it."""
        return self.value <= self.wanted / share if self.at_most else self.value >= self.wanted * share

    def text(self) -> str:
        colour, sign = "green" if self.reaches() else "red", "≤" if self.at_most else "≥"
        return f"[{colour}]{self.name}: {self.value:.{self.digits}f} (wanted {sign} {self.wanted})"


def ratios(series: list[Series]) -> list[Ratio]:
    """The promised ratios, as far as this run measured them."""
    by_name = {one.name: one for one in series}
    found: list[Ratio] = []
    for name, scenario, base, wanted in (
        ("64 connections / bare", "scan, 64 connections", BARE, 1.5),
        ("256 connections / bare", "scan, 256 connections", BARE, 2.3),
        ("256 connections / bare, 32 a transaction", "scan, 256 connections", BATCHED, 0.5),
        ("by token, 64 connections / bare", "scan by token, 64", BARE, 1.2),
        ("events, 64 connections / bare", "events, 64", BARE, 3.0),
        ("one event, 64 connections / bare", "one event, 64", BARE, 3.0),
        ("events, unchanged (304), 64 connections / bare", "events, unchanged, 64", BARE, 4.0),
        ("by phone (SVC2) / by token (SVC1), 64 connections", "scan by phone, 64", "scan by token, 64", 0.6),
        ("64 connections, a webhook subscribed / none", "scan, 64, a webhook subscribed", "scan, 64 connections", 0.75),
        (
            "256 connections, a webhook subscribed / none",
            "scan, 256, a webhook subscribed",
            "scan, 256 connections",
            0.75,
        ),
    ):
        if scenario in by_name and base in by_name:
            found.append(Ratio(name, by_name[scenario].rate / by_name[base].rate, wanted))
    if "scan, 1 connection" in by_name and "bare, 1 client" in by_name:
        alone = by_name["scan, 1 connection"].figure(lambda one: one.mean_us) or 0
        bare = by_name["bare, 1 client"].figure(lambda one: one.mean_us) or 1
        found.append(Ratio("latency of 1 connection / bare, 1 client", alone / bare, 2.5, at_most=True))
    return found


LATENCIES: tuple[Callable[[Slice], float | None], ...] = (
    lambda one: one.mean_us,
    lambda one: one.p50_us,
    lambda one: one.p99_us,
)


def empty_table(title: str, first: str, *figures: str) -> Table:
    """A column of names, and columns of figures."""
    shown = Table(title=title, title_justify="left")
    shown.add_column(first, no_wrap=True)
    for figure in figures:
        shown.add_column(figure, justify="right", no_wrap=True)
    return shown


def table(console: Console, series: list[Series], found: list[Ratio]) -> None:
    base = next((one.rate for one in series if one.name == BARE), 0)
    shown = empty_table(
        "medians over the rounds",
        *("scenario", "a second", "mean ms", "p50 ms", "p99 ms", "Python µs", "PostgreSQL µs", "WAL bytes", "to bare"),
    )
    for one in series:
        shown.add_row(
            one.name,
            f"{one.rate:,.0f}",
            *(_ms(one.figure(pick)) for pick in LATENCIES),
            f"{one.figure(lambda s: s.python_us) or 0:,.0f}",
            f"{one.figure(lambda s: s.postgres_us) or 0:,.0f}",
            f"{one.figure(lambda s: s.wal_bytes) or 0:,.0f}",
            f"{one.rate / base:.2f}" if base else "",
        )
    console.print(shown)
    for ratio in found:
        console.print(ratio.text())


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value / 1000:.2f}"


def plot(series: list[Series]) -> str:
    """A bar for each scenario, with the spread of its slices. Readable in light and dark."""
    widest = max((part.rate for one in series for part in one.slices), default=1)
    height = 30 * len(series) + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="13">',
        (
            "<style>text{fill:#222}rect.bar{fill:#2563eb}rect.bare{fill:#6b7280}line{stroke:#222}"
            "@media(prefers-color-scheme:dark){text{fill:#eee}rect.bar{fill:#60a5fa}rect.bare{fill:#9ca3af}line{stroke:#eee}}"
            "</style>"
        ),
        '<text x="10" y="22" font-weight="bold">activations (or answers) a second</text>',
    ]
    for index, one in enumerate(series):
        y, width = 40 + 30 * index, 430 * one.rate / widest
        low, high = (430 * pick(s.rate for s in one.slices) / widest for pick in (min, max))
        kind = "bare" if one.name.startswith("bare") else "bar"
        parts += [
            f'<text x="10" y="{y + 15}">{escape(one.name)}</text>',
            f'<rect class="{kind}" x="220" y="{y}" width="{width:.1f}" height="20" rx="3"/>',
            f'<line x1="{220 + low:.1f}" x2="{220 + high:.1f}" y1="{y + 10}" y2="{y + 10}"/>',
            f'<text x="{228 + max(width, high):.1f}" y="{y + 15}">{one.rate:,.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
