"""One scan of a gate: what was shown, what came of it, and, if the device decided, its signed entry of the journal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gatepass_sdk._gate.code import Code
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.encryption import Sealer

# The service judged the same moment by the same rules, so it cannot have activated the ticket: seen again later, such a
# guest is judged anew.
OF_ITS_TIME: Final = frozenset({"doors_closed", "expired", "outside_window", "event_not_active"})


@dataclass(frozen=True, slots=True)
class Entry:
    """`code` is None when the service has the scan. `occurred_at` is the text that every try sends."""

    id: int
    idempotency_key: str
    card: bytes
    event_id: str
    gate: str
    scanner_id: str
    occurred_at: str
    code: Code | None
    was_sent: bool
    verdict: str | None
    let_in: bool
    was_seen: bool
    sequence: int | None
    admitted: bool | None
    signature: str | None
    uploaded_at: datetime | None
    settled_at: datetime | None

    @classmethod
    def of(cls, row: Sequence[Any], sealer: Sealer) -> "Entry":
        id, key, card, event_id, gate, scanner_id, occurred_at, shown, sent, verdict, let_in, seen, *rest = row
        sequence, admitted, signature, uploaded_at, settled_at = rest
        return cls(
            id=id,
            idempotency_key=key,
            card=card,
            event_id=event_id,
            gate=gate,
            scanner_id=scanner_id,
            occurred_at=occurred_at,
            code=None if shown is None else Code.from_bytes(sealer.opened(shown, f"scan {key}")),
            was_sent=bool(sent),
            verdict=verdict,
            let_in=bool(let_in),
            was_seen=bool(seen),
            sequence=sequence,
            admitted=None if admitted is None else bool(admitted),
            signature=signature,
            uploaded_at=_moment(uploaded_at),
            settled_at=_moment(settled_at),
        )

    @property
    def is_unsettled(self) -> bool:
        """Whether the same scan must be repeated: its ticket may have been activated, and nobody was let in for it."""
        if self.code is None or self.settled_at is not None or self.let_in:
            return False
        return self.verdict is None or (self.was_sent and self.verdict not in OF_ITS_TIME)

    @property
    def body(self) -> dict[str, Any]:
        """The scan as every try and the upload send it."""
        if self.code is None:
            raise AssertionError
        known = {"event_id": self.event_id, "gate": self.gate, "scanner_id": self.scanner_id}
        return {**known, **self.code.sent, "occurred_at": self.occurred_at}

    @property
    def uploaded(self) -> dict[str, Any]:
        """As `POST /scans/batch` takes it."""
        known = {"sequence": self.sequence, "idempotency_key": self.idempotency_key}
        return {**known, **self.body, "admitted": self.admitted, "signature": self.signature}

    def signed(self, key: DeviceKey, device_id: str, sequence: int, *, admitted: bool) -> str:
        if self.code is None:
            raise AssertionError
        said = "true" if admitted else "false"
        scan = (self.idempotency_key, self.event_id, self.code.digest, self.gate, self.occurred_at, said)
        return key.signature("svc-journal-1", device_id, str(sequence), *scan)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
