"""Twenty-four hours as small bars: delivered attempts, and failed ones on top. Pure; the template draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gatepass.domain.webhooks.health import Hour

# In units of the SVG. LEAST makes a bar with a single attempt visible.
STEP: Final = 5
BAR: Final = 4
HEIGHT: Final = 32
LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Part:
    """A rectangle of a bar; `kind` is its CSS class."""

    kind: str
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Sparkline:
    width: int
    height: int
    parts: list[Part]
    sentence: str


def sparkline(hours: Sequence[Hour]) -> Sparkline:
    most = max((hour.attempts for hour in hours), default=0)
    parts: list[Part] = []
    for place, hour in enumerate(hours):
        parts += _bar(place * STEP, hour, most)
    return Sparkline(max(len(hours) * STEP - (STEP - BAR), 1), HEIGHT, parts, _sentence(hours))


def _bar(x: int, hour: Hour, most: int) -> list[Part]:
    if hour.attempts == 0:
        return [Part("none", x, HEIGHT - 1, 1)]
    total = max(LEAST, HEIGHT * hour.attempts / most)
    failed = max(LEAST, total * hour.failed_attempts / hour.attempts) if hour.failed_attempts else 0.0
    failed = min(failed, total if not hour.delivered else total - 1)
    bar = [Part("delivered", x, round(HEIGHT - (total - failed), 1), round(total - failed, 1))]
    bar.append(Part("failed", x, round(HEIGHT - total, 1), round(failed, 1)))
    return [part for part in bar if part.height > 0]


def _sentence(hours: Sequence[Hour]) -> str:
    """The same in words, for screen readers."""
    delivered = sum(hour.delivered for hour in hours)
    failed = sum(hour.failed_attempts for hour in hours)
    if delivered + failed == 0:
        return "Nothing was sent in the last 24 hours."
    return f"Last 24 hours: {delivered:,} attempts got through, {failed:,} failed."
