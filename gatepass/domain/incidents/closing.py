"""Closing an incident: somebody has looked into it, and says what it was."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.incidents.incident import SUBJECT
from gatepass.domain.incidents.listing import find


async def close(tx: Tx, organization_id: UUID, incident_id: UUID, *, note: str, by: str, at: datetime) -> None:
    """Close an incident with a note. It stays in the list; a second note would hide the first, and is refused."""
    if not await tx.run(CLOSE, organization_id, incident_id, at, by, note):
        await find(tx, organization_id, incident_id)
        raise NotAllowedFromHere("This incident is closed already.")
    await audit_log.record(
        tx, organization_id, SUBJECT, incident_id, "closed", by=by, at=at, was="open", becomes="closed", reason=note
    )


CLOSE: Final = """
    UPDATE incident
       SET closed_at = $3, closed_by = $4, note = $5
     WHERE organization_id = $1
       AND id = $2
       AND closed_at IS NULL
"""
