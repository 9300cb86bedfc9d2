-- Open incidents: a row and a `scan.conflict` for each. `p_incidents` is a list of objects with the names of the columns.
-- The journal, the scan's statement and `letting_in.py` call it, in the transaction of what happened.
CREATE OR REPLACE FUNCTION open_incidents(p_at timestamptz, p_incidents jsonb)
RETURNS void LANGUAGE plpgsql
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    written CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
BEGIN
    INSERT INTO incident (organization_id, id, event_id, kind, ticket_id, card_id, card_number, gate, device_id, sequence,
                          scanner_id, occurred_at, corrected_at, received_at, first_gate, first_device_id,
                          first_scanner_id, first_occurred_at, first_received_at, reason, opened_by)
    SELECT u.organization_id, u.id, u.event_id, u.kind, u.ticket_id, u.card_id, u.card_number, u.gate, u.device_id,
           u.sequence, u.scanner_id, u.occurred_at, u.corrected_at, p_at, u.first_gate, u.first_device_id,
           u.first_scanner_id, u.first_occurred_at, u.first_received_at, u.reason, u.opened_by
      FROM jsonb_to_recordset(p_incidents) u (
               organization_id uuid, id uuid, event_id uuid, kind text, ticket_id uuid, card_id uuid, card_number text,
               gate text, device_id uuid, sequence bigint, scanner_id text, occurred_at timestamptz,
               corrected_at timestamptz, first_gate text, first_device_id uuid, first_scanner_id text,
               first_occurred_at timestamptz, first_received_at timestamptz, reason text, opened_by text);

    PERFORM tell_subscribers(p_at, array_agg(m.owner_id), array_agg(m.mode), array_agg('scan.conflict'::text),
                             array_agg(m.id), array_agg(m.ordering_key), array_agg(m.body), NULL)
       FROM (SELECT h.owner_id, h.mode, i.id, coalesce(i.ticket_id, i.id) AS ordering_key,
                    convert_to('{"id":"evt_' || replace(i.id::text, '-', '') || '","type":"scan.conflict","organization_id":"'
                               || h.owner_id || '","created_at":"' || to_char(p_at AT TIME ZONE 'UTC', written)
                               || '","data":' || json_build_object(
                        'id', i.id, 'event_id', i.event_id, 'kind', i.kind, 'ticket_id', i.ticket_id,
                        'card_number', i.card_number, 'gate', i.gate, 'device_id', i.device_id,
                        'occurred_at', to_char(i.occurred_at AT TIME ZONE 'UTC', written),
                        'corrected_at', to_char(i.corrected_at AT TIME ZONE 'UTC', written),
                        'received_at', to_char(i.received_at AT TIME ZONE 'UTC', written),
                        'first', CASE WHEN i.first_received_at IS NOT NULL THEN json_build_object(
                            'gate', i.first_gate, 'device_id', i.first_device_id, 'scanner_id', i.first_scanner_id,
                            'occurred_at', to_char(i.first_occurred_at AT TIME ZONE 'UTC', written),
                            'received_at', to_char(i.first_received_at AT TIME ZONE 'UTC', written)) END,
                        'reason', i.reason, 'closed_at', NULL, 'closed_by', NULL, 'note', NULL)::text
                               || '}', 'UTF8') AS body
               FROM (SELECT DISTINCT x.organization_id
                       FROM jsonb_to_recordset(p_incidents) x (organization_id uuid)) u
              CROSS JOIN LATERAL (SELECT coalesce(o.twin_of, o.id) AS owner_id,  -- messages of a twin are its owner's
                                         CASE WHEN o.twin_of IS NULL THEN 'live' ELSE 'sandbox' END AS mode
                                    FROM organization o
                                   WHERE o.id = u.organization_id
                                  OFFSET 0) h
               JOIN jsonb_to_recordset(p_incidents) y (organization_id uuid, id uuid) ON y.organization_id = u.organization_id
               JOIN incident i ON i.organization_id = u.organization_id AND i.id = y.id
              WHERE 'scan.conflict' = ANY (heard_types(h.owner_id, h.mode, p_at))
              ORDER BY i.id) m
     HAVING count(*) > 0;
END
$$;

-- Which device made a scan, and when by its clock. A scan by a person has no device.
CREATE OR REPLACE FUNCTION device_of_scan(p_organization uuid, p_at timestamptz, p_scan uuid)
RETURNS TABLE (device_id uuid, occurred_at timestamptz)
LANGUAGE plpgsql STABLE
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT k.device_id, s.occurred_at
      FROM scan s
     CROSS JOIN LATERAL (SELECT coalesce(o.twin_of, o.id) AS organization_id
                           FROM organization o
                          WHERE o.id = s.organization_id
                         OFFSET 0) owner
      LEFT JOIN api_key k ON k.organization_id = owner.organization_id AND k.id = s.key_id
     WHERE s.organization_id = p_organization
       AND s.at = p_at
       AND s.id = p_scan;
END
$$;

-- The admission of a ticket that was there before `p_not`: by the scan that used it, by an entry of a journal, or by a
-- person. Clocks of devices decide nothing: the first is the one that came to us first. An entry of the same scan
-- as `p_not` is no other admission.
CREATE OR REPLACE FUNCTION first_admission(p_organization uuid, p_ticket uuid, p_not uuid)
RETURNS TABLE (gate text, device_id uuid, scanner_id text, occurred_at timestamptz, received_at timestamptz)
LANGUAGE plpgsql STABLE
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT x.gate, x.device_id, x.scanner_id, x.occurred_at, x.received_at
      FROM (SELECT t.activated_gate AS gate, s.device_id, t.activated_scanner_id AS scanner_id, s.occurred_at,
                   t.activated_at AS received_at, t.activated_by AS id
              FROM ticket t
              LEFT JOIN LATERAL device_of_scan(t.organization_id, t.activated_at, t.activated_by) s ON true
             WHERE t.organization_id = p_organization
               AND t.id = p_ticket
               AND t.activated_at IS NOT NULL
               AND t.activated_by IS DISTINCT FROM p_not
             UNION ALL
            (SELECT j.gate, j.device_id, j.scanner_id, j.occurred_at, j.received_at, j.id
               FROM journal_entry j
              WHERE j.organization_id = p_organization
                AND j.ticket_id = p_ticket
                AND j.admitted
                AND j.id <> p_not
                AND NOT EXISTS (SELECT FROM ticket t
                                 WHERE t.organization_id = p_organization
                                   AND t.id = p_ticket
                                   AND t.activated_by = p_not
                                   AND t.activation_key = j.idempotency_key)
              ORDER BY j.received_at, j.id
              LIMIT 1)
             UNION ALL
            SELECT i.gate, i.device_id, i.scanner_id, i.occurred_at, i.received_at, i.id
              FROM incident i
             WHERE i.organization_id = p_organization
               AND i.ticket_id = p_ticket
               AND i.kind = 'override'
               AND i.device_id IS NULL
               AND i.id <> p_not) x
     ORDER BY x.received_at, x.id
     LIMIT 1;
END
$$;

-- Scans that used a ticket with which somebody had been let in before. The scan's statement calls it, when there are any.
CREATE OR REPLACE FUNCTION open_second_admissions(
    p_at timestamptz, p_organization uuid[], p_ticket uuid[], p_key uuid[], p_occurred_at timestamptz[]
)
RETURNS void LANGUAGE plpgsql
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
BEGIN
    PERFORM open_incidents(p_at, jsonb_agg(jsonb_build_object(
                'organization_id', t.organization_id, 'id', md5(t.activated_by::text || 'duplicate')::uuid,
                'event_id', t.event_id, 'kind', 'duplicate', 'ticket_id', t.id, 'card_id', t.card_id,
                'card_number', c.number, 'gate', t.activated_gate, 'device_id', k.device_id,
                'scanner_id', t.activated_scanner_id, 'occurred_at', u.occurred_at, 'corrected_at', u.occurred_at,
                'first_gate', f.gate, 'first_device_id', f.device_id, 'first_scanner_id', f.scanner_id,
                'first_occurred_at', f.occurred_at, 'first_received_at', f.received_at)))
       FROM unnest(p_organization, p_ticket, p_key, p_occurred_at) u (organization_id, ticket_id, key_id, occurred_at)
      CROSS JOIN LATERAL (SELECT coalesce(o.twin_of, o.id) AS organization_id
                            FROM organization o
                           WHERE o.id = u.organization_id
                          OFFSET 0) owner
       LEFT JOIN api_key k ON k.organization_id = owner.organization_id AND k.id = u.key_id
       JOIN ticket t ON t.organization_id = u.organization_id AND t.id = u.ticket_id
       JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      CROSS JOIN LATERAL first_admission(t.organization_id, t.id, t.activated_by) f
     HAVING count(*) > 0;
END
$$;
