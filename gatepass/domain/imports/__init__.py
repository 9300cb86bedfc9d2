"""Imports: files of tickets, as jobs that outlive whoever runs them."""

from gatepass.domain.imports.advancing import advance, next_under_way, put_off
from gatepass.domain.imports.applying import begin_applying
from gatepass.domain.imports.job import (
    LARGEST_FILE,
    Fault,
    Field,
    FileRefused,
    Import,
    ImportNotFound,
    ImportState,
)
from gatepass.domain.imports.listing import FaultyRow, faulty_rows, find, first_rows, maker_of, of_event
from gatepass.domain.imports.mapping import guess, name_columns, remembered
from gatepass.domain.imports.reading import Row, Sheet
from gatepass.domain.imports.staging import TAKES_TICKETS, begin, discard, received, refuse, stage
from gatepass.domain.imports.sweeping import sweep_some
from gatepass.domain.imports.undoing import begin_undoing

__all__ = [
    "LARGEST_FILE",
    "TAKES_TICKETS",
    "Fault",
    "FaultyRow",
    "Field",
    "FileRefused",
    "Import",
    "ImportNotFound",
    "ImportState",
    "Row",
    "Sheet",
    "advance",
    "begin",
    "begin_applying",
    "begin_undoing",
    "discard",
    "faulty_rows",
    "find",
    "first_rows",
    "guess",
    "maker_of",
    "name_columns",
    "next_under_way",
    "of_event",
    "put_off",
    "received",
    "refuse",
    "remembered",
    "stage",
    "sweep_some",
]
