-- Take an idempotency key until the transaction ends; return what is kept under it, if anything. `idempotency.py` calls it.
--
-- The order is that of `judge_scans`: reading the generation holds off a rotation, the advisory lock waits for a
-- concurrent call with the same key, and the last statement sees what that call has committed. A call waits for its
-- concurrent retry up to 2 seconds, which is less than the deadline of a call.
CREATE OR REPLACE FUNCTION take_idempotency_key(p_organization uuid, p_idempotency_key uuid)
RETURNS TABLE (fingerprint uuid, kept json)
LANGUAGE plpgsql
SET lock_timeout = '2s'
AS $$
#variable_conflict use_column
DECLARE
    this_generation smallint;
BEGIN
    SELECT g.current INTO this_generation FROM idempotency_generation g;
    PERFORM pg_advisory_xact_lock(hashtextextended(p_organization::text || p_idempotency_key::text, 0));
    RETURN QUERY
    SELECT i.fingerprint, i.kept
      FROM idempotency i
     WHERE i.organization_id = p_organization
       AND i.idempotency_key = p_idempotency_key
       AND i.generation IN (this_generation, (this_generation + 2) % 3);
END
$$;
