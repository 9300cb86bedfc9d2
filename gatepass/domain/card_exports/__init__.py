"""Files of many cards: PDFs to print, and CSV with links and tokens, made by the worker and kept sealed for a day."""

from gatepass.domain.card_exports.batch import Batch, next_batch, takes_phones_only
from gatepass.domain.card_exports.cleanup import sweep_some
from gatepass.domain.card_exports.file_parts import begin_download, name_of, read_part
from gatepass.domain.card_exports.job import (
    LONGEST_TOKEN,
    MOST_CARDS,
    MOST_CHOSEN,
    CardExport,
    ExportKind,
    ExportNotFound,
    ExportOrder,
    ExportState,
)
from gatepass.domain.card_exports.listing import find, of_event
from gatepass.domain.card_exports.requests import begin, delete, stop
from gatepass.domain.card_exports.runner import (
    LEASE,
    claim,
    fail,
    put_off,
    record_csv,
    record_pdf,
)
from gatepass.domain.card_exports.selection import Counted, Selection, count
from gatepass.domain.card_exports.single_card import print_one

__all__ = [
    "LEASE",
    "LONGEST_TOKEN",
    "MOST_CARDS",
    "MOST_CHOSEN",
    "Batch",
    "CardExport",
    "Counted",
    "ExportKind",
    "ExportNotFound",
    "ExportOrder",
    "ExportState",
    "Selection",
    "begin",
    "begin_download",
    "claim",
    "count",
    "delete",
    "fail",
    "find",
    "name_of",
    "next_batch",
    "of_event",
    "print_one",
    "put_off",
    "read_part",
    "record_csv",
    "record_pdf",
    "stop",
    "sweep_some",
    "takes_phones_only",
]
