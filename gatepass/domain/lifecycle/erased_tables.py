"""The statements that erase a piece of each tenant table. A test compares the tables with the schema.

A piece is at most $3 rows in the order of an index, from $2 on; `reached` is where the next one begins. Two tables hold
little when an organization is erased, and begin at their first row each time.
"""

from typing import Final, LiteralString

# Referencing tables first. Before all: people, keys and imports, so that nothing is added meanwhile. The logs are last.
ERASE: Final[dict[str, LiteralString]] = {
    "member": """
        WITH batch AS (SELECT person_id FROM member
                        WHERE organization_id = $1 AND person_id >= $2 ORDER BY person_id LIMIT $3),
             gone AS (DELETE FROM member t USING batch b
                       WHERE t.organization_id = $1 AND t.person_id = b.person_id)
        SELECT person_id AS reached, count(*) OVER () AS count FROM batch ORDER BY person_id DESC LIMIT 1
    """,
    "invitation": """
        WITH batch AS (SELECT id FROM invitation
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM invitation t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "api_key": """
        WITH batch AS (SELECT id FROM api_key
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM api_key t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "import_key": """
        WITH batch AS (SELECT import_id, round, kind, value FROM import_key
                        WHERE organization_id = $1 AND import_id >= $2
                        ORDER BY import_id, round, kind, value LIMIT $3),
             gone AS (DELETE FROM import_key t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.import_id, t.round, t.kind, t.value) = (b.import_id, b.round, b.kind, b.value))
        SELECT import_id AS reached, count(*) OVER () AS count FROM batch ORDER BY import_id DESC LIMIT 1
    """,
    "import_row": """
        WITH batch AS (SELECT import_id, line FROM import_row
                        WHERE organization_id = $1 AND import_id >= $2 ORDER BY import_id, line LIMIT $3),
             gone AS (DELETE FROM import_row t USING batch b
                       WHERE t.organization_id = $1 AND (t.import_id, t.line) = (b.import_id, b.line))
        SELECT import_id AS reached, count(*) OVER () AS count FROM batch ORDER BY import_id DESC LIMIT 1
    """,
    "import": """
        WITH batch AS (SELECT id FROM import
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM import t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "ticket_reference": """
        WITH batch AS (SELECT ticket_id, reference, event_id FROM ticket_reference
                        WHERE organization_id = $1 AND ticket_id >= $2
                        ORDER BY ticket_id, reference, event_id LIMIT $3),
             gone AS (DELETE FROM ticket_reference t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.ticket_id, t.reference, t.event_id) = (b.ticket_id, b.reference, b.event_id))
        SELECT ticket_id AS reached, count(*) OVER () AS count FROM batch ORDER BY ticket_id DESC LIMIT 1
    """,
    "undone_activation": """
        WITH batch AS (SELECT ticket_id, scan_at, scan_id FROM undone_activation
                        WHERE organization_id = $1 AND ticket_id >= $2
                        ORDER BY ticket_id, scan_at, scan_id LIMIT $3),
             gone AS (DELETE FROM undone_activation t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.ticket_id, t.scan_at, t.scan_id) = (b.ticket_id, b.scan_at, b.scan_id))
        SELECT ticket_id AS reached, count(*) OVER () AS count FROM batch ORDER BY ticket_id DESC LIMIT 1
    """,
    "ticket": """
        WITH batch AS (SELECT id FROM ticket
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM ticket t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "card_external_id": """
        WITH batch AS (SELECT card_id FROM card_external_id
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM card_external_id t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "holder_email": """
        WITH batch AS (SELECT card_id FROM holder_email
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM holder_email t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card_holder": """
        WITH batch AS (SELECT card_id FROM card_holder
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM card_holder t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card": """
        WITH batch AS (SELECT id FROM card
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM card t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "ticket_category": """
        WITH batch AS (SELECT id FROM ticket_category
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM ticket_category t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "event_cover": """
        WITH batch AS (SELECT id FROM event_cover
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM event_cover t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "event": """
        WITH batch AS (SELECT id FROM event
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM event t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "signing_key": """
        WITH batch AS (SELECT id FROM signing_key
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM signing_key t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "idempotency": """
        WITH batch AS (SELECT idempotency_key, generation FROM idempotency
                        WHERE organization_id = $1 AND idempotency_key >= $2
                        ORDER BY idempotency_key, generation LIMIT $3),
             gone AS (DELETE FROM idempotency t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.idempotency_key, t.generation) = (b.idempotency_key, b.generation))
        SELECT idempotency_key AS reached, count(*) OVER () AS count FROM batch
                        ORDER BY idempotency_key DESC LIMIT 1
    """,
    "scan": """
        WITH batch AS (SELECT at, id FROM scan
                        WHERE organization_id = $1 AND at >= $2 ORDER BY at, id LIMIT $3),
             gone AS (DELETE FROM scan t USING batch b
                       WHERE t.organization_id = $1 AND (t.at, t.id) = (b.at, b.id))
        SELECT at AS reached, count(*) OVER () AS count FROM batch ORDER BY at DESC LIMIT 1
    """,
    "webhook_queue": """
        WITH batch AS (SELECT endpoint_id, ordering_key, id FROM webhook_queue
                        WHERE organization_id = $1 AND endpoint_id >= $2
                        ORDER BY endpoint_id, ordering_key, id LIMIT $3),
             gone AS (DELETE FROM webhook_queue t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.endpoint_id, t.ordering_key, t.id) = (b.endpoint_id, b.ordering_key, b.id))
        SELECT endpoint_id AS reached, count(*) OVER () AS count FROM batch ORDER BY endpoint_id DESC LIMIT 1
    """,
    "webhook_attempt": """
        WITH batch AS (SELECT delivery_id, n, at FROM webhook_attempt
                        WHERE organization_id = $1 AND delivery_id >= $2 ORDER BY delivery_id, n, at LIMIT $3),
             gone AS (DELETE FROM webhook_attempt t USING batch b
                       WHERE t.organization_id = $1 AND (t.delivery_id, t.n, t.at) = (b.delivery_id, b.n, b.at))
        SELECT delivery_id AS reached, count(*) OVER () AS count FROM batch ORDER BY delivery_id DESC LIMIT 1
    """,
    "webhook_delivery": """
        WITH batch AS (SELECT endpoint_id, at, id FROM webhook_delivery
                        WHERE organization_id = $1 AND endpoint_id >= $2 ORDER BY endpoint_id, at, id LIMIT $3),
             gone AS (DELETE FROM webhook_delivery t USING batch b
                       WHERE t.organization_id = $1 AND (t.endpoint_id, t.at, t.id) = (b.endpoint_id, b.at, b.id))
        SELECT endpoint_id AS reached, count(*) OVER () AS count FROM batch ORDER BY endpoint_id DESC LIMIT 1
    """,
    "webhook_event": """
        WITH batch AS (SELECT mode, txid, id, at FROM webhook_event
                        WHERE organization_id = $1 AND $2::uuid IS NOT NULL ORDER BY mode, txid, id, at LIMIT $3),
             gone AS (DELETE FROM webhook_event t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.mode, t.txid, t.id, t.at) = (b.mode, b.txid, b.id, b.at))
        SELECT $2::uuid AS reached, count(*) OVER () AS count FROM batch ORDER BY 1 LIMIT 1
    """,
    "webhook_replay": """
        WITH batch AS (SELECT id FROM webhook_replay
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM webhook_replay t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "webhook_feed": """
        WITH batch AS (SELECT mode FROM webhook_feed
                        WHERE organization_id = $1 AND $2::uuid IS NOT NULL ORDER BY mode LIMIT $3),
             gone AS (DELETE FROM webhook_feed t USING batch b
                       WHERE t.organization_id = $1 AND t.mode = b.mode)
        SELECT $2::uuid AS reached, count(*) OVER () AS count FROM batch ORDER BY 1 LIMIT 1
    """,
    "webhook_endpoint": """
        WITH batch AS (SELECT id FROM webhook_endpoint
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM webhook_endpoint t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "request_log": """
        WITH batch AS (SELECT at, id FROM request_log
                        WHERE organization_id = $1 AND at >= $2 ORDER BY at, id LIMIT $3),
             gone AS (DELETE FROM request_log t USING batch b
                       WHERE t.organization_id = $1 AND (t.at, t.id) = (b.at, b.id))
        SELECT at AS reached, count(*) OVER () AS count FROM batch ORDER BY at DESC LIMIT 1
    """,
    "audit_log": """
        WITH batch AS (SELECT at, id FROM audit_log
                        WHERE organization_id = $1 AND at >= $2 ORDER BY at, id LIMIT $3),
             gone AS (DELETE FROM audit_log t USING batch b
                       WHERE t.organization_id = $1 AND (t.at, t.id) = (b.at, b.id))
        SELECT at AS reached, count(*) OVER () AS count FROM batch ORDER BY at DESC LIMIT 1
    """,
}

# Their pieces go by time; those of the others go by an id.
BY_TIME: Final = frozenset({"scan", "request_log", "audit_log"})
