-- The outbox: for each message its event row, and for each subscribed endpoint a delivery and a row in the queue.
-- `outbox.py` and `activation.sql` call these routines, in the transaction of the change that the message describes.

-- The types with a subscriber in each organization and mode. The sandbox subscribes to all types but denials, so that a
-- developer finds messages in the feed from before the first endpoint. Denials need an endpoint that lists them.
-- A batch of scans may be of many organizations, so they are looked up by one statement.
CREATE OR REPLACE FUNCTION heard_by_each(p_organization uuid[], p_mode text[], p_at timestamptz)
RETURNS TABLE (organization_id uuid, mode text, type text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    unless_denied CONSTANT text[] := ARRAY[
        'ticket.activated', 'ticket.cancelled', 'ticket.issued', 'ticket.transferred', 'ticket.activation_undone',
        'event.cancelled', 'event.published', 'event.updated', 'event.ended', 'event.deleted', 'card.status_changed',
        'card.issued', 'card.replaced', 'card.updated', 'scan.conflict'];
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT DISTINCT u.organization_id, u.mode FROM unnest(p_organization, p_mode) u (organization_id, mode)
    )
    SELECT a.organization_id, a.mode, listed.type
      FROM asked a
     CROSS JOIN LATERAL (SELECT e.types
                           FROM webhook_endpoint e
                          WHERE e.organization_id = a.organization_id
                            AND e.mode = a.mode
                            AND e.deleted_at IS NULL
                         OFFSET 0) endpoint
     CROSS JOIN LATERAL unnest(endpoint.types) listed (type)
     UNION
    SELECT a.organization_id, a.mode, every.type
      FROM asked a
     CROSS JOIN unnest(unless_denied) every (type)
     WHERE a.mode = 'sandbox'
        OR EXISTS (SELECT FROM webhook_feed f
                    WHERE f.organization_id = a.organization_id
                      AND f.mode = a.mode
                      AND f.open_until > p_at
                   OFFSET 0);
END
$$;

-- The same for one organization and mode.
CREATE OR REPLACE FUNCTION heard_types(p_organization uuid, p_mode text, p_at timestamptz)
RETURNS text[] LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN ARRAY(SELECT heard.type FROM heard_by_each(ARRAY[p_organization], ARRAY[p_mode], p_at) heard);
END
$$;

-- Write these messages. With `p_endpoint` they are for that endpoint only, whatever its types.
-- The same nested loops over indexes as in activation.sql, for the same reasons. No row of an endpoint is changed
-- or locked: that would make all gates of an event wait for each other.
CREATE OR REPLACE FUNCTION tell_subscribers(
    p_at timestamptz,
    p_organization uuid[],
    p_mode text[],
    p_type text[],
    p_id uuid[],
    p_ordering_key uuid[],
    p_body bytea[],
    p_endpoint uuid
)
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    this_transaction bigint := pg_current_xact_id()::text::bigint;
BEGIN
    WITH message AS MATERIALIZED (
        SELECT *
          FROM unnest(p_organization, p_mode, p_type, p_id, p_ordering_key, p_body)
               WITH ORDINALITY u (organization_id, mode, type, id, ordering_key, body, n)
    ),
    kept AS (
        INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
        SELECT m.organization_id, m.mode, this_transaction, m.id, p_at, m.type, m.body
          FROM message m
    ),
    due AS MATERIALIZED (
        SELECT m.organization_id, e.id AS endpoint_id, m.id AS event_id, m.type, m.ordering_key,
               md5(m.id::text || e.id::text)::uuid AS delivery_id, e.lane
          FROM message m
         CROSS JOIN LATERAL (SELECT x.id, CASE x.status WHEN 'paused' THEN 1 ELSE 0 END AS lane
                               FROM webhook_endpoint x
                              WHERE x.organization_id = m.organization_id
                                AND x.mode = m.mode
                                AND x.deleted_at IS NULL
                                AND CASE WHEN p_endpoint IS NULL THEN m.type = ANY (x.types) ELSE x.id = p_endpoint END
                             OFFSET 0) e
         ORDER BY m.n
    ),
    addressed AS (
        INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                      ordering_key, next_at)
        SELECT d.organization_id, d.endpoint_id, p_at, d.delivery_id, this_transaction, d.event_id, p_at, d.type,
               d.ordering_key, p_at
          FROM due d
    )
    INSERT INTO webhook_queue (organization_id, endpoint_id, ordering_key, lane, next_at, delivery_at, delivery_id)
    SELECT d.organization_id, d.endpoint_id, d.ordering_key, d.lane, clock_timestamp(), p_at, d.delivery_id
      FROM due d;
END
$$;
