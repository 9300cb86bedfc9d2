"""The statements that erase a piece of what was recorded: answers, scans, messages, logs. See `erased_tables.py`."""

from typing import Final, LiteralString

ERASE_RECORDS: Final[dict[str, LiteralString]] = {
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
    "journal_entry": """
        WITH batch AS (SELECT device_id, sequence FROM journal_entry
                        WHERE organization_id = $1 AND device_id >= $2 ORDER BY device_id, sequence LIMIT $3),
             gone AS (DELETE FROM journal_entry t USING batch b
                       WHERE t.organization_id = $1 AND (t.device_id, t.sequence) = (b.device_id, b.sequence))
        SELECT device_id AS reached, count(*) OVER () AS count FROM batch ORDER BY device_id DESC LIMIT 1
    """,
    "incident": """
        WITH batch AS (SELECT id FROM incident
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM incident t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
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
