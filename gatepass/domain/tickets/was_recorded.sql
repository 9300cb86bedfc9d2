-- Whether this scan has its row already: a batch whose outcome was unknown is run again, with the same time.
-- `activation.sql` asks it about replays alone, and not in a join, so that other scans touch no partition but their own.
CREATE OR REPLACE FUNCTION was_recorded(p_organization uuid, p_at timestamptz, p_request uuid)
RETURNS boolean LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM scan s WHERE s.organization_id = p_organization AND s.at = p_at AND s.id = p_request);
END
$$;
