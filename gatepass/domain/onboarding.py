"""Onboarding: how far an organization is on its way from a key to a first scan, a first webhook and a live event."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import sandbox

# The latest deliveries of each endpoint that are read to find one that arrived.
DELIVERIES_READ: Final = 200


@dataclass(frozen=True, slots=True)
class OnboardingProgress:
    sandbox_key: bool
    sandbox_scan: bool
    webhook: bool
    delivered: bool
    published: bool
    live_key: bool
    live_scan: bool

    @property
    def done(self) -> int:
        return sum((self.sandbox_key, self.sandbox_scan, self.delivered, self.published, self.live_key, self.live_scan))


async def progress(tx: Tx, organization_id: UUID) -> OnboardingProgress:
    """The steps that are done. Each EXISTS ends at the first row that it finds."""
    found = await tx.one(OnboardingProgress, PROGRESS, organization_id, sandbox.EVENT_ID, DELIVERIES_READ)
    assert found is not None  # noqa: S101  a SELECT without FROM has one row
    return found


PROGRESS: Final = """
    SELECT EXISTS (SELECT FROM api_key k
                    WHERE k.organization_id = $1
                      AND k.mode = 'sandbox'
                      AND k.revoked_at IS NULL
                      AND k.name <> 'Trial scan of the studio') AS sandbox_key,
           EXISTS (SELECT FROM scan s WHERE s.organization_id = $1 AND s.event_id = $2) AS sandbox_scan,
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
                                     AND s.event_id = e.id)) AS live_scan
"""
