-- Judge a batch of scans and activate their tickets, in one round trip. `activation.py` calls it, `gatepass migrate`
-- installs it. The rules and their order are also in `sdk/gatepass_sdk/_gate/rules.py`, for gates without a network.
-- Each look-up stands in a LATERAL … OFFSET 0, so that the planner uses the whole key of its index.

CREATE OR REPLACE FUNCTION judge_scans(
    p_at timestamptz, p_statuses jsonb, p_request uuid[], p_organization uuid[], p_mode text[], p_key uuid[],
    p_address text[], p_received_at timestamptz[], p_elapsed_us integer[], p_idempotency_key uuid[], p_fingerprint uuid[],
    p_event uuid[], p_card_number text[], p_signing_key uuid[], p_expired boolean[],
    p_gate text[], p_scanner_id text[], p_occurred_at timestamptz[], p_given jsonb[]
)
RETURNS TABLE (
    request_id uuid, verdict text, replayed boolean, ticket_id uuid, tier text, category_name text,
    first_at timestamptz, first_gate text, first_scanner_id text,
    details jsonb  -- of the rule that refused: when the doors open, say
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off  -- nested loops over indexes are right at every size, and keep the order of row locks
SET enable_mergejoin = off
SET enable_seqscan = off
SET jit = off
SET lock_timeout = '250ms'
AS $$
#variable_conflict use_column
DECLARE
    this_generation smallint;
    last_generation smallint;
    unjudged uuid[];  -- requests
    heard_keys text[];  -- organization, mode and message type, where somebody subscribes to it
    -- A gate without a network sends its scans later: those from before an event's end are taken for so long after it.
    late CONSTANT interval := '72 hours';
    written CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
BEGIN
    -- 0. What the whole batch needs: scans that are not judged, where stored answers are, and who listens.
    SELECT scans_with_ended_keys(p_at, p_request, p_organization, p_key, p_event, p_gate, p_signing_key, p_given)
      INTO unjudged;
    SELECT g.current, (g.current + 2) % 3 INTO this_generation, last_generation FROM idempotency_generation g;
    SELECT array_agg(heard.organization_id::text || heard.mode || heard.type) INTO heard_keys
      FROM heard_by_each(p_organization, p_mode, p_at) heard;

    -- 1. An advisory lock per idempotency key. A concurrent retry in another process waits here until the first has
    --    committed, and every statement below sees what it wrote. Sorted, so that two batches cannot deadlock.
    PERFORM pg_advisory_xact_lock(key.lock)
       FROM (SELECT DISTINCT hashtextextended(u.organization_id::text || u.idempotency_key::text, 0) AS lock
               FROM unnest(p_organization, p_idempotency_key) u (organization_id, idempotency_key)
              WHERE u.idempotency_key IS NOT NULL
              ORDER BY 1) key;

    -- 2. The conditional UPDATE that decides the race. Within a batch the first scan of a ticket goes forward; between
    --    batches PostgreSQL lets one of them find activated_at empty. Everything below only explains the outcome.
    UPDATE ticket t
       SET activated_at = p_at, activated_by = first.request, activation_key = first.idempotency_key,
           activated_gate = first.gate, activated_scanner_id = first.scanner_id
      FROM (SELECT DISTINCT ON (i.tenant_id, found.ticket_id)
                   i.tenant_id, found.ticket_id, i.event_id, card.id AS card_id, i.request, i.idempotency_key, i.gate,
                   i.scanner_id
              FROM (SELECT DISTINCT ON (u.organization_id, coalesce(u.idempotency_key, u.request)) u.*,
                           coalesce((u.given ->> 'twin')::uuid, u.organization_id) AS tenant_id,
                           coalesce(u.occurred_at, p_at) AS shown_at
                      FROM unnest(p_organization, p_request, p_idempotency_key, p_event, p_card_number, p_expired, p_gate,
                                  p_scanner_id, p_occurred_at, p_given)
                           WITH ORDINALITY u (organization_id, request, idempotency_key, event_id, card_number, expired,
                                              gate, scanner_id, occurred_at, given, n)
                     WHERE u.request <> ALL (unjudged)
                     ORDER BY u.organization_id, coalesce(u.idempotency_key, u.request), u.n) i
             CROSS JOIN LATERAL (SELECT e.status, e.codes, e.doors_open_at, coalesce(e.ended_at, e.ends_at) AS ended_at
                                   FROM event e
                                  WHERE e.organization_id = i.tenant_id AND e.id = i.event_id
                                 OFFSET 0) event
             CROSS JOIN LATERAL (SELECT c.id, c.phone
                                   FROM card c
                                  WHERE c.organization_id = i.tenant_id
                                    AND c.number = i.card_number
                                    AND c.status = 'active'
                                 OFFSET 0) card
             CROSS JOIN LATERAL (SELECT x.id AS ticket_id, x.category_id
                                   FROM ticket x
                                  WHERE x.organization_id = i.tenant_id
                                    AND x.event_id = i.event_id
                                    AND x.card_id = card.id
                                    AND x.cancelled_at IS NULL
                                    AND x.activated_at IS NULL
                                 OFFSET 0) found
             CROSS JOIN LATERAL (SELECT k.valid_from, k.valid_until, k.gates
                                   FROM ticket_category k
                                  WHERE k.organization_id = i.tenant_id AND k.id = found.category_id
                                 OFFSET 0) category
             WHERE i.given ->> 'verdict' IS NULL AND (i.given ? 'held') IS NOT TRUE
               AND NOT i.expired
               AND (event.status = 'published'
                    OR event.status = 'ended' AND i.occurred_at < event.ended_at AND p_at < event.ended_at + late)
               AND (event.doors_open_at IS NULL OR event.doors_open_at <= i.shown_at)
               AND (category.valid_from IS NULL OR category.valid_from <= i.shown_at)
               AND (category.valid_until IS NULL OR category.valid_until > i.shown_at)
               AND (category.gates IS NULL OR i.gate = ANY (category.gates))
               AND (event.codes = 'any' OR i.given ?| '{phone,fresh}')
               AND (i.given -> 'phone' IS NULL OR (i.given -> 'phone')::smallint = card.phone)
               AND NOT EXISTS (SELECT FROM idempotency old
                                WHERE old.organization_id = i.organization_id
                                  AND old.idempotency_key = i.idempotency_key
                                  AND old.generation IN (this_generation, last_generation)
                               OFFSET 0)
             ORDER BY i.tenant_id, found.ticket_id, i.n) first
     WHERE t.organization_id = first.tenant_id
       AND t.id = first.ticket_id
       AND (t.event_id, t.card_id) = (first.event_id, first.card_id)  -- each index of the table has its whole key
       AND t.activated_at IS NULL
       AND t.cancelled_at IS NULL;

    RETURN QUERY
    WITH item AS (
        SELECT u.*,
               coalesce((u.given ->> 'twin')::uuid, u.organization_id) AS tenant_id,
               coalesce(u.occurred_at, p_at) AS shown_at,
               first_value(u.request) OVER same_key AS leader,
               first_value(u.fingerprint) OVER same_key AS leader_fingerprint
          FROM unnest(p_request, p_organization, p_mode, p_key, p_address, p_received_at, p_elapsed_us, p_idempotency_key,
                      p_fingerprint, p_event, p_card_number, p_expired, p_gate, p_scanner_id, p_occurred_at, p_given)
               WITH ORDINALITY u (request, organization_id, mode, key_id, address, received_at, elapsed_us, idempotency_key,
                                  fingerprint, event_id, card_number, expired, gate, scanner_id, occurred_at, given, n)
         WHERE u.request <> ALL (unjudged)
        WINDOW same_key AS (PARTITION BY u.organization_id, coalesce(u.idempotency_key, u.request) ORDER BY u.n)
    ),
    judged AS MATERIALIZED (
        SELECT i.*,
               old.at IS NOT NULL AS was_answered,
               coalesce(old.fingerprint, i.leader_fingerprint) AS known_fingerprint,
               c.id AS card_id,
               CASE
                   WHEN old.at IS NOT NULL THEN old.verdict
                   WHEN i.leader <> i.request THEN NULL
                   WHEN i.given ? 'verdict' THEN i.given ->> 'verdict'
                   WHEN t.activated_by = i.request THEN 'activated'
                   WHEN e.id IS NULL THEN 'event_not_found'
                   WHEN e.status <> 'published'
                        AND (e.status = 'ended' AND i.occurred_at < e.ended_at AND p_at < e.ended_at + late) IS NOT TRUE
                        THEN 'event_not_active'
                   WHEN e.doors_open_at > i.shown_at THEN 'doors_closed'
                   WHEN i.expired THEN 'expired'
                   WHEN i.given ? 'phone' AND c.id IS NOT NULL  -- of a phone that has ended
                        AND c.phone IS DISTINCT FROM (i.given -> 'phone')::smallint THEN 'expired'
                   WHEN e.codes <> 'any' AND (i.given ?| '{phone,fresh}') IS NOT TRUE THEN 'static_code_refused'
                   WHEN c.id IS NULL THEN 'card_not_found'
                   WHEN c.status <> 'active' THEN 'card_' || c.status
                   WHEN t.id IS NULL THEN
                       CASE WHEN EXISTS (SELECT FROM ticket x
                                          WHERE x.organization_id = i.tenant_id
                                            AND x.event_id = i.event_id
                                            AND x.card_id = c.id
                                            AND x.cancelled_at IS NOT NULL)
                            THEN 'ticket_cancelled' ELSE 'ticket_not_found' END
                   WHEN t.activated_at IS NOT NULL  -- but not by a later scan of the batch
                        AND (array_position(p_request, t.activated_by) > i.n) IS NOT TRUE THEN 'already_activated'
                   WHEN k.valid_from > i.shown_at OR k.valid_until <= i.shown_at THEN 'outside_window'
                   WHEN k.gates IS NOT NULL AND (i.gate = ANY (k.gates)) IS NOT TRUE THEN 'wrong_gate'
                   WHEN i.given ? 'held' THEN i.given ->> 'held'  -- an entry of a journal that must not activate
                   ELSE changed_meanwhile()
               END AS own_verdict,
               coalesce(old.ticket_id, (i.given ->> 'ticket_id')::uuid, t.id) AS own_ticket_id,
               coalesce(old.tier, i.given ->> 'tier', k.tier) AS own_tier,
               coalesce(old.category_name, i.given ->> 'category_name', k.name) AS own_category_name,
               coalesce(old.first_at, (i.given ->> 'first_at')::timestamptz, t.activated_at) AS own_first_at,
               coalesce(old.first_gate, t.activated_gate) AS own_first_gate,
               coalesce(old.first_scanner_id, t.activated_scanner_id) AS own_first_scanner_id,
               old.details AS old_details, e.doors_open_at, k.valid_from, k.valid_until, k.gates, t.admitted_at
          FROM item i
          LEFT JOIN LATERAL (SELECT x.*
                               FROM idempotency x
                              WHERE x.organization_id = i.organization_id
                                AND x.idempotency_key = i.idempotency_key
                                AND x.generation IN (this_generation, last_generation)
                             OFFSET 0) old ON true
          LEFT JOIN LATERAL (SELECT x.id, x.status, x.codes, x.doors_open_at, coalesce(x.ended_at, x.ends_at) AS ended_at
                               FROM event x
                              WHERE x.organization_id = i.tenant_id
                                AND x.id = i.event_id
                             OFFSET 0) e ON true
          LEFT JOIN LATERAL (SELECT x.id, x.status, x.phone
                               FROM card x
                              WHERE x.organization_id = i.tenant_id
                                AND x.number = i.card_number
                             OFFSET 0) c ON true
          LEFT JOIN LATERAL (SELECT x.*
                               FROM ticket x
                              WHERE x.organization_id = i.tenant_id
                                AND x.event_id = i.event_id
                                AND x.card_id = c.id
                                AND x.cancelled_at IS NULL
                                AND old.at IS NULL
                             OFFSET 0) t ON true
          LEFT JOIN LATERAL (SELECT x.name, x.tier, x.valid_from, x.valid_until, x.gates
                               FROM ticket_category x
                              WHERE x.organization_id = i.tenant_id
                                AND x.id = t.category_id
                             OFFSET 0) k ON true
    ),
    answer AS MATERIALIZED (
        SELECT j.*,
               j.was_answered OR j.leader <> j.request AS is_replay,
               j.elapsed_us + (1e6 * extract(epoch FROM clock_timestamp() - statement_timestamp()))::integer AS duration_us,
               CASE WHEN j.known_fingerprint IS DISTINCT FROM j.fingerprint THEN 'idempotency_key_reused'
                    ELSE first_value(j.own_verdict) OVER same_key END AS verdict,
               first_value(j.own_ticket_id) OVER same_key AS ticket_id,
               first_value(j.own_tier) OVER same_key AS tier,
               first_value(j.own_category_name) OVER same_key AS category_name,
               first_value(j.own_first_at) OVER same_key AS first_at,
               first_value(j.own_first_gate) OVER same_key AS first_gate,
               first_value(j.own_first_scanner_id) OVER same_key AS first_scanner_id,
               first_value(coalesce(j.old_details, CASE j.own_verdict
                   WHEN 'doors_closed' THEN jsonb_build_object('doors_open_at', j.doors_open_at)
                   WHEN 'outside_window' THEN jsonb_build_object('valid_from', j.valid_from, 'valid_until', j.valid_until)
                   WHEN 'wrong_gate' THEN jsonb_build_object('gates', j.gates)
               END)) OVER same_key AS details
          FROM judged j
        WINDOW same_key AS (PARTITION BY j.organization_id, coalesce(j.idempotency_key, j.request) ORDER BY j.n)
    ),
    stored AS (
        INSERT INTO idempotency (organization_id, idempotency_key, generation, fingerprint, at, verdict, ticket_id, tier,
                                 category_name, first_at, first_gate, first_scanner_id, details)
        SELECT a.organization_id, a.idempotency_key, this_generation, a.fingerprint, p_at, a.verdict, a.ticket_id, a.tier,
               a.category_name, a.first_at, a.first_gate, a.first_scanner_id, a.details
          FROM answer a
         WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay AND (a.given ? 'held') IS NOT TRUE
    ),
    recorded AS (  -- with a status it is the scan's entry of the request log too: see the view `logged_call`
        INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, ticket_id, verdict,
                          gate, scanner_id, occurred_at, status, address, duration_us)
        SELECT a.tenant_id, p_at, a.request, a.mode, a.key_id, a.event_id, a.card_number, a.card_id, a.ticket_id, a.verdict,
               a.gate, a.scanner_id, a.occurred_at,
               CASE WHEN a.tenant_id = a.organization_id THEN (p_statuses -> a.mode ->> a.verdict)::smallint END,
               a.address::inet, a.duration_us
          FROM answer a
         WHERE NOT a.is_replay
           AND (a.verdict = 'activated' OR a.given @> '{"admitted": true}' IS NOT TRUE)  -- that is an incident
    ),
    logged AS (  -- what leaves no scan of its own: replays, and the sandbox, whose scans are of another organization
        INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, code, address, duration_us,
                                 event_id, card_id)
        SELECT a.organization_id, coalesce(a.received_at, p_at), a.request, a.mode, a.key_id, 'POST', '/scan',
               (p_statuses -> a.mode ->> a.verdict)::smallint, nullif(a.verdict, 'activated'), a.address::inet,
               a.duration_us, a.event_id, a.card_id
          FROM answer a
         WHERE p_statuses IS NOT NULL  -- the upload of a journal is one call
           AND CASE WHEN a.tenant_id <> a.organization_id THEN true
                    ELSE a.is_replay AND NOT was_recorded(a.organization_id, p_at, a.request) END
        ON CONFLICT DO NOTHING  -- a batch whose outcome was unknown is run again; a call still has one row
    ),
    message AS (  -- in the bytes that are sent; `webhooks/message.py` has the envelope that all messages share
        SELECT a.organization_id, a.mode, kind.type, a.request AS id,
               -- All scans of a test card are of one ticket; they need no order among themselves.
               CASE WHEN a.given ? 'verdict' THEN a.request ELSE coalesce(a.ticket_id, a.request) END AS ordering_key,
               convert_to('{"id":"evt_' || replace(a.request::text, '-', '') || '","type":"' || kind.type
                          || '","organization_id":"' || a.organization_id || '","created_at":"' || now.text
                          || '","data":' || data.text || '}', 'UTF8') AS body
          FROM answer a
         CROSS JOIN (SELECT to_char(p_at AT TIME ZONE 'UTC', written) AS text) now
         CROSS JOIN LATERAL (SELECT CASE a.verdict WHEN 'activated' THEN 'ticket.activated'
                                                   ELSE 'scan.denied' END AS type) kind
         CROSS JOIN LATERAL (
               SELECT CASE kind.type
                      WHEN 'ticket.activated' THEN
                          '{"ticket_id":"' || a.ticket_id || '","event_id":"' || a.event_id || '","card_number":'
                          || to_json(a.card_number)::text || ',"activated_at":"' || now.text || '","occurred_at":'
                          || coalesce('"' || to_char(a.occurred_at AT TIME ZONE 'UTC', written) || '"', 'null')
                          || ',"gate":' || coalesce(to_json(a.gate)::text, 'null') || ',"scanner_id":'
                          || coalesce(to_json(a.scanner_id)::text, 'null') || '}'
                      ELSE
                          json_build_object('event_id', a.event_id, 'card_number', a.card_number, 'ticket_id',
                                            a.ticket_id, 'code', a.verdict, 'gate', a.gate, 'scanner_id', a.scanner_id,
                                            'occurred_at', to_char(a.occurred_at AT TIME ZONE 'UTC', written),
                                            'denied_at', now.text)::text END AS text) data
         WHERE NOT a.is_replay
           AND a.verdict <> 'idempotency_key_reused'
           AND (a.verdict = 'activated' OR a.given @> '{"admitted": true}' IS NOT TRUE)
           AND a.organization_id::text || a.mode || kind.type = ANY (heard_keys)
         ORDER BY a.n
    ),
    emitted AS (
        SELECT tell_subscribers(p_at, array_agg(m.organization_id), array_agg(m.mode), array_agg(m.type),
                                array_agg(m.id), array_agg(m.ordering_key), array_agg(m.body), NULL)
          FROM message m
        HAVING count(*) > 0
    ),
    second AS (  -- somebody was let in with the ticket before it was used; `take_entries` does the same for journals
        SELECT open_second_admissions(p_at, array_agg(a.tenant_id), array_agg(a.ticket_id), array_agg(a.key_id),
                                      array_agg(a.occurred_at))
          FROM answer a
         WHERE a.admitted_at IS NOT NULL AND a.verdict = 'activated' AND NOT a.is_replay AND (a.given ? 'admitted') IS NOT TRUE
        HAVING count(*) > 0
    )
    SELECT a.request, a.verdict, a.is_replay AND a.verdict <> 'idempotency_key_reused',
           a.ticket_id, a.tier, a.category_name, a.first_at, a.first_gate, a.first_scanner_id,
           CASE WHEN a.verdict <> 'idempotency_key_reused' THEN a.details END
      FROM answer a
      LEFT JOIN emitted ON true LEFT JOIN second ON true;
END
$$;
