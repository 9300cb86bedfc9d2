"""How long did it take? Answers in time, /readyz red and green in time, and the longest gap between two answers.

A process that does not even answer /livez is dead, frozen or starved of CPU, and so may the load itself be: the time of
such a silence is not counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.ha.exactness import is_definite
from tests.ha.intervals import Span, covered, difference, union
from tests.ha.journal import Attempt, Journal, Readiness
from tests.ha.violation import Violation

LATE_BY = 0.25
RED_WITHIN = 3.0
GREEN_WITHIN = 1.0
# Two polls are a tenth of a second apart; the rest is noise.
SLACK = 0.25
# Scans that fail less far apart than this are one outage; with a longer pause nobody knows what was possible in it.
TRIED_EVERY = 1.0


@dataclass
class Timing:
    slowest_answer: float = 0.0
    # By the name of the URL: the worst of the run.
    red_after: dict[str, float] = field(default_factory=dict[str, float])
    green_after: dict[str, float] = field(default_factory=dict[str, float])
    gap: dict[str, float] = field(default_factory=dict[str, float])
    violations: list[Violation] = field(default_factory=list[Violation])


def measure(journal: Journal, fault_at: float | None) -> Timing:
    found = Timing(gap=_gaps(journal, fault_at))
    for name in journal.started.urls:
        url = Url(name, journal)
        found.violations += url.late_answers()
        found.violations += url.red_too_late(found.red_after)
        found.violations += url.green_too_late(found.green_after)
        found.slowest_answer = max(found.slowest_answer, url.slowest_answer())
    return found


def _gaps(journal: Journal, fault_at: float | None) -> dict[str, float]:
    """The longest time without an answer to a scan, of each URL and of all together, from the fault on."""
    answered = [one for one in journal.attempts if one.key is not None and is_definite(one)]
    gaps = {
        name: _gap([one for one in answered if one.url == name], journal, fault_at) for name in journal.started.urls
    }
    return {**gaps, "all": _gap(answered, journal, fault_at)}


def _gap(answered: Sequence[Attempt], journal: Journal, fault_at: float | None) -> float:
    begin, end = journal.started.at, journal.scanned_until
    times = [begin, *sorted(one.end for one in answered if begin < one.end < end), end]
    return max(late - early for early, late in pairwise(times) if fault_at is None or late > fault_at)


class Url:
    """The attempts and polls of one URL. A scan that was answered definitely has committed, a failed one has not."""

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self._deadline = journal.started.deadline
        self._attempts = [one for one in journal.attempts if one.url == name]
        scans = [one for one in self._attempts if one.key is not None]
        self._committed = [one for one in scans if is_definite(one)]
        self._failed = [one for one in scans if not is_definite(one)]
        self._polls = _changes([one for one in journal.readiness if one.url == name])
        self._silences = union(Span(one.begin, one.end) for one in journal.silences if one.url == name)
        self._watched_until = journal.ended.at if journal.ended else journal.scanned_until

    def late_answers(self) -> Iterator[Violation]:
        for one in self._attempts:
            took = self._counted(one.begin, one.end)
            if took > self._deadline + LATE_BY:
                ending = f"answered {one.status}" if one.status else f"not answered ({one.error})"
                yield Violation("late_answer", f"{one.path} at {self.name} was {ending} after {took:.2f} s")

    def slowest_answer(self) -> float:
        return max((self._counted(one.begin, one.end) for one in self._attempts if one.status), default=0.0)

    def red_too_late(self, red_after: dict[str, float]) -> Iterator[Violation]:
        """From the begin of an outage, and from each green answer within one, red comes in time or the outage ends."""
        for outage in self._outages():
            greens = [one.end for one in self._polls if one.status == 200 and outage.begin < one.end < outage.end]
            for green in [outage.begin, *greens]:
                red = self._red_since(green)
                took = self._counted(green, min(red, outage.end))
                if red < outage.end:
                    red_after[self.name] = max(red_after.get(self.name, 0.0), took)
                if took > RED_WITHIN + SLACK:
                    yield Violation(
                        "not_ready_late",
                        f"/readyz at {self.name} was green for {took:.2f} s while no scan succeeded, "
                        f"from {green:.2f} of an outage from {outage.begin:.2f} to {outage.end:.2f}",
                    )

    def green_too_late(self, green_after: dict[str, float]) -> Iterator[Violation]:
        """Once scans succeed and none fails, a red /readyz becomes green in time."""
        for red in self._reds():
            success = self._lasting_success(red)
            took = 0.0 if success is None else self._counted(success, red.end)
            if red.end < self._watched_until:
                green_after[self.name] = max(green_after.get(self.name, 0.0), took)
            if took > GREEN_WITHIN + SLACK:
                yield Violation(
                    "ready_late",
                    f"/readyz at {self.name} was red for {took:.2f} s while scans succeeded",
                )

    def _counted(self, begin: float, end: float) -> float:
        """The seconds in between, without those in which the process did not answer at all."""
        return end - begin - covered(Span(begin, end), self._silences) if end > begin else 0.0

    def _outages(self) -> Iterator[Span]:
        """The times in which scans were tried at this URL and none succeeded."""
        failed = union(Span(one.begin, one.end) for one in self._failed)
        committed = [Span(one.begin, one.end) for one in self._committed]
        for span in difference(union(failed, bridge=TRIED_EVERY), committed):
            tried = [one for one in failed if one.end > span.begin and one.begin < span.end]
            if tried:
                yield Span(max(span.begin, tried[0].begin), min(span.end, tried[-1].end))

    def _red_since(self, moment: float) -> float:
        """When /readyz was first not green, at this moment or later."""
        is_red = False
        for poll in self._polls:
            if poll.end > moment:
                break
            is_red = poll.status != 200
        if is_red:
            return moment
        return next((poll.end for poll in self._polls if poll.end > moment and poll.status != 200), float("inf"))

    def _reds(self) -> Iterator[Span]:
        """From each first red answer to the next green one, or to the end of the watch."""
        ends = [poll.end for poll in self._polls] + [self._watched_until]
        for poll, end in zip(self._polls, ends[1:], strict=True):
            if poll.status != 200:
                yield Span(poll.end, end)

    def _lasting_success(self, red: Span) -> float | None:
        """When the first scan was answered that was begun in this time and after which none failed for a while."""
        for one in self._committed:
            if one.begin < red.begin or one.end > red.end:
                continue
            lasts = one.end + GREEN_WITHIN + SLACK
            if not any(failed.end >= one.end and failed.begin <= lasts for failed in self._failed):
                return one.end
        return None


def _changes(polls: Sequence[Readiness]) -> list[Readiness]:
    """The polls that changed between green and red. No answer is red too."""
    changed: list[Readiness] = []
    for poll in polls:
        if not changed or (poll.status == 200) != (changed[-1].status == 200):
            changed.append(poll)
    return changed
