-- What processes of version 0.2 call, while others run later versions beside them. They know neither the refusals that
-- came later nor their statuses, so they get the nearest that they know. The rows of the scan tell the true one.
CREATE OR REPLACE FUNCTION activate_scans(
    p_at timestamptz, p_statuses jsonb,
    p_request uuid[], p_organization uuid[], p_mode text[], p_key uuid[],
    p_address text[], p_received_at timestamptz[], p_elapsed_us integer[],
    p_idempotency_key uuid[], p_fingerprint uuid[],
    p_event uuid[], p_card_number text[], p_signing_key uuid[], p_expired boolean[],
    p_gate text[], p_scanner_id text[], p_occurred_at timestamptz[], p_given jsonb[]
)
RETURNS TABLE (
    request_id uuid, verdict text, replayed boolean, ticket_id uuid, tier text, category_name text,
    first_at timestamptz, first_gate text, first_scanner_id text
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    -- As `event_not_active` has in both modes.
    later CONSTANT jsonb := '{"static_code_refused": 422, "doors_closed": 422, "outside_window": 422, "wrong_gate": 422}';
BEGIN
    RETURN QUERY
    SELECT j.request_id, CASE WHEN later ? j.verdict THEN 'event_not_active' ELSE j.verdict END, j.replayed, j.ticket_id,
           j.tier, j.category_name, j.first_at, j.first_gate, j.first_scanner_id
      FROM judge_scans(
               p_at,
               (SELECT jsonb_object_agg(mode.key, later || mode.value) FROM jsonb_each(p_statuses) mode),
               p_request, p_organization, p_mode, p_key, p_address, p_received_at, p_elapsed_us, p_idempotency_key,
               p_fingerprint, p_event, p_card_number, p_signing_key, p_expired, p_gate, p_scanner_id, p_occurred_at,
               p_given) j;
END
$$;
