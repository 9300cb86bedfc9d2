"""Reading entries: who signed them, what they are about, and when it happened. All of it before a transaction.

Two signatures are verified for each entry, its own and that of the token in it, in about 0.2 ms. So this is called in
a thread: libsodium lets other threads run meanwhile.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.ids import new_id
from gatepass.domain import cards
from gatepass.domain.cards import InvalidToken, PhoneCode, Token, phone_code
from gatepass.domain.journal.entry import JournalEntry
from gatepass.domain.journal.uploader import Uploader
from gatepass.domain.tickets import Scan

# After the end of its event a device has so long to upload, as a scan of another gate has to come in late.
LATE: Final = timedelta(hours=72)

INVALID_SIGNATURE: Final = "invalid_signature"
INVALID_ENTRY: Final = "invalid_entry"
NOT_ASSIGNED: Final = "not_assigned"
TOO_LATE: Final = "too_late"

# Why an admission can open incidents only.
DISTRUSTED: Final = "written before the device was paired again"
ELSEWHERE: Final = "the device did not work for this event then"


class Rejection(msgspec.Struct, frozen=True):
    """An entry that is not taken. The device keeps it and shows it."""

    sequence: int
    code: str


class ReadEntry(msgspec.Struct, frozen=True):
    """An entry whose signature is good, in the columns that `reading.sql` takes.

    `corrected_at` is when it happened by our clock. `held` says why it activates nothing, whatever the rules say.
    Without a card number the token was not one of ours.
    """

    id: UUID
    organization_id: UUID
    tenant_id: UUID
    mode: str
    key_id: UUID
    device_id: UUID
    sequence: int
    content: UUID
    fingerprint: UUID
    idempotency_key: UUID
    event_id: UUID
    card_number: str | None
    typed: bool
    admitted: bool
    gate: str
    scanner_id: str | None
    occurred_at: datetime
    clock_offset_ms: int | None
    corrected_at: datetime
    signing_key: UUID | None
    expired: bool
    given: msgspec.Raw
    held: str | None


def read_all(
    uploader: Uploader, entries: Sequence[JournalEntry], *, received_at: datetime
) -> list[ReadEntry | Rejection]:
    return [read(uploader, entry, received_at=received_at) for entry in entries]


def read(uploader: Uploader, entry: JournalEntry, *, received_at: datetime) -> ReadEntry | Rejection:
    """The entry, ready to be judged, or why it is not taken."""
    if not entry.is_signed_by(uploader.device_id, uploader.public_key):
        return Rejection(entry.sequence, INVALID_SIGNATURE)
    at = uploader.corrected(entry.occurred_at, received_at)
    found = uploader.assignment(entry.event_id, entry.gate, at)
    if found is None:
        return Rejection(entry.sequence, NOT_ASSIGNED)
    assignment, was_assigned = found
    if received_at >= assignment.ends_at + LATE:
        return Rejection(entry.sequence, TOO_LATE)
    held = None if was_assigned else ELSEWHERE
    if uploader.distrusted_until is not None and at < uploader.distrusted_until:
        held = DISTRUSTED
    return _ready(uploader, entry, at, assignment.gate, held if entry.admitted else None)


def _ready(uploader: Uploader, entry: JournalEntry, at: datetime, gate: str, held: str | None) -> ReadEntry:
    """In the columns of a scan: `POST /scan` with the same key must find the same fingerprint."""
    token = None if entry.typed else _token(uploader, entry.shown)
    number = cards.normalize_number(entry.shown) if entry.typed else token.card_number if token else None
    scan = Scan(
        request_id=new_id(),
        organization_id=uploader.organization_id,
        mode=uploader.mode,
        key_id=uploader.key_id,
        address=None,
        elapsed_us=0,
        idempotency_key=entry.idempotency_key,
        event_id=entry.event_id,
        card_number=number or "",
        shown=number or entry.shown if entry.typed else entry.shown,
        expired=token is not None and token.is_expired(at),
        gate=entry.gate,
        scanner_id=entry.scanner_id,
        occurred_at=entry.occurred_at,
        signing_key=token.signing_key if token else None,
        phone=token.phone if token else None,
        fresh=token is not None and token.is_fresh(at),
    )
    key = scan.idempotency_digest()
    assert key is not None  # noqa: S101  an entry has one
    return ReadEntry(
        id=scan.request_id,
        organization_id=scan.organization_id,
        tenant_id=uploader.tenant_id,
        mode=scan.mode,
        key_id=scan.key_id,
        device_id=uploader.device_id,
        sequence=entry.sequence,
        content=entry.content(),
        fingerprint=scan.fingerprint(),
        idempotency_key=key,
        event_id=scan.event_id,
        card_number=number,
        typed=entry.typed,
        admitted=entry.admitted,
        gate=gate,
        scanner_id=scan.scanner_id,
        occurred_at=entry.occurred_at,
        clock_offset_ms=uploader.clock_offset_ms,
        corrected_at=at,
        signing_key=scan.signing_key,
        expired=scan.expired,
        given=_given(scan, admitted=entry.admitted),
        held=held,
    )


def _token(uploader: Uploader, shown: str) -> Token | PhoneCode | None:
    try:
        if phone_code.is_phone_code(shown):
            return phone_code.verify(shown, uploader.card_keys)
        return cards.read_token(shown, uploader.card_keys)
    except InvalidToken:
        return None


def _given(scan: Scan, *, admitted: bool) -> msgspec.Raw:
    facts = msgspec.json.decode(scan.facts() or "{}")
    return msgspec.Raw(msgspec.json.encode({**facts, "admitted": admitted}))
