"""What looks wrong in a run, and is not: the judge must not object."""

from collections.abc import Callable
from dataclasses import replace

from tests.ha.journal import Attempt, FeedPage, Outcome, Silence
from tests.ha.recorded_run import RecordedRun


def silent_while_late(run: RecordedRun) -> None:
    """The process was frozen: it did not answer /livez either."""
    begin = run.ends + 1
    run.records.append(Attempt("north", "/webhook-events", begin, begin + 5, status=200))
    run.records.append(Silence("north", begin + 0.1, begin + 4))


def outage_seen(run: RecordedRun) -> None:
    run.scans(1, 8, succeed=False)
    run.readyz((3.9, 503), (4.5, None), (9.5, 200))
    run.scans(9.1, 2, succeed=True)


def long_pause_between_failures(run: RecordedRun) -> None:
    """Nobody knows whether a commit was possible in between."""
    run.scans(1, 8, succeed=False, every=3)


def red_without_scans(run: RecordedRun) -> None:
    run.readyz((1, 503))


def short_outage(run: RecordedRun) -> None:
    run.scans(1, 3, succeed=False)


def red_while_scans_fail_now_and_then(run: RecordedRun) -> None:
    run.scans(1, 8, succeed=True, every=0.5)
    run.scans(1.2, 8, succeed=False, every=0.5)
    run.readyz((0.5, 503))


def told_twice(run: RecordedRun) -> None:
    run.received.append(run.received[0])
    run.records.append(run.every(FeedPage)[0])


def late_commit(run: RecordedRun) -> None:
    """The winner got no answer; its retry, a replay, did."""
    one = run.answer(200, replayed=True)
    first = next(other for other in run.every(Attempt) if other.key == one.key and not other.replayed)
    run.change(first, status=None, code=None, request_id=None, body="", error="ReadError")


def repeated_at_a_dead_process(run: RecordedRun) -> None:
    """A gate repeats a scan that has won, and that call reaches nobody: the SDK may be certain of that."""
    one = run.answer(200)
    begin = run.ends + 1
    failed = replace(one, begin=begin, end=begin + 0.1, status=None, request_id=None, body="", error="ConnectError")
    run.records += [failed, Outcome(begin + 0.2, str(one.key), "APIConnectionError", unknown=False)]


def told_in_an_earlier_round(run: RecordedRun) -> None:
    """The reader goes on in the middle; then a server that does not know its cursor begins earlier."""
    first = next(page for page in run.every(FeedPage) if page.ids)
    run.change(first, ids=first.ids[1:])
    run.records.append(first)


EXPLAINABLE: list[Callable[[RecordedRun], None]] = [
    silent_while_late,
    outage_seen,
    long_pause_between_failures,
    red_without_scans,
    short_outage,
    red_while_scans_fail_now_and_then,
    told_twice,
    late_commit,
    repeated_at_a_dead_process,
    told_in_an_earlier_round,
]
