-- A live scan and its entry of the request log held much of the same: one row has both now. `status` is that of the
-- answer. A scan of an older version, of a sandbox or of a journal has none: its call has a row in `request_log`.
ALTER TABLE scan ADD COLUMN status smallint;
ALTER TABLE scan ADD COLUMN address inet;
ALTER TABLE scan ADD COLUMN duration_us integer;

-- The request log as it is read: one row for each API call with a known key. The condition stands outside, so that the
-- planner merges the indexes of both tables.
CREATE VIEW logged_call AS
    SELECT *
      FROM (SELECT organization_id, at, id, mode, key_id, method, path, status, code, address, duration_us, event_id,
                   card_id
              FROM request_log
             UNION ALL
            SELECT organization_id, at, id, mode, key_id, 'POST', '/scan', status, nullif(verdict, 'activated'), address,
                   duration_us, event_id, card_id
              FROM scan) call
     WHERE status IS NOT NULL;
