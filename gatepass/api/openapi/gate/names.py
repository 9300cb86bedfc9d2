"""The public names of the models of gates: journals and incidents."""

from typing import Final

GATE_NAMES: Final = {
    "Data_BatchOut_": "ScanBatchResponse",
    "BatchOut": "ScanBatch",
    "EntryOut": "JournalEntryResult",
    "Outcome": "EntryOutcome",
    "OpenedIncidentOut": "OpenedIncident",
    "Page_IncidentOut_": "IncidentList",
    "Data_IncidentOut_": "IncidentResponse",
    "IncidentOut": "Incident",
    "IncidentKind": "IncidentKind",
    "FirstAdmissionOut": "FirstAdmission",
}
