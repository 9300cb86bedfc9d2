-- The queue: claims of due deliveries, and the recording of their results. `queue.py` calls these routines.
--
-- The cost of a claim grows with the lanes and the due rows; rows that are due later are never read.

-- Claim at most `p_most` deliveries, for a lease of `p_lease`. A claim increments `attempt`, the fencing token.
-- The limit of a lane is in `p_rooms`, whose keys are the endpoint's id followed by the lane's number; for a lane that
-- is not in it, `p_elsewhere`; for an endpoint that keeps failing, 1: a probe.
-- Fair by organization, then by endpoint: every organization's first lane comes before any second one.
-- Due deliveries that must wait for an earlier one are returned too, without an event.
CREATE OR REPLACE FUNCTION claim_deliveries(
    p_rooms jsonb,
    p_elsewhere integer,
    p_lanes integer,
    p_most integer,
    p_lease interval,
    p_failing integer
)
RETURNS TABLE (
    organization_id uuid,
    endpoint_id uuid,
    ordering_key uuid,
    id bigint,
    lane smallint,
    attempt integer,
    delivery_at timestamptz,
    delivery_id uuid,
    is_replay boolean,
    event_id uuid,
    type text,
    body bytea,
    mode text,
    url text,
    sealed_secret bytea,
    sealed_new_secret bytea,
    switches_at timestamptz,
    retires_at timestamptz,
    failures integer
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    this_moment timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    -- every organization: a worker serves all of them in turn
    WITH RECURSIVE lane AS (
        (SELECT q.organization_id, q.endpoint_id, q.lane, q.next_at
           FROM webhook_queue q
          ORDER BY q.organization_id, q.endpoint_id, q.lane, q.next_at
          LIMIT 1)
         UNION ALL
        SELECT n.*
          FROM lane l
         CROSS JOIN LATERAL (SELECT q.organization_id, q.endpoint_id, q.lane, q.next_at
                               FROM webhook_queue q
                              WHERE (q.organization_id, q.endpoint_id, q.lane) > (l.organization_id, l.endpoint_id, l.lane)
                              ORDER BY q.organization_id, q.endpoint_id, q.lane, q.next_at
                              LIMIT 1) n
    ),
    ready AS (
        SELECT l.organization_id, l.endpoint_id, l.lane, l.next_at,
               CASE WHEN e.failures >= p_failing THEN least(1, known.room) ELSE known.room END AS room,
               row_number() OVER (PARTITION BY l.organization_id ORDER BY l.lane, random()) AS turn
          FROM lane l
         CROSS JOIN LATERAL (SELECT coalesce((p_rooms ->> (l.endpoint_id::text || l.lane))::integer, p_elsewhere) AS room
                             OFFSET 0) known
         CROSS JOIN LATERAL (SELECT x.failures
                               FROM webhook_endpoint x
                              WHERE x.organization_id = l.organization_id
                                AND x.id = l.endpoint_id
                                AND x.status = 'active'
                                AND x.deleted_at IS NULL
                                AND (x.blocked_until IS NULL OR x.blocked_until <= this_moment)
                             OFFSET 0) e
         WHERE l.next_at <= this_moment
           AND known.room > 0
    ),
    chosen AS (
        SELECT * FROM ready ORDER BY turn, random() LIMIT p_lanes
    ),
    -- From the lane's first row on, so that deleted rows before it, not yet vacuumed, are skipped only once.
    -- Materialized: otherwise the planner may run this again for a row that changed, and claim more than `p_most`.
    picked AS MATERIALIZED (
        SELECT d.place, d.organization_id, earliest.id AS waits_for,
               CASE WHEN earliest.id IS NULL THEN this_moment + p_lease
                    WHEN earliest.next_at > this_moment + p_lease THEN earliest.next_at
                    WHEN another.id IS NOT NULL THEN this_moment + p_lease
                    ELSE this_moment + least(interval '5 seconds',
                                             greatest(interval '0.1 second',
                                                      p_lease - (earliest.next_at - this_moment))) END AS next_at
          FROM chosen c
         CROSS JOIN LATERAL (SELECT q.ctid AS place, q.organization_id, q.endpoint_id, q.ordering_key, q.id
                               FROM webhook_queue q
                              WHERE q.organization_id = c.organization_id
                                AND q.endpoint_id = c.endpoint_id
                                AND q.lane = c.lane
                                AND q.next_at >= c.next_at
                                AND q.next_at <= this_moment
                              ORDER BY q.next_at, q.id
                              LIMIT c.room
                                FOR UPDATE SKIP LOCKED) d
          LEFT JOIN LATERAL (SELECT q.id, q.next_at
                               FROM webhook_queue q
                              WHERE q.organization_id = d.organization_id
                                AND q.endpoint_id = d.endpoint_id
                                AND q.ordering_key = d.ordering_key
                                AND q.id < d.id
                              ORDER BY q.id
                              LIMIT 1) earliest ON true
          LEFT JOIN LATERAL (SELECT q.id
                               FROM webhook_queue q
                              WHERE q.organization_id = d.organization_id
                                AND q.endpoint_id = d.endpoint_id
                                AND q.ordering_key = d.ordering_key
                                AND q.id > earliest.id
                                AND q.id < d.id
                              LIMIT 1) another ON true
         LIMIT p_most
    ),
    -- A delivery that must wait for an earlier one is put off until that one is due, so that it is not read at every
    -- claim. If a worker may have claimed the earlier one, it ends soon. Its recording wakes the next in line, but may
    -- not see a row that was inserted just now: so the shorter the earlier one has been claimed, the sooner we check
    -- again. Rows further behind are put off until the next in line has been sent.
    claimed AS (
        UPDATE webhook_queue q
           SET attempt = q.attempt + CASE WHEN p.waits_for IS NULL THEN 1 ELSE 0 END,
               next_at = p.next_at
          FROM picked p
         WHERE q.ctid = p.place
           AND q.organization_id = p.organization_id
        RETURNING q.*, p.waits_for
    ),
    -- Only one process at a time probes a failing endpoint.
    asked AS (
        UPDATE webhook_endpoint e
           SET blocked_until = this_moment + p_lease
          FROM (SELECT DISTINCT c.organization_id, c.endpoint_id FROM claimed c WHERE c.waits_for IS NULL) one
         WHERE e.organization_id = one.organization_id
           AND e.id = one.endpoint_id
           AND e.failures >= p_failing
    )
    SELECT c.organization_id, c.endpoint_id, c.ordering_key, c.id, c.lane, c.attempt, c.delivery_at, c.delivery_id,
           d.replay_id IS NOT NULL, d.event_id, d.type, v.body, e.mode, e.url, e.sealed_secret, e.sealed_new_secret,
           e.switches_at, e.retires_at, e.failures
      FROM claimed c
      LEFT JOIN LATERAL (SELECT x.event_id, x.event_at, x.event_txid, x.type, x.replay_id
                           FROM webhook_delivery x
                          WHERE x.organization_id = c.organization_id
                            AND x.endpoint_id = c.endpoint_id
                            AND x.at = c.delivery_at
                            AND x.id = c.delivery_id
                            AND c.waits_for IS NULL
                         OFFSET 0) d ON true
     CROSS JOIN LATERAL (SELECT x.*
                           FROM webhook_endpoint x
                          WHERE x.organization_id = c.organization_id
                            AND x.id = c.endpoint_id
                         OFFSET 0) e
      LEFT JOIN LATERAL (SELECT x.body
                           FROM webhook_event x
                          WHERE x.organization_id = c.organization_id
                            AND x.mode = e.mode
                            AND x.txid = d.event_txid
                            AND x.id = d.event_id
                            AND x.at = d.event_at
                         OFFSET 0) v ON true
     ORDER BY c.id;
END
$$;

-- Record attempts. Each gets its row. Where the fencing token `attempt` is still that of the queue's row, the claim is
-- valid: the delivery's state is updated, and the queue's row is deleted or gets its next time. `p_again` is the number
-- of seconds until then, null to delete. Return the number of valid claims.
CREATE OR REPLACE FUNCTION record_attempts(
    p_organization uuid[],
    p_endpoint uuid[],
    p_ordering_key uuid[],
    p_id bigint[],
    p_attempt integer[],
    p_delivery_at timestamptz[],
    p_delivery uuid[],
    p_state text[],
    p_again double precision[],
    p_at timestamptz[],
    p_status smallint[],
    p_error text[],
    p_address text[],
    p_dns_ms real[],
    p_connect_ms real[],
    p_answer_ms real[],
    p_total_ms real[],
    p_answer_head text[]
)
RETURNS integer
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    this_moment timestamptz := clock_timestamp();
    own integer;
BEGIN
    WITH result AS MATERIALIZED (
        SELECT *
          FROM unnest(p_organization, p_endpoint, p_ordering_key, p_id, p_attempt, p_delivery_at, p_delivery, p_state,
                      p_again, p_at, p_status, p_error, p_address, p_dns_ms, p_connect_ms, p_answer_ms, p_total_ms,
                      p_answer_head)
               u (organization_id, endpoint_id, ordering_key, id, attempt, delivery_at, delivery_id, state, again, at,
                  status, error, address, dns_ms, connect_ms, answer_ms, total_ms, answer_head)
    ),
    made AS (
        INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, status, error, address, dns_ms, connect_ms,
                                     answer_ms, total_ms, answer_head)
        SELECT r.organization_id, r.at, r.delivery_id, r.attempt, r.status, r.error, r.address, r.dns_ms, r.connect_ms,
               r.answer_ms, r.total_ms, r.answer_head
          FROM result r
        ON CONFLICT DO NOTHING
    ),
    put_back AS (
        UPDATE webhook_queue q
           SET next_at = this_moment + r.again * interval '1 second'
          FROM result r
         WHERE q.organization_id = r.organization_id
           AND q.endpoint_id = r.endpoint_id
           AND q.ordering_key = r.ordering_key
           AND q.id = r.id
           AND q.attempt = r.attempt
           AND r.again IS NOT NULL
        RETURNING r.*, q.next_at, NULL::timestamptz AS ended_at
    ),
    ended AS (
        DELETE FROM webhook_queue q
         USING result r
         WHERE q.organization_id = r.organization_id
           AND q.endpoint_id = r.endpoint_id
           AND q.ordering_key = r.ordering_key
           AND q.id = r.id
           AND q.attempt = r.attempt
           AND r.again IS NULL
        RETURNING r.*, NULL::timestamptz AS next_at, this_moment AS ended_at
    ),
    -- The next in line is due now. It is updated even if it is due already: a claim may be putting it off right now.
    woken AS (
        UPDATE webhook_queue q
           SET next_at = this_moment
          FROM ended e
         CROSS JOIN LATERAL (SELECT x.id
                               FROM webhook_queue x
                              WHERE x.organization_id = e.organization_id
                                AND x.endpoint_id = e.endpoint_id
                                AND x.ordering_key = e.ordering_key
                                AND x.id > e.id
                              ORDER BY x.id
                              LIMIT 1) following
         WHERE q.organization_id = e.organization_id
           AND q.endpoint_id = e.endpoint_id
           AND q.ordering_key = e.ordering_key
           AND q.id = following.id
    ),
    mine AS MATERIALIZED (
        SELECT * FROM put_back
         UNION ALL
        SELECT * FROM ended
    ),
    told AS (
        UPDATE webhook_delivery d
           SET state = m.state,
               attempts = m.attempt,
               next_at = m.next_at,
               ended_at = m.ended_at,
               last_status = m.status,
               last_error = m.error
          FROM mine m
         WHERE d.organization_id = m.organization_id
           AND d.endpoint_id = m.endpoint_id
           AND d.at = m.delivery_at
           AND d.id = m.delivery_id
    )
    SELECT count(*) INTO own FROM mine;
    RETURN own;
END
$$;
