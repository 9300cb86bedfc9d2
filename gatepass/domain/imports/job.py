"""An import: one file of tickets for one event, and its progress.

It is a durable job. Each step (checking, applying, undoing) goes through the file in batches. The transaction of each
batch also stores the last line in the row of the import, so that after a crash another worker continues from there.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.errors import Refusal
from gatepass.base.ids import id_of

# The limits of a file. A larger one must be split.
LARGEST_FILE: Final = 256 * 1024 * 1024
MOST_ROWS: Final = 2_000_000
# With the empty ones, of which a spreadsheet may write a million.
MOST_LINES: Final = 2 * MOST_ROWS
MOST_COLUMNS: Final = 50
LONGEST_ROW: Final = 10 * 1024
# Ids have 32 bits for the line.
LAST_LINE: Final = 2**32 - 1


class ImportState(StrEnum):
    RECEIVING = "receiving"
    REFUSED = "refused"
    MAPPING = "mapping"
    CHECKING = "checking"
    CHECKED = "checked"
    APPLYING = "applying"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    DISCARDED = "discarded"

    @property
    def is_under_way(self) -> bool:
        return self in (ImportState.RECEIVING, ImportState.CHECKING, ImportState.APPLYING, ImportState.UNDOING)


class Field(StrEnum):
    """The data that a column may hold. The reference is the external id of a ticket.

    A last name follows the name, for files that have first and last names apart.
    """

    CARD_NUMBER = "card_number"
    NAME = "name"
    LAST_NAME = "last_name"
    EMAIL = "email"
    CATEGORY = "category"
    REFERENCE = "reference"


class Fault(StrEnum):
    """Why a row cannot be imported."""

    TOO_MANY_CELLS = "too_many_cells"
    UNREADABLE = "unreadable"
    NAME_TOO_LONG = "name_too_long"
    NAME_UNPRINTABLE = "name_unprintable"
    EMAIL_INVALID = "email_invalid"
    REFERENCE_TOO_LONG = "reference_too_long"
    NO_CATEGORY = "no_category"
    UNKNOWN_CATEGORY = "unknown_category"
    AMBIGUOUS_CATEGORY = "ambiguous_category"
    SOLD_OUT = "sold_out"
    BAD_CARD_NUMBER = "bad_card_number"
    UNKNOWN_CARD = "unknown_card"
    CARD_SUSPENDED = "card_suspended"
    CARD_REVOKED = "card_revoked"
    CARD_HAS_TICKET = "card_has_ticket"
    GUEST_HAS_TICKET = "guest_has_ticket"
    REFERENCE_TAKEN = "reference_taken"
    DUPLICATE_CARD = "duplicate_card"
    DUPLICATE_REFERENCE = "duplicate_reference"
    EVENT_CLOSED = "event_closed"
    SANDBOX_FULL = "sandbox_full"

    @property
    def sentence(self) -> str:
        return SENTENCES[self]


SENTENCES: Final[dict[Fault, str]] = {
    Fault.TOO_MANY_CELLS: "The row has more cells than the first line has columns.",
    Fault.UNREADABLE: "The row has characters that cannot be stored (NUL).",
    Fault.NAME_TOO_LONG: "The name is longer than 200 characters.",
    Fault.NAME_UNPRINTABLE: "The name has a line break, or a character that cannot be shown.",
    Fault.EMAIL_INVALID: "The e-mail address is not one, or longer than 320 characters.",
    Fault.REFERENCE_TOO_LONG: "The external id is longer than 128 characters, or cannot be printed.",
    Fault.NO_CATEGORY: "The row names no category.",
    Fault.UNKNOWN_CATEGORY: "The event has no category or tier of this name.",
    Fault.AMBIGUOUS_CATEGORY: "Several categories have this name or tier.",
    Fault.SOLD_OUT: "The category is sold out.",
    Fault.BAD_CARD_NUMBER: "This is not a card number; a digit may be mistyped.",
    Fault.UNKNOWN_CARD: "There is no card with this number.",
    Fault.CARD_SUSPENDED: "This card is suspended.",
    Fault.CARD_REVOKED: "This card is revoked.",
    Fault.CARD_HAS_TICKET: "This card already holds a ticket for the event.",
    Fault.GUEST_HAS_TICKET: "This guest already has a ticket for the event, or stands in an earlier row too.",
    Fault.SANDBOX_FULL: "The sandbox is full.",
    Fault.REFERENCE_TAKEN: "A ticket of this event already has this external id.",
    Fault.DUPLICATE_CARD: "The card number stands in an earlier row too.",
    Fault.DUPLICATE_REFERENCE: "The external id stands in an earlier row too.",
    Fault.EVENT_CLOSED: "The event was cancelled or has ended.",
}


class ImportNotFound(Refusal):
    """There is no such import."""

    code = "import_not_found"


class FileRefused(Refusal):
    """This file cannot be imported."""

    code = "file_refused"


@dataclass(frozen=True, slots=True)
class Import:
    organization_id: UUID
    id: UUID
    event_id: UUID
    file_name: str
    state: ImportState
    problem: str | None
    header: list[str]
    columns: list[str] | None
    category_id: UUID | None
    companions: bool
    round: int
    row_count: int
    last_line: int
    reached: int
    faulty: int
    tickets_made: int
    cards_made: int
    tickets_removed: int
    tickets_kept: int
    created_at: datetime
    created_by: str
    ended_at: datetime | None
    encoding: str | None

    @property
    def share(self) -> float:
        """The progress of the current step, from 0 to 1."""
        if not self.state.is_under_way:
            return 1.0
        return min(1.0, self.reached / self.last_line) if self.last_line else 0.0

    @property
    def good(self) -> int:
        return self.row_count - self.faulty


# Of `import`, in the order of the fields above.
COLUMNS: Final = """
           organization_id, id, event_id, file_name, state, problem, header, columns, category_id, companions, round,
           row_count, last_line, reached, faulty, tickets_made, cards_made, tickets_removed, tickets_kept, created_at,
           created_by, ended_at, encoding
"""


class Made(StrEnum):
    TICKET = "ticket"
    CARD = "card"


_KINDS: Final = {Made.TICKET: 0x81, Made.CARD: 0x82}


def made_id(import_id: UUID, kind: Made, line: int) -> UUID:
    """The id of the ticket or card that is made of a line. Ids of one kind are adjacent in the index, in file order.

    So a repeated step makes nothing twice, and undoing an import needs no list of what it made.
    """
    raw = import_id.bytes
    return id_of(raw[:8] + bytes([_KINDS[kind]]) + raw[9:12] + line.to_bytes(4, "big"))


def line_of(id: UUID) -> int:
    return int.from_bytes(id.bytes[12:], "big")


def first_and_last_maker(id: UUID) -> tuple[UUID, UUID]:
    """The range of ids that contains the import that made this ticket or card, if one did."""
    raw = id.bytes
    return id_of(raw[:8] + bytes(8)), id_of(raw[:8] + b"\xff" * 8)
