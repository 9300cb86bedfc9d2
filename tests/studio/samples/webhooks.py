"""What the pages on webhooks need to be walked."""

from uuid import UUID

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.selection import SPAN
from tests import make
from tests.studio.walk import XSS

URL = "https://example.com/hook"
CLOSED = "https://127.0.0.1:1/"


async def ids(house: make.House) -> dict[str, str]:
    """An endpoint whose secret is being rotated, a delivery that was given up, and a replay that runs."""
    async with house.db.transaction() as tx:
        endpoint, _ = await webhooks.create_endpoint(
            tx, house.id, Mode.LIVE, make.VAULT, url=URL, types=[MessageType.TICKET_ACTIVATED], description=XSS,
            allow_private=True, by=make.BY, at=make.now(),
        )  # fmt: skip
        await webhooks.rotate_secret(tx, house.id, Mode.LIVE, endpoint.id, make.VAULT, by=make.BY, at=make.now())
    await house.tell()
    delivery_id = await give_up(house, endpoint.id)
    async with house.db.transaction() as tx:
        replay = await webhooks.begin_replay(
            tx, house.id, Mode.LIVE, endpoint.id, webhooks.select(at=make.now()), by=make.BY, at=make.now()
        )
    return {"endpoint_id": str(endpoint.id), "delivery_id": str(delivery_id), "replay_id": str(replay.id)}


async def give_up(house: make.House, endpoint_id: UUID) -> UUID:
    """As if a worker had tried and failed, with an answer that means no good."""
    async with house.db.transaction() as tx:
        id: UUID = await tx.value(GIVEN_UP, house.id, endpoint_id)
        for n, status, error in ((1, 500, None), (2, None, "timeout")):
            await tx.run(ATTEMPT, house.id, id, n, make.now(), status, error, XSS)
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
        form["since"] = (make.now() - SPAN).strftime("%Y-%m-%dT%H:%M")

UNNOTED = {f"{HERE}/preflight", f"{HERE}/playground", f"{HERE}/{{endpoint_id}}/replays/count"}
