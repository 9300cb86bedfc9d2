"""Sending acknowledged activations again, to a service that was restored to an earlier time and has lost them.

Only activations are sent: a ticket has one, so the same scan wins again in whatever order gates come. A refusal is not
sent, because a ticket that was refused then might be activated now. They are sent by the card's number, because the
token is removed with its answer, and with their own keys, so that nothing happens twice.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Final
from uuid import UUID, uuid5

from gatepass_sdk._queue.database import QueueDatabase
from gatepass_sdk._queue.scan_file import ScanFile
from gatepass_sdk._queue.sender import FAILURES_IN_A_ROW, is_about_the_scan, is_unreachable
from gatepass_sdk._queue.verdict import CLOCKS_DIFFER, Outcome, QueuedScan, Verdict, is_own_activation
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk.errors import APIConnectionError, APIStatusError, GatepassError, QueueError, RateLimited, ServerError

# With eight, 10,000 scans over a network that takes 200 ms are sent in four minutes.
WORKERS: Final = 8
# A refusal is kept under its key for two days, and each run that is refused uses up one key.
KEYS: Final = 32
# The service has this key, with the token instead of the number.
KEY_IS_KNOWN: Final = "idempotency_key_reused"


@dataclass(frozen=True, kw_only=True)
class Resent:
    """The result of a resend. `restored` activations were lost and are there again; `present` were not lost.

    - `conflicts`: another scan has activated the ticket since the restore. `details` says when and where.
    - `refused`: the service refuses it now, for instance because it has lost the ticket or the card too.
    - `missing`: refusals that name an activation after `since`, which none of these files holds: the file of another
      gate is missing. `details` says which.
    - `unanswered`: how many got no answer. `stopped_by` is the error that ended the resend early, or None.
    """

    restored: int = 0
    present: int = 0
    conflicts: tuple[Verdict, ...] = ()
    refused: tuple[Verdict, ...] = ()
    missing: tuple[Verdict, ...] = ()
    unanswered: int = 0
    stopped_by: GatepassError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every acknowledged activation is in the service now, as it was."""
        return not (self.conflicts or self.refused or self.missing or self.unanswered)


def resend_scans(
    paths: Iterable[str | PathLike[str]], client: Gatepass, *, since: datetime, workers: int = WORKERS
) -> Resent:
    """Send again what a restored service has lost: every activation that it acknowledged after `since`.

    `since` is the time to which the service was restored. Give the files of all gates' queues at once, and call this
    before any gate scans or drains again: then each ticket has the same winner as before. Activations that were not
    lost are found by their keys and stay as they are, so an earlier `since` does no harm, and a call that was stopped
    or killed may be repeated.

    Scans go by card number, key, gate, scanner and `occurred_at`, oldest first; up to `workers` cards in parallel. The
    service accepts them for 72 hours. Refusals and waiting scans are not sent; drain the queues afterwards.

    A key that is not accepted (401, 403) raises. If the service does not answer, `stopped_by` of the result has the
    error: call again later.
    """
    with ExitStack() as opened:
        files: list[ScanFile] = []
        for path in map(Path, paths):
            if not path.exists():
                raise QueueError(f"{path}: there is no such file.")
            database = QueueDatabase(path.absolute())
            opened.callback(database.close)
            opened.enter_context(database.exclusive())
            files.append(ScanFile(database))
        return resend(files, client, since=since, workers=workers)


def resend(files: Sequence[ScanFile], client: Gatepass, *, since: datetime, workers: int) -> Resent:
    """Send what was acknowledged after `since` by the clocks of the gates, and a little from before."""
    if workers < 1:
        raise ValueError("There must be a worker.")
    if since.tzinfo is None:
        raise ValueError("Give the time with its zone, such as datetime.now(UTC).")
    after = since - CLOCKS_DIFFER
    sender = Resender(client)
    sender.run(merged(file.acknowledged(after=after) for file in files), workers)
    return Resent(
        restored=sender.restored,
        present=sender.present,
        conflicts=tuple(sender.conflicts),
        refused=tuple(sender.refused),
        missing=tuple(_missing(files, since=since)),
        unanswered=sender.unanswered,
        stopped_by=sender.stopped_by,
    )


def merged(files: Iterable[Iterable[tuple[datetime, QueuedScan]]]) -> list[list[QueuedScan]]:
    """The scans of all files, oldest answer first, by card: those of one card are sent one after another."""
    of_card: defaultdict[str, list[QueuedScan]] = defaultdict(list)
    for _, scan in sorted((pair for file in files for pair in file), key=lambda pair: pair[0]):
        of_card[scan.card].append(scan)
    return list(of_card.values())


def _missing(files: Sequence[ScanFile], *, since: datetime) -> Iterator[Verdict]:
    known = {ticket for file in files for ticket in file.activated_or_waiting()}
    for file in files:
        for refusal in file.already_activated():
            ticket = (refusal.event_id, refusal.card)
            if ticket not in known and _activated_at(refusal) >= since:
                known.add(ticket)
                yield refusal


def _activated_at(refusal: Verdict) -> datetime:
    return datetime.fromisoformat(str(refusal.details["activated_at"]))


class Resender:
    """One run. It writes nothing to the files: after a kill, the next run finds in the service what this one did."""

    def __init__(self, client: Gatepass) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._failures = 0
        self._is_over = False
        self.restored = self.present = self.unanswered = 0
        self.conflicts: list[Verdict] = []
        self.refused: list[Verdict] = []
        self.stopped_by: GatepassError | None = None

    def run(self, cards: Sequence[Sequence[QueuedScan]], workers: int) -> None:
        self.unanswered = sum(map(len, cards))
        with ThreadPoolExecutor(workers, thread_name_prefix="scan-resend") as pool:
            try:
                for _ in pool.map(self._send_card, cards):
                    pass
            finally:
                self._is_over = True

    def _send_card(self, scans: Sequence[QueuedScan]) -> None:
        """One scan after another. After one without an answer no later one of its card is sent."""
        for scan in scans:
            if self._is_over or self.stopped_by is not None:
                return
            try:
                replayed = self._activate(scan)
            except APIStatusError as error:
                if not is_about_the_scan(error):
                    self._fail(error)
                    return
                self._record_refusal(scan, error)
            except GatepassError as error:
                self._fail(error)
                return
            else:
                self._count(present=replayed)

    def _activate(self, scan: QueuedScan) -> bool:
        """Activate the ticket; whether it was activated by this scan before.

        A refusal of an earlier run is kept under its key. The next key asks again: the ticket may be back by now.
        """
        for n in range(KEYS):
            try:
                return self._client.scans.create(
                    scan.event_id,
                    card_number=scan.card_number or scan.card,
                    scanner_id=scan.scanner_id,
                    gate=scan.gate,
                    occurred_at=scan.occurred_at,
                    idempotency_key=_key(scan, n),
                ).replayed
            except APIStatusError as error:
                if not error.replayed or n == KEYS - 1:
                    raise
        raise AssertionError

    def _record_refusal(self, scan: QueuedScan, error: APIStatusError) -> None:
        now = datetime.now(UTC)
        if error.code == KEY_IS_KNOWN or is_own_activation(error, scan, now):
            self._count(present=True)
            return
        refusal = Verdict.of(scan, Outcome.refused(error, scan, at=now, activated_by_another=True), now)
        with self._lock:
            (self.conflicts if error.code == "already_activated" else self.refused).append(refusal)
            self._failures = 0
            self.unanswered -= 1

    def _count(self, *, present: bool) -> None:
        with self._lock:
            self.present += present
            self.restored += not present
            self._failures = 0
            self.unanswered -= 1

    def _fail(self, error: GatepassError) -> None:
        """The scan got no answer. If the service answers nobody, or does not accept the key, the run is over."""
        if not isinstance(error, APIConnectionError | RateLimited | ServerError):
            raise error
        with self._lock:
            self._failures += 1
            if is_unreachable(error) or self._failures >= FAILURES_IN_A_ROW:
                self.stopped_by = error


def _key(scan: QueuedScan, n: int) -> str:
    return str(uuid5(UUID(scan.idempotency_key), str(n))) if n else scan.idempotency_key
