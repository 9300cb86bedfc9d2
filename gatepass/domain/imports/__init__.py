"""Imports: CSV files of tickets, as durable jobs that any worker can continue."""

from gatepass.domain.imports.apply import begin_applying
from gatepass.domain.imports.cleanup import sweep_some
from gatepass.domain.imports.columns import guess, name_columns, remembered
from gatepass.domain.imports.csv_reader import CsvReader, CsvRow
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
from gatepass.domain.imports.runner import advance, next_under_way, put_off
from gatepass.domain.imports.undo import begin_undoing
from gatepass.domain.imports.upload import TAKES_TICKETS, begin, discard, received, refuse, stage

__all__ = [
    "LARGEST_FILE",
    "TAKES_TICKETS",
    "CsvReader",
    "CsvRow",
    "Fault",
    "FaultyRow",
    "Field",
    "FileRefused",
    "Import",
    "ImportNotFound",
    "ImportState",
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
