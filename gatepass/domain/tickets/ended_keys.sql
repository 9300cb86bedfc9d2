-- Which scans of a batch come with a key that has ended: a revoked or expired API key, a retired signing key, or the key
-- of a device that was moved to another event or gate, or retired. Callers cache both kinds of keys, so `activation.sql`
-- asks this once a batch, with its own settings. Such a scan gets no verdict and leaves no row. Mostly there are none, and
-- then nothing is looked up for each scan; only those of devices are.
CREATE OR REPLACE FUNCTION scans_with_ended_keys(
    p_at timestamptz,
    p_request uuid[],
    p_organization uuid[],
    p_key uuid[],
    p_event uuid[],
    p_gate text[],
    p_signing_key uuid[],
    p_given jsonb[]
)
RETURNS uuid[]  -- of p_request
LANGUAGE plpgsql
AS $$
DECLARE
    dead_keys uuid[];
    device_keys uuid[];
    retired_keys uuid[];
    moved_scans uuid[] := '{}';
BEGIN
    SELECT coalesce(array_agg(u.key_id) FILTER (WHERE k.is_alive IS NOT TRUE), '{}'),
           coalesce(array_agg(u.key_id) FILTER (WHERE k.device_id IS NOT NULL), '{}')
      INTO dead_keys, device_keys
      FROM (SELECT DISTINCT x.organization_id, x.key_id
              FROM unnest(p_organization, p_key) x (organization_id, key_id)) u
      LEFT JOIN LATERAL (SELECT a.device_id,
                                a.revoked_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > p_at) AS is_alive
                           FROM api_key a
                          WHERE a.organization_id = u.organization_id
                            AND a.id = u.key_id
                         OFFSET 0) k ON true;
    IF device_keys <> '{}' THEN
        SELECT coalesce(array_agg(u.request), '{}') INTO moved_scans
          FROM unnest(p_request, p_organization, p_key, p_event, p_gate, p_given)
               u (request, organization_id, key_id, event_id, gate, given)
         WHERE u.key_id = ANY (device_keys)
           AND (u.given ? 'admitted') IS NOT TRUE  -- a journal may be of any event that the device worked for
           AND NOT EXISTS (SELECT FROM api_key a
                            WHERE a.organization_id = u.organization_id
                              AND a.id = u.key_id
                              AND a.event_id = u.event_id
                              AND a.gate = u.gate
                              AND 'tickets:activate' = ANY (a.scopes)
                           OFFSET 0);
    END IF;
    SELECT coalesce(array_agg(u.key_id), '{}') INTO retired_keys
      FROM (SELECT DISTINCT coalesce((x.given ->> 'twin')::uuid, x.organization_id) AS tenant_id, x.key_id
              FROM unnest(p_organization, p_signing_key, p_given) x (organization_id, key_id, given)
             WHERE x.key_id IS NOT NULL) u
     WHERE NOT EXISTS (SELECT FROM signing_key s
                        WHERE s.organization_id = u.tenant_id
                          AND s.id = u.key_id
                          AND s.retired_at IS NULL);
    IF dead_keys = '{}' AND retired_keys = '{}' THEN
        RETURN moved_scans;
    END IF;
    RETURN moved_scans || (SELECT array_agg(u.request)
              FROM unnest(p_request, p_key, p_signing_key) u (request, key_id, signing_key)
             WHERE u.key_id = ANY (dead_keys) OR u.signing_key = ANY (retired_keys));
END
$$;
