"""Sending what a queue holds: each card's scans one after another, different cards side by side.

The thread that called owns the file and does all the keeping and reporting; the others only ask the service. Answers
that come while one transaction is being written are kept together by the next.
"""

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gatepass_sdk._scan_file import OnVerdict, ScanFile
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk._verdict import Outcome, QueuedScan
from gatepass_sdk.errors import APIConnectionError, APIStatusError, GatepassError, RateLimited, ServerError
from gatepass_sdk.models import ScanResult

# Answers about the scan. Others are about the key, the address or the moment, and then the scan stays.
VERDICTS: Final = frozenset({400, 404, 409, 410, 413, 422})
WRONG_ADDRESS: Final = "not_found"
# One scan that cannot be answered must not stop the others; so many in a row are not about the scans.
FAILURES_IN_A_ROW: Final = 3
# Scans in memory: enough to find other cards behind one that was shown many times.
WINDOW: Final = 500
REPORTED_AT_ONCE: Final = 100


@dataclass(frozen=True)
class Drained:
    """How far a drain came. `stopped_by` says what kept it from the rest, or is None if nothing did."""

    settled: int
    waiting: int
    stopped_by: GatepassError | None = None


class Line:
    """Who may go next: the oldest scan of each card that has none on its way."""

    def __init__(self, file: ScanFile) -> None:
        self._file = file
        self._read_up_to = 0
        self._standing: list[QueuedScan] = []
        self._busy: set[str] = set()
        self._held: set[str] = set()

    def next(self, room: int) -> list[QueuedScan]:
        if room <= 0:
            return []
        self._fill()
        going: list[QueuedScan] = []
        staying: list[QueuedScan] = []
        for scan in self._standing:
            if len(going) < room and scan.card not in self._busy:
                self._busy.add(scan.card)
                going.append(scan)
            else:
                staying.append(scan)
        self._standing = staying
        return going

    def _fill(self) -> None:
        found = self._file.waiting(after=self._read_up_to, limit=WINDOW - len(self._standing))
        if found:
            self._read_up_to = found[-1].id
            self._standing += [scan for scan in found if scan.card not in self._held]

    def passed(self, scan: QueuedScan) -> None:
        """It is answered, and the next of its card may go."""
        self._busy.discard(scan.card)

    def hold(self, scan: QueuedScan) -> None:
        """It was not answered, so nobody with this card may go before it."""
        self._held.add(scan.card)
        self._standing = [other for other in self._standing if other.card != scan.card]


class Drain:
    """One run through a queue."""

    def __init__(self, file: ScanFile, client: Gatepass, on_verdict: OnVerdict | None, workers: int) -> None:
        self._file = file
        self._client = client
        self._on_verdict = on_verdict
        self._workers = workers
        self._line = Line(file)
        self._settled = 0
        self._failures = 0
        self._stopped_by: GatepassError | None = None
        self._fault: Exception | None = None

    def run(self) -> Drained:
        """Until nothing is left, or nothing more can be sent. What is on its way is waited for."""
        self._report()
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="scan-queue")
        try:
            self._send_all(pool)
        finally:
            pool.shutdown(cancel_futures=True)
        if self._fault is not None:
            raise self._fault
        return Drained(self._settled, self._file.counts()[0], self._stopped_by)

    def _send_all(self, pool: ThreadPoolExecutor) -> None:
        asked: dict[Future[ScanResult], QueuedScan] = {}
        answers: list[tuple[QueuedScan, Outcome]] = []
        while True:
            # Twice as many as can be sent, so that nobody waits for the disk.
            departing = [] if self._is_stopped else self._line.next(2 * self._workers - len(asked))
            self._file.record(answers, departing=departing, at=_now())
            self._settled += len(answers)
            asked.update((pool.submit(self._ask, scan), scan) for scan in departing)
            self._report()
            if not asked:
                return
            done, _ = wait(asked, return_when=FIRST_COMPLETED)
            answers = self._judged((asked.pop(one), one) for one in done)

    @property
    def _is_stopped(self) -> bool:
        return self._stopped_by is not None or self._fault is not None

    def _ask(self, scan: QueuedScan) -> ScanResult:
        return self._client.scans.create(
            scan.event_id,
            card_number=scan.card_number,
            token=scan.token,
            scanner_id=scan.scanner_id,
            gate=scan.gate,
            occurred_at=scan.occurred_at,
            idempotency_key=scan.idempotency_key,
        )

    def _judged(self, done: Iterable[tuple[QueuedScan, Future[ScanResult]]]) -> list[tuple[QueuedScan, Outcome]]:
        answers: list[tuple[QueuedScan, Outcome]] = []
        for scan, future in done:
            outcome = self._outcome(scan, future)
            if outcome is None:
                self._line.hold(scan)
                continue
            self._failures = 0
            self._line.passed(scan)
            answers.append((scan, outcome))
        return answers

    def _outcome(self, scan: QueuedScan, future: Future[ScanResult]) -> Outcome | None:
        """What the service said about this scan; None if it said nothing about it."""
        error = future.exception()
        if error is None:
            return Outcome.activated(future.result())
        if isinstance(error, APIStatusError) and error.status in VERDICTS and error.code != WRONG_ADDRESS:
            return Outcome.refused(error, scan, at=_now(), is_spent=self._file.is_spent(scan))
        if isinstance(error, APIConnectionError | RateLimited | ServerError):
            self._failures += 1
            is_unreachable = isinstance(error, APIConnectionError) and not error.outcome_unknown
            if is_unreachable or self._failures >= FAILURES_IN_A_ROW:
                self._stopped_by = error
        elif isinstance(error, Exception):
            self._fault = error
        else:
            raise error
        return None

    def _report(self) -> None:
        if self._on_verdict is not None:
            while self._file.report(self._on_verdict, limit=REPORTED_AT_ONCE, at=_now()) == REPORTED_AT_ONCE:
                pass


def _now() -> datetime:
    return datetime.now(UTC)
