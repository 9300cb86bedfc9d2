"""An export of cards: one file for one event, and its progress.

It is a durable job. Each step makes the next part of the file; the transaction that stores it also stores how far the
job has come, so that after a crash another worker goes on from there.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.errors import Refusal
from gatepass.domain.card_exports.selection import Selection
from gatepass.domain.card_sheets import Layout

# Of one file: a PDF of this many has about 120 MB, and its table of offsets is in memory once.
MOST_CARDS: Final = 100_000
# Chosen one by one, in a list of tickets.
MOST_CHOSEN: Final = 200
# Files of an organization that are being made, and that are kept.
MOST_UNDER_WAY: Final = 3
MOST_KEPT: Final = 20
# A file opens gates for whoever has it, so it is deleted after a day.
KEPT_FOR: Final = timedelta(hours=24)
# As for a card that is printed alone.
LONGEST_TOKEN: Final = timedelta(days=400)
# Cards of a part. Whole pages of ten, so that no page in the middle of the file has gaps.
CARDS_OF_PDF_PART: Final = 250
CARDS_OF_CSV_PART: Final = 1_000


class ExportKind(StrEnum):
    CSV = "csv"
    PDF = "pdf"


class ExportState(StrEnum):
    UNDER_WAY = "under_way"
    READY = "ready"
    STOPPED = "stopped"
    FAILED = "failed"
    DELETED = "deleted"


class ExportNotFound(Refusal):
    """There is no such file of cards."""

    code = "card_export_not_found"


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """What somebody wants to have. `layout` is None for CSV."""

    event_id: UUID
    kind: ExportKind
    layout: Layout | None
    selection: Selection
    token_until: datetime
    with_names: bool


@dataclass(frozen=True, slots=True)
class CardExport:
    organization_id: UUID
    id: UUID
    event_id: UUID
    kind: ExportKind
    layout: str
    with_names: bool
    category_id: UUID | None
    ticket_ids: list[UUID] | None
    token_until: datetime
    state: ExportState
    problem: str | None
    total: int
    done: int
    boxed: int
    reached: UUID
    parts: int
    objects: int
    pages: int
    size: int
    failures: int
    downloads: int
    created_at: datetime
    created_by: str
    ended_at: datetime | None
    expires_at: datetime | None

    @property
    def selection(self) -> Selection:
        return Selection(self.category_id, self.ticket_ids)

    @property
    def share(self) -> float:
        """The progress, from 0 to 1."""
        return 1.0 if self.state is not ExportState.UNDER_WAY else min(1.0, self.done / max(1, self.total))

    @property
    def cards_a_part(self) -> int:
        return CARDS_OF_CSV_PART if self.kind is ExportKind.CSV else CARDS_OF_PDF_PART


# Of `card_export`, in the order of the fields above.
COLUMNS: Final = """
           organization_id, id, event_id, kind, layout, with_names, category_id, ticket_ids, token_until, state,
           problem, total, done, boxed, reached, parts, objects, pages, size, failures, downloads, created_at,
           created_by, ended_at, expires_at
"""
