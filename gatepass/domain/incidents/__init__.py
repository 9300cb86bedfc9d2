"""Incidents: admissions that disagree with the record, and letting somebody in as a person."""

from gatepass.domain.incidents.closing import close
from gatepass.domain.incidents.incident import (
    MEANINGS,
    FirstAdmission,
    Incident,
    IncidentKind,
    IncidentNotFound,
)
from gatepass.domain.incidents.letting_in import LetIn, let_in
from gatepass.domain.incidents.listing import IncidentFilter, count_open, find, first_admission, list_incidents, of_card

__all__ = [
    "MEANINGS",
    "FirstAdmission",
    "Incident",
    "IncidentFilter",
    "IncidentKind",
    "IncidentNotFound",
    "LetIn",
    "close",
    "count_open",
    "find",
    "first_admission",
    "let_in",
    "list_incidents",
    "of_card",
]
