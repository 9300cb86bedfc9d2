"""The organizations of the demo: finding them, and deleting them with all their rows.

There may be ten million tickets and cards, so they are deleted in batches, each in a transaction of its own; the rest
is small and is deleted in one. `cli/commands/demo.py` calls these; no other organization is ever touched.
"""

from typing import Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import twin

# Large enough that the round trip does not dominate, small enough that each commits within two seconds.
BATCH: Final = 20_000
BEFORE_ALL: Final = UUID(int=0)


async def organizations(tx: Tx) -> list[UUID]:
    """Each after its sandbox, which may have rows in logs even if it was never made."""
    owners = [row["id"] for row in await tx.rows(ORGANIZATIONS)]
    return [id for owner in owners for id in (twin.twin_id(owner), owner)]


async def clear_some_tickets(tx: Tx, organization_id: UUID, after: UUID = BEFORE_ALL) -> UUID | None:
    """Delete a batch of tickets, in the order of their ids; return the last id, None if there were none."""
    return await tx.value(CLEAR_SOME_TICKETS, organization_id, after, BATCH)


async def clear_some_cards(tx: Tx, organization_id: UUID, after: UUID = BEFORE_ALL) -> UUID | None:
    """Delete a batch of cards without tickets, with their holders; return as above."""
    return await tx.value(CLEAR_SOME_CARDS, organization_id, after, BATCH)


async def clear(tx: Tx, organization_id: UUID) -> None:
    """Delete the other rows of the organization, then the organization."""
    for statement in CLEAR.values():
        await tx.run(statement, organization_id)
    await tx.run(CLEAR_ORGANIZATION, organization_id)


async def analyze(tx: Tx) -> None:
    """Update the planner's statistics now; autovacuum would do it within a minute."""
    await tx.run(ANALYZE)


ORGANIZATIONS: Final = """
    SELECT id
      FROM organization
     WHERE demo
       AND twin_of IS NULL
"""

CLEAR_SOME_TICKETS: Final = """
    WITH batch AS (
        SELECT id
          FROM ticket
         WHERE organization_id = $1
           AND id > $2
         ORDER BY id
         LIMIT $3
    ),
    gone AS (
        DELETE FROM ticket t
         USING batch
         WHERE t.organization_id = $1
           AND t.id = batch.id
    )
    SELECT id
      FROM batch
     ORDER BY id DESC
     LIMIT 1
"""

CLEAR_SOME_CARDS: Final = """
    WITH batch AS (
        SELECT id
          FROM card
         WHERE organization_id = $1
           AND id > $2
         ORDER BY id
         LIMIT $3
    ),
    forgotten AS (
        DELETE FROM card_holder h
         USING batch
         WHERE h.organization_id = $1
           AND h.card_id = batch.id
    ),
    gone AS (
        DELETE FROM card c
         USING batch
         WHERE c.organization_id = $1
           AND c.id = batch.id
    )
    SELECT id
      FROM batch
     ORDER BY id DESC
     LIMIT 1
"""

# Every tenant table, referencing tables first. A test compares this with the schema.
CLEAR: Final[dict[str, LiteralString]] = {
    "incident": "DELETE FROM incident WHERE organization_id = $1",
    "journal_entry": "DELETE FROM journal_entry WHERE organization_id = $1",
    "event_manifest": "DELETE FROM event_manifest WHERE organization_id = $1",
    "announcement": "DELETE FROM announcement WHERE organization_id = $1",
    "letter": "DELETE FROM letter WHERE organization_id = $1",
    "mailing": "DELETE FROM mailing WHERE organization_id = $1",
    "card_look": "DELETE FROM card_look WHERE organization_id = $1",
    "card_export_part": "DELETE FROM card_export_part WHERE organization_id = $1",
    "card_export": "DELETE FROM card_export WHERE organization_id = $1",
    "pairing_request": "DELETE FROM pairing_request WHERE organization_id = $1",
    "pairing_code": "DELETE FROM pairing_code WHERE organization_id = $1",
    "device_assignment": "DELETE FROM device_assignment WHERE organization_id = $1",
    "device": "DELETE FROM device WHERE organization_id = $1",
    "import_key": "DELETE FROM import_key WHERE organization_id = $1",
    "import_row": "DELETE FROM import_row WHERE organization_id = $1",
    "import": "DELETE FROM import WHERE organization_id = $1",
    "ticket_reference": "DELETE FROM ticket_reference WHERE organization_id = $1",
    "undone_activation": "DELETE FROM undone_activation WHERE organization_id = $1",
    "ticket": "DELETE FROM ticket WHERE organization_id = $1",
    "holder_email": "DELETE FROM holder_email WHERE organization_id = $1",
    "card_external_id": "DELETE FROM card_external_id WHERE organization_id = $1",
    "card_holder": "DELETE FROM card_holder WHERE organization_id = $1",
    "wallet_registration": "DELETE FROM wallet_registration WHERE organization_id = $1",
    "wallet_pass": "DELETE FROM wallet_pass WHERE organization_id = $1",
    "card_phone": "DELETE FROM card_phone WHERE organization_id = $1",
    "card_phone_code": "DELETE FROM card_phone_code WHERE organization_id = $1",
    "card_link": "DELETE FROM card_link WHERE organization_id = $1",
    "ended_card_link": "DELETE FROM ended_card_link WHERE organization_id = $1",
    "card": "DELETE FROM card WHERE organization_id = $1",
    "ticket_category": "DELETE FROM ticket_category WHERE organization_id = $1",
    "event_cover": "DELETE FROM event_cover WHERE organization_id = $1",
    "event": "DELETE FROM event WHERE organization_id = $1",
    "invitation": "DELETE FROM invitation WHERE organization_id = $1",
    "member": "DELETE FROM member WHERE organization_id = $1",
    "signing_key": "DELETE FROM signing_key WHERE organization_id = $1",
    "api_key": "DELETE FROM api_key WHERE organization_id = $1",
    "idempotency": "DELETE FROM idempotency WHERE organization_id = $1",
    "scan": "DELETE FROM scan WHERE organization_id = $1",
    "request_log": "DELETE FROM request_log WHERE organization_id = $1",
    "audit_log": "DELETE FROM audit_log WHERE organization_id = $1",
    "webhook_queue": "DELETE FROM webhook_queue WHERE organization_id = $1",
    "webhook_attempt": "DELETE FROM webhook_attempt WHERE organization_id = $1",
    "webhook_delivery": "DELETE FROM webhook_delivery WHERE organization_id = $1",
    "webhook_event": "DELETE FROM webhook_event WHERE organization_id = $1",
    "webhook_replay": "DELETE FROM webhook_replay WHERE organization_id = $1",
    "webhook_feed": "DELETE FROM webhook_feed WHERE organization_id = $1",
    "webhook_endpoint": "DELETE FROM webhook_endpoint WHERE organization_id = $1",
}

CLEAR_ORGANIZATION: Final = """
    DELETE FROM organization
     WHERE id = $1
       AND demo
"""

ANALYZE: Final = "ANALYZE card, ticket"
