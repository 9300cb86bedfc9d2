"""Scans on bad networks: kept in a file first, sent when there is a network, answered once.

    with ScanQueue("scans.db") as queue:
        queue.add(event_id, token=token, scanner_id="scanner-7", gate="North 2")   # needs no network
        queue.drain(client)                                                        # whenever there may be one
        for verdict in queue.verdicts():
            print(verdict.card, "activated" if verdict.ticket else verdict.message)

A scan that `add` returned from is on the disk: it survives `kill -9` and, as far as the disk tells the truth, a power
cut. It is sent with the key and the time that it got then, as often as it takes, so it activates a ticket once however
many answers are lost.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from gatepass_sdk._card import card_shown
from gatepass_sdk._draining import REPORTED_AT_ONCE, Drain, Drained
from gatepass_sdk._queue_database import QueueDatabase
from gatepass_sdk._scan import scan_body
from gatepass_sdk._scan_file import OnVerdict, ScanFile
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk._verdict import Verdict

# 10,000 scans over a network that takes 200 ms are then sent in four minutes.
WORKERS: Final = 8
# Longer than the service takes late scans (72 hours), so that a late 409 can be told from our own activation.
KEEP_REPORTED: Final = timedelta(days=7)


class ScanQueue:
    """Scans in one SQLite file on a local disk, for one organization, live or sandbox.

    Any number of threads and processes may `add` at any time; one at a time may `drain` or read `verdicts`, and others
    get `QueueInUse`. A process that dies is no longer in the way.

    Card tokens are secrets: whoever copies one can enter. The file is its owner's alone (mode 0600), a token is removed
    in the commit that keeps the answer to it, and a whole scan, with its card number, `keep_reported` after its verdict
    was reported.

    It works with the synchronous client. In asynchronous programs use `await asyncio.to_thread(queue.drain, client)`.
    """

    def __init__(self, path: str | PathLike[str], *, keep_reported: timedelta = KEEP_REPORTED) -> None:
        """Open the file, or make it. Raises `QueueError` if it cannot be used."""
        self._keep_reported = keep_reported
        self._database = QueueDatabase(Path(path).absolute())
        self._file = ScanFile(self._database)

    def add(
        self,
        event_id: str,
        *,
        card_number: str | None = None,
        token: str | None = None,
        scanner_id: str | None = None,
        gate: str | None = None,
        occurred_at: datetime | None = None,
    ) -> int:
        """Keep a scan; its id, which grows. When this returns it is on the disk.

        `occurred_at` is now if it is not given. The service takes scans for 72 hours.
        """
        body = scan_body(event_id, card_number, token, scanner_id, gate, occurred_at or datetime.now(UTC))
        return self._file.add(body, card_shown(card_number, token), str(uuid4()))

    def drain(self, client: Gatepass, on_verdict: OnVerdict | None = None, *, workers: int = WORKERS) -> Drained:
        """Send what waits, oldest first, and keep each answer; returns when nothing more can be sent.

        Scans of one card go one after another, whether its number or its token was shown; up to `workers` cards go side
        by side. Each scan has the client's own patience: its retries, its deadline, its waiting on 429 and 503. If the
        network is gone, or the service is, the rest stays and `stopped_by` of the result says so: call again later. A
        single scan that the service cannot answer is left for the next time, and its card with it.

        A refusal is an answer. A key that is not accepted (401, 403) is not: it raises, and the scans stay.

        `on_verdict(verdict, db)` is called in this thread for each verdict, also for those that an earlier drain kept
        and did not report. It runs inside the SQLite transaction that marks the verdict as reported, and `db` is its
        connection. **What it writes through `db` happens exactly once**, whatever is killed when. What it does
        elsewhere, such as printing, happens at least once: again if the process dies before the commit. It should be
        quick, and must not commit. If it raises, that verdict is not reported, and the drain ends with its error.
        """
        if workers < 1:
            raise ValueError("There must be a worker.")
        with self._database.turn():
            try:
                return Drain(self._file, client, on_verdict, workers).run()
            finally:
                self._forget()

    def verdicts(self) -> Iterator[Verdict]:
        """Verdicts that were not reported yet, oldest scan first.

        One counts as reported when the loop comes back for the next. So if the process dies in the loop, or the loop is
        left, the verdict in hand comes again, and none is missed.
        """
        with self._database.turn():
            while found := self._file.unreported(REPORTED_AT_ONCE):
                for verdict in found:
                    yield verdict
                    self._file.mark_reported(verdict.id, at=datetime.now(UTC))

    @property
    def waiting(self) -> int:
        """Scans that have no answer yet."""
        return self._file.counts()[0]

    @property
    def settled(self) -> int:
        """Scans that have one, as long as they are kept."""
        return self._file.counts()[1]

    @property
    def unreported(self) -> int:
        """Scans that have one that nobody was told of."""
        return self._file.counts()[2]

    def close(self) -> None:
        """Close the file. Scans stay in it."""
        self._database.close()

    def _forget(self) -> None:
        self._file.forget(reported_before=datetime.now(UTC) - self._keep_reported)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ScanQueue({str(self._database.path)!r})"


__all__ = ["Drained", "OnVerdict", "ScanQueue", "Verdict"]
