"""Uploading the journal: in order, in batches, until the service has every entry."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from gatepass_sdk._gate.calls import GateCalls
from gatepass_sdk._gate.clock import GateClock
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.entry import Entry
from gatepass_sdk._gate.storage.journal import Journal
from gatepass_sdk.errors import APIConnectionError, GatepassError, RateLimited, ServerError

# The service takes 500 entries in 512 KiB. So few that a bad network carries them before the call ends.
MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 200 * 1024
# A guest whose scan had no decision, and who did not come back in this time, was not let in.
ABANDONED: Final = timedelta(minutes=10)
# As long as a ticket's first admission may have to be recognized here: longer than any event's manifest.
KEEP_SETTLED: Final = timedelta(days=7)
ABANDONED_VERDICT: Final = "abandoned"


@dataclass(frozen=True, kw_only=True)
class Uploaded:
    """What one upload did. `stopped_by` is the error that ended it early; call again later.

    `incidents` is how many entries disagree with what the service knows, `missing` the gaps that it sees in the
    sequence: pairs of a first and a last number.
    """

    activated: int = 0
    recorded: int = 0
    rejected: int = 0
    incidents: int = 0
    waiting: int = 0
    missing: tuple[tuple[int, int], ...] = ()
    stopped_by: GatepassError | None = None


class Uploader:
    def __init__(self, journal: Journal, calls: GateCalls, clock: GateClock, key: DeviceKey, device_id: str) -> None:
        self._journal = journal
        self._calls = calls
        self._clock = clock
        self._key = key
        self._device_id = device_id

    def run(self) -> Uploaded:
        """Raises if the device was revoked, or may not upload (401, 403): the entries stay."""
        self._close_abandoned()
        results: list[dict[str, Any]] = []
        missing: list[list[int]] = []
        stopped_by: GatepassError | None = None
        last = 0
        try:
            while entries := within_limits(self._journal.waiting(MOST_ENTRIES, after=last)):
                self._journal.uploading(entries, at=self._clock.now())
                answered, missing = self._calls.upload(entries)
                self._journal.acknowledged(answered, at=self._clock.now())
                results += answered
                last = entries[-1].sequence or last
        except (APIConnectionError, ServerError, RateLimited) as error:
            stopped_by = error
        finally:
            self._journal.forget(before=self._clock.now() - KEEP_SETTLED)
        outcomes = [result.get("outcome") for result in results]
        return Uploaded(
            activated=outcomes.count("activated"),
            recorded=outcomes.count("recorded"),
            rejected=outcomes.count("rejected"),
            incidents=sum(bool(result.get("incidents")) for result in results),
            waiting=self._journal.count_waiting(),
            missing=tuple((int(first), int(last)) for first, last in missing),
            stopped_by=stopped_by,
        )

    def _close_abandoned(self) -> None:
        """Nobody was let in by these scans. Once that is uploaded, their codes are deleted too."""
        for entry in self._journal.abandoned(before=self._clock.now() - ABANDONED):
            self._journal.decided(entry, ABANDONED_VERDICT, admitted=False, key=self._key, device_id=self._device_id)


def within_limits(entries: Sequence[Entry]) -> list[Entry]:
    """As many of the first entries as one call may carry."""
    taken: list[Entry] = []
    size = 0
    for entry in entries:
        size += len(json.dumps(entry.uploaded)) + 2
        if taken and size > MOST_BYTES:
            break
        taken.append(entry)
    return taken
