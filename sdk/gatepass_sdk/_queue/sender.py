"""The sender of a queue: scans of one card one after another, different cards in parallel.

The calling thread owns the file, and stores and reports all answers; the other threads only call the service. Answers
that come during a transaction are stored together in the next.
"""

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gatepass_sdk._queue.scan_file import OnVerdict, ScanFile
from gatepass_sdk._queue.verdict import Outcome, QueuedScan
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk.errors import APIConnectionError, APIStatusError, GatepassError, RateLimited, ServerError
from gatepass_sdk.models import ScanResult

# Answers about the scan. Others are about the key, the URL or the time; after them the scan stays in the queue.
VERDICT_STATUSES: Final = frozenset({400, 404, 409, 410, 413, 422})
WRONG_PATH: Final = "not_found"
# One scan that the service cannot answer must not stop the others. Three failures in a row are not caused by the scans.
FAILURES_IN_A_ROW: Final = 3
# Scans in memory: enough to find other cards after one that was scanned many times.
WINDOW: Final = 500
REPORTED_AT_ONCE: Final = 100


@dataclass(frozen=True)
class Drained:
    """The result of a drain. `stopped_by` is the error that ended it early, or None."""

    settled: int
    waiting: int
    stopped_by: GatepassError | None = None


class SendOrder:
    """The order of sending: next is the oldest scan of each card that has no scan in flight."""

    def __init__(self, file: ScanFile) -> None:
        self._file = file
        self._read_up_to = 0
        self._waiting: list[QueuedScan] = []
        self._busy: set[str] = set()
        self._held: set[str] = set()

    def next(self, limit: int) -> list[QueuedScan]:
        if limit <= 0:
            return []
        self._fill()
        chosen: list[QueuedScan] = []
        rest: list[QueuedScan] = []
        for scan in self._waiting:
            if len(chosen) < limit and scan.card not in self._busy:
                self._busy.add(scan.card)
                chosen.append(scan)
            else:
                rest.append(scan)
        self._waiting = rest
        return chosen

    def _fill(self) -> None:
        found = self._file.waiting(after=self._read_up_to, limit=WINDOW - len(self._waiting))
        if found:
            self._read_up_to = found[-1].id
            self._waiting += [scan for scan in found if scan.card not in self._held]

    def release(self, scan: QueuedScan) -> None:
        """The scan is answered: the next one of its card may be sent."""
        self._busy.discard(scan.card)

    def hold(self, scan: QueuedScan) -> None:
        """The scan was not answered: no later scan of its card may be sent before it."""
        self._held.add(scan.card)
        self._waiting = [other for other in self._waiting if other.card != scan.card]


class QueueSender:
    """One run through a queue."""

    def __init__(self, file: ScanFile, client: Gatepass, on_verdict: OnVerdict | None, workers: int) -> None:
        self._file = file
        self._client = client
        self._on_verdict = on_verdict
        self._workers = workers
        self._order = SendOrder(file)
        self._settled = 0
        self._failures = 0
        self._stopped_by: GatepassError | None = None
        self._fault: Exception | None = None

    def run(self) -> Drained:
        """Send until nothing is left, or nothing more can be sent. Waits for the scans in flight."""
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
        futures: dict[Future[ScanResult], QueuedScan] = {}
        answers: list[tuple[QueuedScan, Outcome]] = []
        while True:
            # Twice as many as there are workers, so that no worker waits for the disk.
            sending = [] if self._is_stopped else self._order.next(2 * self._workers - len(futures))
            self._file.record(answers, sending=sending, at=_now())
            self._settled += len(answers)
            futures.update((pool.submit(self._ask, scan), scan) for scan in sending)
            self._report()
            if not futures:
                return
            done, _ = wait(futures, return_when=FIRST_COMPLETED)
            answers = self._outcomes((futures.pop(one), one) for one in done)

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

    def _outcomes(self, done: Iterable[tuple[QueuedScan, Future[ScanResult]]]) -> list[tuple[QueuedScan, Outcome]]:
        answers: list[tuple[QueuedScan, Outcome]] = []
        for scan, future in done:
            outcome = self._outcome(scan, future)
            if outcome is None:
                self._order.hold(scan)
                continue
            self._failures = 0
            self._order.release(scan)
            answers.append((scan, outcome))
        return answers

    def _outcome(self, scan: QueuedScan, future: Future[ScanResult]) -> Outcome | None:
        """The service's answer about this scan, or None if there is none."""
        error = future.exception()
        if error is None:
            return Outcome.activated(future.result())
        if isinstance(error, APIStatusError) and is_about_the_scan(error):
            return Outcome.refused(
                error, scan, at=_now(), activated_by_another=self._file.is_activated_by_another(scan)
            )
        if isinstance(error, APIConnectionError | RateLimited | ServerError):
            self._failures += 1
            if is_unreachable(error) or self._failures >= FAILURES_IN_A_ROW:
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


def is_about_the_scan(error: APIStatusError) -> bool:
    return error.status in VERDICT_STATUSES and error.code != WRONG_PATH


def is_unreachable(error: GatepassError) -> bool:
    """Whether nothing of the request can have reached the service."""
    return isinstance(error, APIConnectionError) and not error.outcome_unknown


def _now() -> datetime:
    return datetime.now(UTC)
