"""What comes of journals: the results of an upload, and incidents, where somebody was let in against the record.

`models.py` has them too.
"""

from dataclasses import dataclass
from datetime import datetime

from gatepass_sdk._decode import Model


@dataclass(frozen=True, kw_only=True)
class OpenedIncident(Model):
    """An incident that an entry of a journal opened."""

    id: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class JournalEntryResult(Model):
    """`outcome` is `activated`, `recorded` or `rejected`. A rejected entry is not taken: keep it, and show it."""

    sequence: int
    outcome: str
    code: str | None
    ticket_id: str | None
    incidents: tuple[OpenedIncident, ...]


@dataclass(frozen=True, kw_only=True)
class ScanBatch(Model):
    """A result for each entry, and the gaps in the device's sequence: pairs of a first and a last number."""

    results: tuple[JournalEntryResult, ...]
    missing: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class FirstAdmission(Model):
    """The admission before, of a duplicate: the one that came to the service first."""

    gate: str | None
    device_id: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    received_at: datetime


@dataclass(frozen=True, kw_only=True)
class Incident(Model):
    """Somebody was let in, and the record says otherwise. `kind` is `duplicate`, `revoked_meanwhile` and so on.

    `occurred_at` is the device's time, `corrected_at` the same by the clock of the service.
    """

    id: str
    event_id: str
    kind: str
    ticket_id: str | None
    card_number: str | None
    gate: str | None
    device_id: str | None
    occurred_at: datetime | None
    corrected_at: datetime | None
    received_at: datetime
    first: FirstAdmission | None
    reason: str | None
    closed_at: datetime | None
    closed_by: str | None
    note: str | None
