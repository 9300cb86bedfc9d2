"""An entry of a device's journal: a card that was shown while nobody could ask us, and what the device decided.

The device signs each entry with its own key, so that nobody who holds a stolen API key can write one, and none can be
changed, moved to another device or put elsewhere in the sequence.
"""

import hashlib
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.ids import digest_of
from gatepass.domain.cards.phone_code import is_signed

CONTEXT: Final = "svc-journal-1"
# What JSON can carry exactly in every language.
LAST_SEQUENCE: Final = 2**53 - 1


class JournalEntry(msgspec.Struct, frozen=True):
    """`occurred_text` is the device's time as it was sent and signed; `occurred_at` is the same as a time.

    `shown` is the card number that somebody typed, or else the token that was read.
    """

    sequence: int
    idempotency_key: str
    event_id: UUID
    shown: str
    typed: bool
    gate: str | None
    scanner_id: str | None
    occurred_text: str
    occurred_at: datetime
    admitted: bool
    signature: bytes

    def signed_bytes(self, device_id: UUID) -> bytes:
        """What the signature covers. No part holds a line feed, so that no two entries have the same bytes."""
        return "\n".join(
            (
                CONTEXT,
                str(device_id),
                str(self.sequence),
                self.idempotency_key,
                str(self.event_id),
                hashlib.sha256(self.shown.encode()).hexdigest(),
                self.gate or "",
                self.occurred_text,
                "true" if self.admitted else "false",
            )
        ).encode()

    def is_signed_by(self, device_id: UUID, public_key: bytes) -> bool:
        return is_signed(self.signed_bytes(device_id), self.signature, public_key)

    def content(self) -> UUID:
        """A digest of everything in it. Under one sequence there is one content."""
        return digest_of(
            self.idempotency_key, self.event_id, self.shown, self.typed, self.gate, self.scanner_id,
            self.occurred_text, self.admitted,
        )  # fmt: skip
