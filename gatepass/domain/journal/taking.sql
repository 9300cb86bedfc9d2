-- Take a batch of journal entries in one round trip. `taking.py` calls it. `judge_scans` judges each entry as it judges a
-- scan; what was admitted against its verdict opens an incident. No two entries of a batch share a sequence or a key.
CREATE OR REPLACE FUNCTION take_entries(p_at timestamptz, p_entries jsonb)
RETURNS TABLE (id uuid, outcome text, code text, ticket_id uuid, incidents jsonb)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
SET jit = off
SET lock_timeout = '250ms'
AS $$
#variable_conflict use_column
DECLARE
    entries uuid[] := ARRAY(SELECT i.id FROM read_entries(p_at, p_entries) i);
    decided jsonb;
    hasty uuid[];
    verdicts jsonb;
    results jsonb;
    -- People type no number in less. A stolen device tries numbers out, and must not use up a ticket by each hit.
    apart CONSTANT interval := '2 seconds';
BEGIN
    -- 1. Locks: the devices, so that two uploads of one take turns; then keys and tickets in the order of `judge_scans`.
    PERFORM d.id
       FROM (SELECT DISTINCT i.organization_id, i.device_id FROM read_entries(p_at, p_entries) i) u
       JOIN device d ON d.organization_id = u.organization_id AND d.id = u.device_id
      ORDER BY d.organization_id, d.id
        FOR NO KEY UPDATE OF d;
    PERFORM pg_advisory_xact_lock(key.lock)
       FROM (SELECT DISTINCT hashtextextended(i.organization_id::text || i.idempotency_key::text, 0) AS lock
               FROM read_entries(p_at, p_entries) i
              ORDER BY 1) key;
    PERFORM t.id
       FROM (SELECT DISTINCT i.tenant_id, i.ticket_id FROM read_entries(p_at, p_entries) i WHERE i.admitted) u
       JOIN ticket t ON t.organization_id = u.tenant_id AND t.id = u.ticket_id
      ORDER BY t.organization_id, t.id
        FOR NO KEY UPDATE OF t;

    -- 2. What was decided before, and numbers that were typed too fast.
    SELECT coalesce(jsonb_object_agg(x.id, x.decision), '{}') INTO decided FROM decided_entries(p_at, p_entries) x;
    WITH entry AS MATERIALIZED (SELECT * FROM read_entries(p_at, p_entries))
    SELECT coalesce(array_agg(i.id), '{}') INTO hasty
      FROM entry i
     WHERE i.typed
       AND i.admitted
       AND (EXISTS (SELECT FROM journal_entry j
                     WHERE j.organization_id = i.tenant_id
                       AND j.device_id = i.device_id
                       AND j.typed
                       AND j.corrected_at > i.corrected_at - apart
                       AND j.corrected_at < i.corrected_at + apart)
            OR EXISTS (SELECT FROM entry e
                        WHERE e.device_id = i.device_id
                          AND e.typed
                          AND e.n < i.n
                          AND e.corrected_at > i.corrected_at - apart
                          AND e.corrected_at < i.corrected_at + apart));

    -- 3. The rules of a scan. An entry that is held is judged, and activates nothing.
    PERFORM open_keys(p_at, p_entries, decided);
    SELECT coalesce(jsonb_object_agg(v.request_id, jsonb_build_object(
               'verdict', v.verdict, 'replayed', v.replayed, 'ticket_id', v.ticket_id)), '{}') INTO verdicts
      FROM (SELECT array_agg(i.id ORDER BY i.n) AS request, array_agg(i.organization_id ORDER BY i.n) AS organization,
                   array_agg(i.mode ORDER BY i.n) AS mode, array_agg(i.key_id ORDER BY i.n) AS key,
                   array_agg(i.idempotency_key ORDER BY i.n) AS idempotency_key,
                   array_agg(i.fingerprint ORDER BY i.n) AS fingerprint, array_agg(i.event_id ORDER BY i.n) AS event,
                   array_agg(i.card_number ORDER BY i.n) AS card_number,
                   array_agg(i.signing_key ORDER BY i.n) AS signing_key, array_agg(i.expired ORDER BY i.n) AS expired,
                   array_agg(i.gate ORDER BY i.n) AS gate, array_agg(i.scanner_id ORDER BY i.n) AS scanner_id,
                   array_agg(i.corrected_at ORDER BY i.n) AS shown_at,
                   array_agg(i.given || CASE WHEN NOT i.admitted THEN '{"held": "refused_by_device"}'
                                             WHEN i.held IS NOT NULL OR i.id = ANY (hasty) THEN '{"held": "override"}'
                                             ELSE '{}' END::jsonb ORDER BY i.n) AS given
              FROM read_entries(p_at, p_entries) i
             WHERE i.card_number IS NOT NULL
               AND NOT decided ? i.id::text
            HAVING count(*) > 0) a
     CROSS JOIN LATERAL judge_scans(
               p_at, NULL, a.request, a.organization, a.mode, a.key, NULL, NULL, NULL, a.idempotency_key, a.fingerprint,
               a.event, a.card_number, a.signing_key, a.expired, a.gate, a.scanner_id, a.shown_at, a.given) v;

    -- 4. Outcomes, and the kinds of incidents. A duplicate is any admission of a ticket after the first.
    SELECT jsonb_agg(r) INTO results
      FROM (SELECT f.id, f.ticket_id, f.verdict,
                   CASE WHEN f.verdict = 'idempotency_key_reused' THEN 'rejected'
                        WHEN f.admitted AND f.verdict = 'activated' THEN 'activated'
                        ELSE 'recorded' END AS outcome,
                   nullif(nullif(f.verdict, 'activated'), 'override') AS code,
                   CASE WHEN f.is_admission THEN array_remove(ARRAY[
                        incident_kind(f.verdict, f.event_status),
                        CASE WHEN f.verdict <> 'already_activated' AND (f.had_before OR f.follows)
                             THEN 'duplicate' END], NULL) END AS kinds,
                   CASE WHEN f.held IS NOT NULL THEN f.held
                        WHEN f.id = ANY (hasty) THEN 'typed too fast' END AS reason
              FROM (SELECT j.*, e.status AS event_status,
                           t.admitted_at IS NOT NULL
                           OR t.activated_at IS NOT NULL AND (t.activated_by = ANY (entries)) IS NOT TRUE AS had_before,
                           t.id IS NOT NULL AND row_number() OVER (PARTITION BY j.tenant_id, t.id, j.is_admission
                                                                   ORDER BY j.n) > 1 AS follows
                      FROM (SELECT i.n, i.id, i.tenant_id, i.event_id, i.admitted, i.held,
                                   coalesce((v.found ->> 'ticket_id')::uuid, i.ticket_id) AS ticket_id,
                                   coalesce(v.found ->> 'verdict', 'invalid_token') AS verdict,
                                   i.admitted AND coalesce(v.found ->> 'verdict', '') <> 'idempotency_key_reused'
                                       AND NOT coalesce(v.found ->> 'verdict' = 'activated'
                                                        AND (v.found -> 'replayed')::boolean, false) AS is_admission
                              FROM read_entries(p_at, p_entries) i
                             CROSS JOIN LATERAL (SELECT verdicts -> i.id::text AS found) v
                             WHERE NOT decided ? i.id::text) j
                      LEFT JOIN LATERAL (SELECT x.status
                                           FROM event x
                                          WHERE x.organization_id = j.tenant_id
                                            AND x.id = j.event_id
                                         OFFSET 0) e ON true
                      LEFT JOIN LATERAL (SELECT x.id, x.activated_at, x.activated_by, x.admitted_at
                                           FROM ticket x
                                          WHERE x.organization_id = j.tenant_id
                                            AND x.id = j.ticket_id
                                         OFFSET 0) t ON true) f) r;

    -- 5. The journal, the tickets that somebody came in with and that are not used by it, and the incidents.
    PERFORM record_entries(p_at, p_entries, decided, coalesce(results, '[]'));
    PERFORM close_keys(p_at, p_entries, coalesce(results, '[]'));

    RETURN QUERY
    SELECT i.id, coalesce(decided -> i.id::text ->> 'outcome', r.outcome),
           CASE WHEN decided ? i.id::text THEN decided -> i.id::text ->> 'code' ELSE r.code END,
           coalesce((decided -> i.id::text ->> 'ticket_id')::uuid, r.ticket_id),
           (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'kind', o.kind) ORDER BY o.kind), '[]')
              FROM incident o
             WHERE o.organization_id = i.tenant_id
               AND o.device_id = i.device_id
               AND o.sequence = i.sequence
               AND coalesce(decided -> i.id::text ->> 'outcome', r.outcome) <> 'rejected')
      FROM read_entries(p_at, p_entries) i
      LEFT JOIN jsonb_to_recordset(results) r (id uuid, ticket_id uuid, outcome text, code text) ON r.id = i.id;
END
$$;
