"""One code at the gate: the service is asked first; without an answer the device decides, writes, and shows.

Asked and not answered, a scan may have activated its ticket. So it is one scan, with one key, until its outcome is
known: a guest who is shown again repeats it, and the upload sends it once more.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from gatepass_sdk._gate.calls import ANSWER_SECONDS, GateCalls, ScanAnswer
from gatepass_sdk._gate.clock import GateClock
from gatepass_sdk._gate.code import Code
from gatepass_sdk._gate.connection import Connection
from gatepass_sdk._gate.decision import decide
from gatepass_sdk._gate.device import Device
from gatepass_sdk._gate.manifest_keeper import ManifestKeeper
from gatepass_sdk._gate.shown import ADMITTED, WARNINGS, First, Shown, first_of
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.entry import Entry
from gatepass_sdk._gate.storage.journal import Journal
from gatepass_sdk.errors import APIConnectionError, BadRequest, Conflict, RateLimited, ServerError

# Later than an admission was settled, by so much, a manifest knows it: a person may have undone it since.
MANIFEST_KNOWS: Final = timedelta(minutes=1)


class Scanner:
    def __init__(
        self,
        key: DeviceKey,
        journal: Journal,
        calls: GateCalls,
        connection: Connection,
        manifests: ManifestKeeper,
        clock: GateClock,
    ) -> None:
        self._key = key
        self._journal = journal
        self._calls = calls
        self._connection = connection
        self._manifests = manifests
        self._clock = clock
        self._alone = OneAtATime()
        self.answer_within = ANSWER_SECONDS

    def scan(self, code: Code, card: bytes, device: Device) -> Shown:
        """Raises `DeviceRevoked` or `PermissionDenied` if the device may no longer scan."""
        with self._alone.for_card(card):
            admission = self._journal.admission(card)
            if admission is not None and not self._journal.was_shown(admission):
                self._journal.showing(admission)
                return Shown.of("was_admitted", first=_first(admission), sequence=admission.sequence)
            known = admission if admission is not None and self._stands(admission) else None
            # The service does not know of it yet: it would let a second guest in.
            if known is None or known.settled_at is not None:
                shown = self._ask(code, card, device)
                if shown is not None:
                    return shown
            return self._decide(code, card, device, known)

    def _stands(self, admission: Entry) -> bool:
        manifest = self._manifests.current
        if admission.settled_at is None or manifest is None:
            return True
        return manifest.header.issued_at < admission.settled_at + MANIFEST_KNOWS

    def _ask(self, code: Code, card: bytes, device: Device) -> Shown | None:
        """The verdict of the service, or None if it does not answer in time."""
        if not self._connection.is_worth_a_try:
            return None
        earlier = self._journal.unsettled(card)
        if earlier is not None:
            self._journal.sending(earlier)
            shown = self._answer(earlier)
            if shown is None or shown.admitted:
                return shown
        # A refusal of the earlier try says nothing about now: the doors may have opened since.
        return self._answer(self._begin(code, card, device, sending=True))

    def _answer(self, entry: Entry) -> Shown | None:
        try:
            answer = self._connection.within(self.answer_within, lambda: self._calls.scan(entry, self.answer_within))
        except (APIConnectionError, ServerError) as error:
            self._connection.failed(self._clock.now(), error)
            return None
        except (RateLimited, BadRequest, Conflict):
            # The service is there, and has not judged this scan.
            return None
        self._connection.works()
        self._journal.answered(entry, answer.verdict, let_in=answer.verdict == ADMITTED, at=self._clock.now())
        return _shown_online(answer)

    def _decide(self, code: Code, card: bytes, device: Device, known: Entry | None) -> Shown:
        at = self._clock.now()
        decision = decide(self._manifests.current, code, at, device.gate, is_used_here=known is not None)
        if decision.verdict in WARNINGS:
            return Shown.of(decision.verdict)
        entry = self._journal.unsettled(card)
        if entry is None or (entry.uploaded_at is not None and entry.admitted is not decision.admitted):
            entry = self._begin(code, card, device, sending=False)
        sequence = entry.sequence
        if entry.uploaded_at is None:
            sequence = self._journal.decided(
                entry, decision.verdict, admitted=decision.admitted, key=self._key, device_id=device.id
            )
        return Shown.of(
            decision.verdict,
            category=decision.category,
            tier=decision.tier,
            first=None if known is None else _first(known),
            details=decision.details,
            sequence=sequence,
        )

    def _begin(self, code: Code, card: bytes, device: Device, *, sending: bool) -> Entry:
        return self._journal.begin(
            code,
            card,
            event_id=device.event_id,
            gate=device.gate,
            scanner_id=device.scanner_id,
            at=self._clock.now(),
            sending=sending,
        )


class OneAtATime:
    """Two readers of one gate may see copies of one code at once: the second waits for the first one's verdict."""

    def __init__(self) -> None:
        self._busy: set[bytes] = set()
        self._changed = threading.Condition()

    @contextmanager
    def for_card(self, card: bytes) -> Generator[None]:
        with self._changed:
            self._changed.wait_for(lambda: card not in self._busy)
            self._busy.add(card)
        try:
            yield
        finally:
            with self._changed:
                self._busy.discard(card)
                self._changed.notify_all()


def _shown_online(answer: ScanAnswer) -> Shown:
    return Shown.of(
        answer.verdict,
        category=answer.category,
        tier=answer.tier,
        first=first_of(answer.details),
        details=answer.details,
        online=True,
    )


def _first(entry: Entry) -> First:
    return First(at=datetime.fromisoformat(entry.occurred_at), gate=entry.gate, scanner_id=entry.scanner_id)
