"""Onboarding: how far an organization is, with its event and its guests, and with its keys and webhooks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import sandbox, twin

# The latest deliveries of each endpoint that are read to find one that arrived.
DELIVERIES_READ: Final = 200
# The latest entries of the audit log that are read to find a card that was printed.
ENTRIES_READ: Final = 1_000


class Checklist(StrEnum):
    """One for who runs an event, and one for who connects a program."""

    ORGANIZER = "organizer"
    INTEGRATOR = "integrator"


@dataclass(frozen=True, slots=True)
class OnboardingProgress:
    sandbox_key: bool
    sandbox_scan: bool
    webhook: bool
    delivered: bool
    published: bool
    live_key: bool
    live_scan: bool
    event: bool
    guests: bool
    cards: bool
    only_event: UUID | None


async def progress(tx: Tx, organization_id: UUID) -> OnboardingProgress:
    """The steps that are done. Each EXISTS ends at the first row that it finds."""
    here = (organization_id, sandbox.EVENT_ID, DELIVERIES_READ, twin.twin_id(organization_id), ENTRIES_READ)
    found = await tx.one(OnboardingProgress, PROGRESS, *here)
    assert found is not None  # noqa: S101  a SELECT without FROM has one row
    return found


async def dismissed(tx: Tx, organization_id: UUID, person_id: UUID) -> list[str]:
    """The checklists that this member has put away."""
    return await tx.value(DISMISSED, organization_id, person_id) or []


async def dismiss(tx: Tx, organization_id: UUID, person_id: UUID, checklist: Checklist) -> None:
    await tx.run(DISMISS, organization_id, person_id, checklist)


DISMISSED: Final = "SELECT dismissed FROM member WHERE organization_id = $1 AND person_id = $2"

DISMISS: Final = """
    UPDATE member
       SET dismissed = array_append(dismissed, $3)
     WHERE organization_id = $1
       AND person_id = $2
       AND NOT $3 = ANY (dismissed)
"""

PROGRESS: Final = """
    SELECT EXISTS (SELECT FROM api_key k
                    WHERE k.organization_id = $1
                      AND k.mode = 'sandbox'
                      AND k.device_id IS NULL
                      AND k.revoked_at IS NULL
                      AND k.name <> 'Trial scan of the studio') AS sandbox_key,
           EXISTS (SELECT FROM scan s WHERE s.organization_id = $4 AND s.event_id = $2) AS sandbox_scan,
           EXISTS (SELECT FROM webhook_endpoint w WHERE w.organization_id = $1 AND w.deleted_at IS NULL) AS webhook,
           EXISTS (SELECT FROM webhook_endpoint w
                    CROSS JOIN LATERAL (SELECT d.state
                                          FROM webhook_delivery d
                                         WHERE d.organization_id = w.organization_id
                                           AND d.endpoint_id = w.id
                                         ORDER BY d.at DESC, d.id DESC
                                         LIMIT $3) d
                    WHERE w.organization_id = $1
                      AND w.deleted_at IS NULL
                      AND d.state = 'delivered') AS delivered,
           EXISTS (SELECT FROM event e
                    WHERE e.organization_id = $1
                      AND e.status IN ('published', 'ended')) AS published,
           EXISTS (SELECT FROM api_key k
                    WHERE k.organization_id = $1
                      AND k.mode = 'live'
                      AND k.revoked_at IS NULL
                      AND (k.expires_at IS NULL OR k.expires_at > now())
                      AND k.scopes && '{tickets:activate,admin}') AS live_key,
           EXISTS (SELECT FROM event e
                    WHERE e.organization_id = $1
                      AND EXISTS (SELECT FROM scan s
                                   WHERE s.organization_id = $1
                                     AND s.organization_id = e.organization_id
                                     AND s.event_id = e.id)) AS live_scan,
           EXISTS (SELECT FROM event e WHERE e.organization_id = $1) AS event,
           EXISTS (SELECT FROM ticket t WHERE t.organization_id = $1) AS guests,
           EXISTS (SELECT FROM (SELECT a.subject, a.action
                                  FROM audit_log a
                                 WHERE a.organization_id = $1
                                 ORDER BY a.at DESC, a.id DESC
                                 LIMIT $5) a
                    WHERE a.subject = 'card'
                      AND a.action = 'printed') AS cards,
           (SELECT (array_agg(e.id))[1]
              FROM (SELECT e.id FROM event e WHERE e.organization_id = $1 LIMIT 2) e
            HAVING count(*) = 1) AS only_event
"""
