"""Endpoints and deliveries as the database has them."""

from uuid import UUID

from gatepass.domain import audit_log, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Endpoint
from tests.studio.browser_session import BrowserSession

URL = "https://example.com/hook"


async def endpoints(user: BrowserSession, mode: Mode = Mode.LIVE) -> list[Endpoint]:
    async with user.tenant.db.autocommit() as tx:
        return await webhooks.endpoints_of(tx, user.tenant.id, mode, after=None, limit=16)


async def audit_actions(user: BrowserSession, id: UUID) -> list[str]:
    async with user.tenant.db.autocommit() as tx:
        return [change.action for change in await audit_log.of_subject(tx, user.tenant.id, id)]


async def give_up_all(user: BrowserSession, id: UUID) -> None:
    async with user.tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_delivery SET state = 'failed', attempts = 2"
            " WHERE organization_id = $1 AND endpoint_id = $2",
            user.tenant.id, id,
        )  # fmt: skip
