"""Ids and forms for the routes of webhooks."""

from uuid import UUID

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.replay_requests import SPAN
from tests import factory
from tests.studio.routes import XSS

URL = "https://example.com/hook"
CLOSED = "https://127.0.0.1:1/"


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """An endpoint with a rotation of its secret under way, a failed delivery, and a running replay."""
    async with tenant.db.transaction() as tx:
        endpoint, _ = await webhooks.create_endpoint(
            tx, tenant.id, Mode.LIVE, factory.VAULT, url=URL, types=[MessageType.TICKET_ACTIVATED], description=XSS,
            allow_private=True, by=factory.BY, at=factory.now(),
        )  # fmt: skip
        await webhooks.rotate_secret(
            tx, tenant.id, Mode.LIVE, endpoint.id, factory.VAULT, by=factory.BY, at=factory.now()
        )
    await tenant.tell()
    delivery_id = await give_up(tenant, endpoint.id)
    async with tenant.db.transaction() as tx:
        replay = await webhooks.begin_replay(
            tx, tenant.id, Mode.LIVE, endpoint.id, webhooks.select(at=factory.now()), by=factory.BY, at=factory.now()
        )
    return {"endpoint_id": str(endpoint.id), "delivery_id": str(delivery_id), "replay_id": str(replay.id)}


async def give_up(tenant: factory.Tenant, endpoint_id: UUID) -> UUID:
    """As if a worker had tried twice and failed, with a malicious response."""
    async with tenant.db.transaction() as tx:
        id: UUID = await tx.value(GIVEN_UP, tenant.id, endpoint_id)
        for n, status, error in ((1, 500, None), (2, None, "timeout")):
            await tx.run(ATTEMPT, tenant.id, id, n, factory.now(), status, error, XSS)
    return id


GIVEN_UP = """
    WITH taken AS (DELETE FROM webhook_queue WHERE organization_id = $1 AND endpoint_id = $2)
    UPDATE webhook_delivery
       SET state = 'failed', attempts = 2, next_at = NULL, ended_at = now(), last_error = 'timeout'
     WHERE organization_id = $1
       AND endpoint_id = $2
    RETURNING id
"""

ATTEMPT = """
    INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, status, error, address, dns_ms, connect_ms,
                                 answer_ms, total_ms, answer_head)
    VALUES ($1, $4, $2, $3, $5, $6, '192.0.2.7', 3.1, 12.4, 80.2, 96.0, $7)
"""

HERE = "POST /studio/{mode}/webhooks"

FORMS = {
    f"{HERE}/new": {"url": URL, "types": ["ticket.activated", "scan.denied"], "description": XSS},
    f"{HERE}/preflight": {"url": CLOSED, "description": XSS},
    f"{HERE}/playground": {"secret": XSS, "headers": XSS, "body": XSS},
    f"{HERE}/{{endpoint_id}}/edit": {"url": URL, "types": ["ticket.cancelled"], "description": XSS},
    f"{HERE}/{{endpoint_id}}/status": {"status": "paused"},
    f"{HERE}/{{endpoint_id}}/test": {},
    f"{HERE}/{{endpoint_id}}/delete": {},
    f"{HERE}/{{endpoint_id}}/secret/rotate": {},
    f"{HERE}/{{endpoint_id}}/secret/switch": {},
    f"{HERE}/{{endpoint_id}}/deliveries/{{delivery_id}}/resend": {},
    f"{HERE}/{{endpoint_id}}/replays": {"what": "failed", "since": ""},
    f"{HERE}/{{endpoint_id}}/replays/count": {"what": "all", "since": ""},
    f"{HERE}/{{endpoint_id}}/replays/{{replay_id}}/stop": {},
}
for form in FORMS.values():
    if form.get("since") == "":
        form["since"] = (factory.now() - SPAN).strftime("%Y-%m-%dT%H:%M")

UNAUDITED = {f"{HERE}/preflight", f"{HERE}/playground", f"{HERE}/{{endpoint_id}}/replays/count"}
