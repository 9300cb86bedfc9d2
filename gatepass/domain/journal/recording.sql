-- The kind of incident of an admission that a scan would have been refused with this verdict; NULL if there is none.
CREATE OR REPLACE FUNCTION incident_kind(p_verdict text, p_event_status text)
RETURNS text LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN CASE p_verdict
        WHEN 'activated' THEN NULL
        WHEN 'override' THEN 'override'
        WHEN 'already_activated' THEN 'duplicate'
        WHEN 'card_revoked' THEN 'revoked_meanwhile'
        WHEN 'card_suspended' THEN 'suspended'
        WHEN 'ticket_cancelled' THEN 'cancelled'
        WHEN 'event_not_active' THEN CASE p_event_status WHEN 'cancelled' THEN 'cancelled' ELSE 'outside_window' END
        WHEN 'card_not_found' THEN 'unknown_card'
        WHEN 'invalid_token' THEN 'unknown_card'
        WHEN 'ticket_not_found' THEN 'no_ticket'
        WHEN 'expired' THEN 'expired'
        WHEN 'static_code_refused' THEN 'expired'  -- like an expired one, a code that is not good at this door now
        WHEN 'doors_closed' THEN 'outside_window'
        WHEN 'outside_window' THEN 'outside_window'
        WHEN 'wrong_gate' THEN 'wrong_gate'
        ELSE 'override'  -- a rule that this version of the routine does not know
    END;
END
$$;

-- Write the entries of a batch, what they say of tickets, and their incidents. `taking.sql` calls it.
CREATE OR REPLACE FUNCTION record_entries(p_at timestamptz, p_entries jsonb, p_decided jsonb, p_results jsonb)
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO journal_entry (organization_id, device_id, sequence, id, content, fingerprint, idempotency_key, event_id,
                               card_id, ticket_id, typed, admitted, gate, scanner_id, occurred_at, clock_offset_ms,
                               corrected_at, received_at, outcome, code)
    SELECT i.tenant_id, i.device_id, i.sequence, i.id, i.content, i.fingerprint, i.idempotency_key, i.event_id, i.card_id,
           r.ticket_id, i.typed, i.admitted, i.gate, i.scanner_id, i.occurred_at, i.clock_offset_ms, i.corrected_at, p_at,
           r.outcome, r.code
      FROM read_entries(p_at, p_entries) i
      JOIN (SELECT x.id, x.ticket_id, x.outcome, x.code
              FROM jsonb_to_recordset(p_results) x (id uuid, ticket_id uuid, outcome text, code text)
             UNION ALL
            SELECT d.key::uuid, (d.value ->> 'ticket_id')::uuid, d.value ->> 'outcome', d.value ->> 'code'
              FROM jsonb_each(p_decided) d
             WHERE NOT d.value ? 'stored') r ON r.id = i.id
     WHERE r.outcome <> 'rejected'
     ORDER BY i.n;

    UPDATE ticket t
       SET admitted_at = p_at
      FROM (SELECT DISTINCT i.tenant_id, r.ticket_id
              FROM read_entries(p_at, p_entries) i
              JOIN jsonb_to_recordset(p_results) r (id uuid, ticket_id uuid, outcome text, kinds jsonb) ON r.id = i.id
             WHERE r.outcome = 'recorded'
               AND jsonb_array_length(coalesce(nullif(r.kinds, 'null'), '[]')) > 0) u
     WHERE t.organization_id = u.tenant_id
       AND t.id = u.ticket_id
       AND t.admitted_at IS NULL;

    PERFORM open_incidents(p_at, jsonb_agg(jsonb_build_object(
                'organization_id', i.tenant_id, 'id', md5(i.id::text || k.kind)::uuid, 'event_id', i.event_id,
                'kind', k.kind, 'ticket_id', r.ticket_id, 'card_id', i.card_id, 'card_number', i.card_number,
                'gate', i.gate, 'device_id', i.device_id, 'sequence', i.sequence, 'scanner_id', i.scanner_id,
                'occurred_at', i.occurred_at, 'corrected_at', i.corrected_at, 'reason', r.reason,
                'first_gate', f.gate, 'first_device_id', f.device_id, 'first_scanner_id', f.scanner_id,
                'first_occurred_at', f.occurred_at, 'first_received_at', f.received_at) ORDER BY i.n))
       FROM read_entries(p_at, p_entries) i
       JOIN jsonb_to_recordset(p_results) r (id uuid, ticket_id uuid, kinds jsonb, reason text) ON r.id = i.id
      CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(nullif(r.kinds, 'null'), '[]')) k (kind)
       LEFT JOIN LATERAL first_admission(i.tenant_id, r.ticket_id, i.id) f ON k.kind = 'duplicate'
     HAVING count(*) > 0;
END
$$;

-- Every try of a scan and its upload are one scan. An entry that must not activate was judged without a stored answer:
-- now its key has one, so that a try which was delayed on its way uses no ticket either. `taking.sql` calls it.
CREATE OR REPLACE FUNCTION close_keys(p_at timestamptz, p_entries jsonb, p_results jsonb)
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO idempotency (organization_id, idempotency_key, generation, fingerprint, at, verdict)
    SELECT i.organization_id, i.idempotency_key, g.current, i.fingerprint, p_at, 'idempotency_key_reused'
      FROM read_entries(p_at, p_entries) i
      JOIN jsonb_to_recordset(p_results) r (id uuid, outcome text) ON r.id = i.id
     CROSS JOIN idempotency_generation g
     WHERE r.outcome = 'recorded'
       AND i.card_number IS NOT NULL
       AND NOT EXISTS (SELECT FROM idempotency old
                        WHERE old.organization_id = i.organization_id
                          AND old.idempotency_key = i.idempotency_key
                          AND old.generation IN (g.current, (g.current + 2) % 3)
                       OFFSET 0);
END
$$;

-- Forget that a key has ended.
CREATE OR REPLACE FUNCTION open_key(p_organization uuid, p_key uuid)
RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM idempotency x
     WHERE x.organization_id = p_organization
       AND x.idempotency_key = p_key
       AND x.verdict = 'idempotency_key_reused';
END
$$;

-- A guest who was refused, and was let in when shown again: the admission is judged, although its key was closed.
CREATE OR REPLACE FUNCTION open_keys(p_at timestamptz, p_entries jsonb, p_decided jsonb)
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    -- Before the answers, as a scan does: the rotation takes the two in this order.
    PERFORM g.current FROM idempotency_generation g;
    PERFORM open_key(i.organization_id, i.idempotency_key)
       FROM read_entries(p_at, p_entries) i
      WHERE i.admitted
        AND NOT p_decided ? i.id::text
        AND EXISTS (SELECT FROM journal_entry j
                     WHERE j.organization_id = i.tenant_id
                       AND j.idempotency_key = i.idempotency_key
                    OFFSET 0);
END
$$;
