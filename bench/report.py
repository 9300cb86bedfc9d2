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
    """A figure and its target. `kept` is the bound that was reached before; it is the target unless named."""

    name: str
    value: float
    wanted: float
    at_most: bool = False
    digits: int = 2
    kept: float | None = None

    def reaches(self) -> bool:
        return self._is_within(self.wanted)

    def keeps(self, share: float) -> bool:
        """Whether the value is at least this share of what was reached before."""
        kept = self.wanted if self.kept is None else self.kept
        return self._is_within(kept / share if self.at_most else kept * share)

    def _is_within(self, bound: float) -> bool:
        return self.value <= bound if self.at_most else self.value >= bound

    def text(self) -> str:
        colour, sign = "green" if self.reaches() else "red", "≤" if self.at_most else "≥"
        return f"[{colour}]{self.name}: {self.value:,.{self.digits}f} (wanted {sign} {self.wanted:,})"


# Scenario and base: the wanted ratio of their rates, and the one that was reached before.
RATES = (
    ("64 connections / bare", "scan, 64 connections", BARE, 1.5, None),
    ("256 connections / bare", "scan, 256 connections", BARE, 2.3, None),
    ("256 connections / bare, 32 a transaction", "scan, 256 connections", BATCHED, 0.75, 0.5),
    ("by token, 64 connections / bare", "scan by token, 64", BARE, 1.2, None),
    ("by token / by number, 64 connections", "scan by token, 64", "scan, 64 connections", 0.75, 0.6),
    ("events, 64 connections / bare", "events, 64", BARE, 3.0, None),
    ("one event, 64 connections / bare", "one event, 64", BARE, 3.0, None),
    ("events, unchanged (304), 64 connections / bare", "events, unchanged, 64", BARE, 4.0, None),
    ("by phone (SVC2) / by token (SVC1), 64 connections", "scan by phone, 64", "scan by token, 64", 0.6, None),
    ("64 connections, a subscriber / none", "scan, 64, a webhook subscribed", "scan, 64 connections", 0.85, 0.75),
    ("256 connections, a subscriber / none", "scan, 256, a webhook subscribed", "scan, 256 connections", 0.85, 0.75),
)
# Scenario and base: the wanted ratio of their mean latencies, and the one that was reached before.
LATENCY_RATIOS = (
    ("latency of 1 connection / bare, 1 client", "scan, 1 connection", "bare, 1 client", 1.6, 2.5),
    ("latency of 1 connection / bare with pauses", "scan, 1 connection", "bare, 1 client, with pauses", 1.6, 1.8),
)
# Scenario: the most bytes of WAL a call that are wanted, and those that were reached before.
WAL = (
    ("bytes of WAL a scan", "scan, 64 connections", 1_000, 1_300),
    ("bytes of WAL a scan, a subscriber", "scan, 64, a webhook subscribed", 1_900, 2_700),
)


def ratios(series: list[Series]) -> list[Ratio]:
    """The promised ratios and sizes, as far as this run measured them."""
    by_name = {one.name: one for one in series}
    found = [
        Ratio(name, by_name[scenario].rate / by_name[base].rate, wanted, kept=kept)
        for name, scenario, base, wanted, kept in RATES
        if scenario in by_name and base in by_name
    ]
    found += [
        Ratio(name, by_name[scenario].mean_us / by_name[base].mean_us, wanted, at_most=True, kept=kept)
        for name, scenario, base, wanted, kept in LATENCY_RATIOS
        if scenario in by_name and base in by_name
    ]
    found += [
        Ratio(name, by_name[scenario].figure(lambda one: one.wal_bytes) or 0, wanted, at_most=True, digits=0, kept=kept)
        for name, scenario, wanted, kept in WAL
        if scenario in by_name
    ]
    return found


def names() -> set[str]:
    """Of all that a whole run measures."""
    return {one[0] for one in (*RATES, *LATENCY_RATIOS, *WAL)}


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


# Of the bars, in the picture.
LEFT = 240
WIDTH = 410


def plot(series: list[Series]) -> str:
    """A bar for each scenario, with the spread of its slices."""
    widest = max((part.rate for one in series for part in one.slices), default=1)
    parts: list[str] = []
    for index, one in enumerate(series):
        y = 40 + 30 * index
        low, high = (WIDTH * pick(s.rate for s in one.slices) / widest for pick in (min, max))
        parts += [
            f'<text x="10" y="{y + 15}">{escape(one.name)}</text>',
            *_bar(
                "bare" if one.name.startswith("bare") else "bar", y, WIDTH * one.rate / widest, f"{one.rate:,.0f}", high
            ),
            f'<line x1="{LEFT + low:.1f}" x2="{LEFT + high:.1f}" y1="{y + 10}" y2="{y + 10}"/>',
        ]
    return _picture("activations (or answers) a second", 30 * len(series) + 50, parts)


def plot_pairs(title: str, pairs: dict[str, tuple[float, float]]) -> str:
    """Two bars for each name: before, and today."""
    widest = max((max(pair) for pair in pairs.values()), default=1)
    parts: list[str] = []
    for index, (name, pair) in enumerate(pairs.items()):
        y = 40 + 58 * index
        parts.append(f'<text x="10" y="{y + 28}">{escape(name)}</text>')
        for row, (kind, value) in enumerate(zip(("bare", "bar"), pair, strict=True)):
            parts += _bar(kind, y + 24 * row, WIDTH * value / widest, f"{value:,.0f} {('before', 'today')[row]}")
    return _picture(title, 58 * len(pairs) + 50, parts)


def _bar(kind: str, y: int, width: float, label: str, reach: float = 0) -> list[str]:
    return [
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="20" rx="3"/>',
        f'<text x="{LEFT + 8 + max(width, reach):.1f}" y="{y + 15}">{label}</text>',
    ]


def _picture(title: str, height: int, parts: list[str]) -> str:
    """An SVG that is readable in light and dark."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="13">',
        (
            "<style>text{fill:#222}rect.bar{fill:#2563eb}rect.bare{fill:#6b7280}line{stroke:#222}"
            "@media(prefers-color-scheme:dark){text{fill:#eee}rect.bar{fill:#60a5fa}rect.bare{fill:#9ca3af}line{stroke:#eee}}"
            "</style>"
        ),
        f'<text x="10" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
