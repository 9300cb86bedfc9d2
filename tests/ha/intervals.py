"""Spans of time, and how much of one is covered by others."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def union(spans: Iterable[Span], *, bridge: float = 0.0) -> list[Span]:
    """The spans in order, joined where they overlap or are not more than `bridge` apart."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.begin <= joined[-1].end + bridge:
            joined[-1] = Span(joined[-1].begin, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def covered(whole: Span, spans: Iterable[Span]) -> float:
    """The seconds of `whole` that the spans cover."""
    parts = (Span(max(one.begin, whole.begin), min(one.end, whole.end)) for one in spans)
    return sum(one.seconds for one in union(part for part in parts if part.begin < part.end))


def difference(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """What the others leave of the spans."""
    taken = union(others)
    left: list[Span] = []
    for span in union(spans):
        begin = span.begin
        for one in taken[bisect_right(taken, begin, key=lambda other: other.end) :]:
            if one.begin >= span.end:
                break
            left.append(Span(begin, one.begin))
            begin = one.end
        left.append(Span(begin, span.end))
    return [span for span in left if span.begin < span.end]
