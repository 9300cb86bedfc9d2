"""The incidents of an organization: newest first, one of them, how many are open."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import id_of
from gatepass.base.paging import END, Place
from gatepass.domain import twin
from gatepass.domain.incidents.incident import FirstAdmission, Incident, IncidentKind, IncidentNotFound

# A page with a filter reads at most this many incidents, however few of them match.
LOOKED_THROUGH: Final = 10_000
MOST_OF_CARD: Final = 50


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    event_id: UUID | None = None
    kind: IncidentKind | None = None
    is_open: bool | None = None


async def list_incidents(
    tx: Tx, organization_id: UUID, wanted: IncidentFilter, *, before: Place | None = None, limit: int
) -> tuple[list[Incident], Place | None]:
    """Incidents, newest first, and where the next page begins. With a filter a page may be short and not the last."""
    place = before or END
    here = (organization_id, place.at, place.id)
    page, last, of_event = (
        (PAGE, LAST, ()) if wanted.event_id is None else (PAGE_OF_EVENT, LAST_OF_EVENT, (wanted.event_id,))
    )
    found = await tx.all(
        Incident, page, *here, twin.owner_of(organization_id), wanted.kind, wanted.is_open, LOOKED_THROUGH, limit + 1,
        *of_event,
    )  # fmt: skip
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].received_at, found[limit - 1].id)
    return found, await tx.one(Place, last, *here, LOOKED_THROUGH - 1, *of_event)


async def find(tx: Tx, organization_id: UUID, incident_id: UUID) -> Incident:
    found = await tx.one(Incident, FIND, organization_id, incident_id, twin.owner_of(organization_id))
    if found is None:
        raise IncidentNotFound
    return found


async def of_card(tx: Tx, organization_id: UUID, card_id: UUID) -> list[Incident]:
    """The last incidents of a card, newest first."""
    return await tx.all(Incident, OF_CARD, organization_id, card_id, twin.owner_of(organization_id), MOST_OF_CARD)


async def first_admission(tx: Tx, organization_id: UUID, ticket_id: UUID) -> FirstAdmission | None:
    """Where and when somebody first came in with this ticket, also if that used no ticket."""
    return await tx.one(FirstAdmission, FIRST, organization_id, ticket_id, id_of(bytes(16)))


async def count_open(tx: Tx, organization_id: UUID, event_id: UUID) -> dict[IncidentKind, int]:
    """How many incidents of an event are open, of each kind."""
    rows = await tx.rows(COUNT_OPEN, organization_id, event_id)
    counted = {IncidentKind(row["kind"]): row["incidents"] for row in rows}
    return {kind: counted[kind] for kind in IncidentKind if kind in counted}


# The statements are joined of these constants, never of values. A device belongs to the owner of a twin.
COLUMNS: Final = """
           i.id, i.event_id, i.kind, i.ticket_id, i.card_id, i.card_number, i.gate, i.device_id,
           d.name AS device_name, i.scanner_id, i.occurred_at, i.corrected_at, i.received_at, i.first_gate,
           i.first_device_id, f.name AS first_device_name, i.first_scanner_id, i.first_occurred_at,
           i.first_received_at, i.reason, i.opened_by, i.closed_at, i.closed_by, i.note
"""
# Keyset pagination: those before ($2, $3), newest first. $4 is the owner, $5 the kind, $6 whether they are open.
BEFORE: Final = """
               AND x.received_at <= $2
               AND (x.received_at, x.id) < ($2, $3)
             ORDER BY x.received_at DESC, x.id DESC
"""
FILTERED: Final = """
             LIMIT $7) i
      LEFT JOIN device d ON d.organization_id = $4 AND d.id = i.device_id
      LEFT JOIN device f ON f.organization_id = $4 AND f.id = i.first_device_id
     WHERE ($5::text IS NULL OR i.kind = $5)
       AND ($6::boolean IS NULL OR (i.closed_at IS NULL) = $6)
     ORDER BY i.received_at DESC, i.id DESC
     LIMIT $8
"""
OF_ORGANIZATION: Final = " FROM (SELECT x.* FROM incident x WHERE x.organization_id = $1"
PAGE: Final = "SELECT " + COLUMNS + OF_ORGANIZATION + BEFORE + FILTERED
PAGE_OF_EVENT: Final = "SELECT " + COLUMNS + OF_ORGANIZATION + " AND x.event_id = $9" + BEFORE + FILTERED

LAST: Final = (
    "SELECT x.received_at AS at, x.id FROM incident x WHERE x.organization_id = $1" + BEFORE + " OFFSET $4 LIMIT 1"
)
LAST_OF_EVENT: Final = (
    "SELECT x.received_at AS at, x.id FROM incident x WHERE x.organization_id = $1 AND x.event_id = $5"
    + BEFORE
    + " OFFSET $4 LIMIT 1"
)

FIND: Final = "SELECT " + COLUMNS + """
      FROM incident i
      LEFT JOIN device d ON d.organization_id = $3 AND d.id = i.device_id
      LEFT JOIN device f ON f.organization_id = $3 AND f.id = i.first_device_id
     WHERE i.organization_id = $1
       AND i.id = $2
"""  # fmt: skip

OF_CARD: Final = "SELECT " + COLUMNS + """
      FROM incident i
      LEFT JOIN device d ON d.organization_id = $3 AND d.id = i.device_id
      LEFT JOIN device f ON f.organization_id = $3 AND f.id = i.first_device_id
     WHERE i.organization_id = $1
       AND i.card_id = $2
     ORDER BY i.received_at DESC, i.id DESC
     LIMIT $4
"""  # fmt: skip

COUNT_OPEN: Final = """
    SELECT kind, count(*) AS incidents
      FROM incident
     WHERE organization_id = $1
       AND event_id = $2
       AND closed_at IS NULL
     GROUP BY kind
"""

# But for the one of this id: none has it.
FIRST: Final = """
    SELECT gate, device_id, scanner_id, occurred_at, received_at
      FROM first_admission($1, $2, $3)
"""
