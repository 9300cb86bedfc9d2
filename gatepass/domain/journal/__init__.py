"""The journals of devices: what gates decided while they had no network, uploaded later."""

from gatepass.domain.journal.entry import LAST_SEQUENCE, JournalEntry
from gatepass.domain.journal.reading import INVALID_ENTRY, ReadEntry, Rejection, read_all
from gatepass.domain.journal.rejections import note as note_rejections
from gatepass.domain.journal.taking import EntryResult, OpenedIncident, Outcome, missing, take
from gatepass.domain.journal.uploader import Uploader, find_uploader

__all__ = [
    "INVALID_ENTRY",
    "LAST_SEQUENCE",
    "EntryResult",
    "JournalEntry",
    "OpenedIncident",
    "Outcome",
    "ReadEntry",
    "Rejection",
    "Uploader",
    "find_uploader",
    "missing",
    "note_rejections",
    "read_all",
    "take",
]
