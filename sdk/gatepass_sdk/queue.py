"""Scans on bad networks: stored in a file first, sent when there is a network, answered once.

    with ScanQueue("scans.db") as queue:
        queue.add(event_id, token=token, scanner_id="scanner-7", gate="North 2")   # needs no network
        queue.drain(client)                                                        # whenever there may be one
        for verdict in queue.verdicts():
            print(verdict.card, "activated" if verdict.ticket else verdict.message)

When `add` returns, the scan is on the disk: it survives `kill -9` and, if the disk does not lie, a power cut. It is
sent with the key and the time that it got in `add`, as often as needed, so it activates a ticket once however many
answers are lost.

If the service was restored from a backup, `resend_scans` sends the activations again that it has lost, from the files
of all gates.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from gatepass_sdk._card import card_shown
from gatepass_sdk._queue.database import QueueDatabase
from gatepass_sdk._queue.resend import WORKERS, Resent, resend, resend_scans
from gatepass_sdk._queue.scan_file import OnVerdict, ScanFile
from gatepass_sdk._queue.sender import REPORTED_AT_ONCE, Drained, QueueSender
from gatepass_sdk._queue.verdict import Verdict
from gatepass_sdk._scan import scan_body
from gatepass_sdk._sync.client import Gatepass

# Longer than the service accepts late scans (72 hours), so that a late 409 can be recognized as our own activation, and
# an activation can be sent again as long as the service accepts it.
KEEP_REPORTED: Final = timedelta(days=7)


class ScanQueue:
    """Scans in one SQLite file on a local disk, for one organization, live or sandbox.

    Any number of threads and processes may `add` at any time; one at a time may `drain` or read `verdicts`, and others
    get `QueueInUse`. The lock of a process that dies is released.

    Card tokens are secrets: a copy of one is enough to enter. Only its owner can read the file (mode 0600). A token is
    removed in the commit that stores the answer to it, and a whole scan, with its card number, `keep_reported` after
    its verdict was reported. Until then an activation can be sent again, by its card number.

    It works with the synchronous client. In asynchronous programs use `await asyncio.to_thread(queue.drain, client)`.
    """

    def __init__(self, path: str | PathLike[str], *, keep_reported: timedelta = KEEP_REPORTED) -> None:
        """Open the file, or create it. Raises `QueueError` if it cannot be used."""
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
        """Store a scan. Returns its id; ids grow. When this returns, the scan is on the disk.

        `occurred_at` is now if it is not given. The service accepts a scan for 72 hours.
        """
        body = scan_body(event_id, card_number, token, scanner_id, gate, occurred_at or datetime.now(UTC))
        return self._file.add(body, card_shown(card_number, token), str(uuid4()))

    def drain(self, client: Gatepass, on_verdict: OnVerdict | None = None, *, workers: int = WORKERS) -> Drained:
        """Send the waiting scans, oldest first, and store each answer. Returns when nothing more can be sent.

        Scans of one card are sent one after another, whether by its number or its token; up to `workers` cards are sent
        in parallel. Each scan has the retries and the deadline of the client, and its waits on 429 and 503. If the
        network or the service is down, the rest stays and `stopped_by` of the result has the error: call again later. A
        single scan that the service cannot answer is left for the next drain, and so are the later scans of its card.

        A refusal is an answer. A key that is not accepted (401, 403) is not an answer: it raises, and the scans stay.

        `on_verdict(verdict, db)` is called in this thread for each verdict, also for those that an earlier drain stored
        and did not report. It runs inside the SQLite transaction that marks the verdict as reported, and `db` is its
        connection. **A write through `db` happens exactly once**, even if the process is killed at any time. Any other
        effect, such as printing, happens at least once: again if the process dies before the commit. It should be
        quick, and must not commit. If it raises, that verdict is not reported, and the drain ends with its error.
        """
        if workers < 1:
            raise ValueError("There must be a worker.")
        with self._database.exclusive():
            try:
                return QueueSender(self._file, client, on_verdict, workers).run()
            finally:
                self._forget()

    def verdicts(self) -> Iterator[Verdict]:
        """Verdicts that were not reported yet, oldest scan first.

        A verdict counts as reported when the loop asks for the next one. So if the process dies in the loop, or the
        loop is left, the current verdict comes again, and none is missed.
        """
        with self._database.exclusive():
            while found := self._file.unreported(REPORTED_AT_ONCE):
                for verdict in found:
                    yield verdict
                    self._file.mark_reported(verdict.id, at=datetime.now(UTC))

    def resend(self, client: Gatepass, *, since: datetime, workers: int = WORKERS) -> Resent:
        """Send the activations of this file again that were acknowledged after `since`: see `resend_scans`."""
        with self._database.exclusive():
            return resend([self._file], client, since=since, workers=workers)

    @property
    def waiting(self) -> int:
        """The number of scans without an answer."""
        return self._file.counts()[0]

    @property
    def settled(self) -> int:
        """The number of scans with an answer that are still stored."""
        return self._file.counts()[1]

    @property
    def unreported(self) -> int:
        """The number of scans with an answer that was not reported yet."""
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


__all__ = ["Drained", "OnVerdict", "Resent", "ScanQueue", "Verdict", "resend_scans"]
