"""What a person changes about themselves concerns every organization that they work for."""

from datetime import datetime
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import changes
from gatepass.domain.staff.membership import workplaces


async def note_everywhere(
    tx: Tx, person_id: UUID, action: str, *, by: str, at: datetime, was: str | None = None, becomes: str | None = None
) -> None:
    for place in await workplaces(tx, person_id):
        await changes.note(
            tx, place.organization_id, "person", person_id, action, by=by, at=at, was=was, becomes=becomes
        )
