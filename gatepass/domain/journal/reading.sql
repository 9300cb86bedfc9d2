-- The entries of a batch as rows, each with its card and the ticket that it is about: the one in use, or else the last
-- that was cancelled. An entry whose API key has ended is left out. `taking.sql` calls it.
CREATE OR REPLACE FUNCTION read_entries(p_at timestamptz, p_entries jsonb)
RETURNS TABLE (
    n integer,
    id uuid,
    organization_id uuid,  -- of the device and its key
    tenant_id uuid,        -- of the tickets
    mode text,
    key_id uuid,
    device_id uuid,
    sequence bigint,
    content uuid,
    fingerprint uuid,
    idempotency_key uuid,
    event_id uuid,
    card_number text,
    typed boolean,
    admitted boolean,
    gate text,
    scanner_id text,
    occurred_at timestamptz,
    clock_offset_ms integer,
    corrected_at timestamptz,
    signing_key uuid,
    expired boolean,
    given jsonb,
    held text,
    card_id uuid,
    ticket_id uuid
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT u.*, c.id, t.id
      FROM jsonb_to_recordset(p_entries) u (
               n integer, id uuid, organization_id uuid, tenant_id uuid, mode text, key_id uuid, device_id uuid,
               sequence bigint, content uuid, fingerprint uuid, idempotency_key uuid, event_id uuid, card_number text,
               typed boolean, admitted boolean, gate text, scanner_id text, occurred_at timestamptz,
               clock_offset_ms integer, corrected_at timestamptz, signing_key uuid, expired boolean, given jsonb,
               held text)
      LEFT JOIN LATERAL (SELECT x.id
                           FROM card x
                          WHERE x.organization_id = u.tenant_id
                            AND x.number = u.card_number
                         OFFSET 0) c ON true
      LEFT JOIN LATERAL (SELECT x.id
                           FROM ticket x
                          WHERE x.organization_id = u.tenant_id
                            AND x.card_id = c.id
                            AND x.event_id = u.event_id
                          ORDER BY x.cancelled_at DESC NULLS FIRST, x.id DESC
                          LIMIT 1) t ON true
     WHERE EXISTS (SELECT FROM api_key a
                    WHERE a.organization_id = u.organization_id
                      AND a.id = u.key_id
                      AND a.device_id = u.device_id
                      AND a.revoked_at IS NULL
                      AND (a.expires_at IS NULL OR a.expires_at > p_at));
END
$$;

-- What was decided before: entries that are in the journal, keys that another entry or an activation has used. The
-- others, which have no row here, are judged. A decision without `stored` gets a row in the journal.
CREATE OR REPLACE FUNCTION decided_entries(p_at timestamptz, p_entries jsonb)
RETURNS TABLE (id uuid, decision jsonb)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    reused_key CONSTANT jsonb := '{"outcome": "rejected", "code": "idempotency_key_reused"}';
    reused_sequence CONSTANT jsonb := '{"outcome": "rejected", "code": "sequence_reused"}';
BEGIN
    RETURN QUERY
    SELECT x.id, x.decision
      FROM (SELECT i.id, CASE
                       WHEN same.content <> i.content THEN reused_sequence
                       WHEN same.content IS NOT NULL THEN jsonb_build_object(
                            'outcome', same.outcome, 'code', same.code, 'ticket_id', same.ticket_id, 'stored', true)
                       WHEN other.device_id <> i.device_id OR other.fingerprint <> i.fingerprint THEN reused_key
                       -- A guest who is shown again repeats the same try; a refusal may become an admission by it.
                       WHEN other.admitted OR other.device_id IS NOT NULL AND NOT i.admitted THEN jsonb_build_object(
                            'outcome', other.outcome, 'code', other.code, 'ticket_id', other.ticket_id)
                       WHEN used.is_known AND used.device_id IS DISTINCT FROM i.device_id THEN reused_key
                       WHEN used.ticket_id IS NOT NULL AND i.admitted THEN jsonb_build_object(
                            'outcome', 'activated', 'ticket_id', used.ticket_id)
                       WHEN used.ticket_id IS NOT NULL THEN jsonb_build_object(
                            'outcome', 'recorded', 'code', 'refused_by_device', 'ticket_id', used.ticket_id)
                   END AS decision
              FROM read_entries(p_at, p_entries) i
              LEFT JOIN LATERAL (SELECT j.content, j.outcome, j.code, j.ticket_id
                                   FROM journal_entry j
                                  WHERE j.organization_id = i.tenant_id
                                    AND j.device_id = i.device_id
                                    AND j.sequence = i.sequence
                                 OFFSET 0) same ON true
              LEFT JOIN LATERAL (SELECT j.device_id, j.fingerprint, j.admitted, j.outcome, j.code, j.ticket_id
                                   FROM journal_entry j
                                  WHERE j.organization_id = i.tenant_id
                                    AND j.idempotency_key = i.idempotency_key
                                  ORDER BY j.device_id = i.device_id, j.admitted DESC
                                  LIMIT 1) other ON true
              LEFT JOIN LATERAL (SELECT t.id AS ticket_id, s.is_known, s.device_id
                                   FROM ticket t
                                   LEFT JOIN undone_activation u ON u.organization_id = t.organization_id
                                                                AND u.ticket_id = t.id
                                                                AND u.activation_key = i.idempotency_key
                                   LEFT JOIN LATERAL (
                                        SELECT true AS is_known, y.device_id
                                          FROM device_of_scan(t.organization_id, coalesce(u.scan_at, t.activated_at),
                                                              coalesce(u.scan_id, t.activated_by)) y) s ON true
                                  WHERE t.organization_id = i.tenant_id
                                    AND t.card_id = i.card_id
                                    AND t.event_id = i.event_id
                                    AND (t.activation_key = i.idempotency_key OR u.ticket_id IS NOT NULL)
                                  LIMIT 1) used ON true) x
     WHERE x.decision IS NOT NULL;
END
$$;
