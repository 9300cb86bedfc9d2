-- A live scan and its entry of the request log held much of the same: one row has both now. `status` is that of the
-- answer. A scan of an older version, of a sandbox or of a journal has none: its call has a row in `request_log`.
ALTER TABLE scan ADD COLUMN status smallint;
ALTER TABLE scan ADD COLUMN address inet;
ALTER TABLE scan ADD COLUMN duration_us integer;

-- The request log as it is read: one row for each API call with a known key. Where the outcome of a scan was unknown, its
-- call was answered with 503; if the scan turns out to be recorded, that is the row. The conditions stand outside, so that
-- the planner merges the indexes of both tables.
CREATE VIEW logged_call AS
    SELECT *
      FROM (SELECT organization_id, at, id, mode, key_id, method, path, status, code, address, duration_us, event_id,
                   card_id
              FROM request_log
             UNION ALL
            SELECT organization_id, at, id, mode, key_id, 'POST', '/scan', status, nullif(verdict, 'activated'), address,
                   duration_us, event_id, card_id
              FROM scan) call
     WHERE status IS NOT NULL
       AND NOT (status = 503 AND path = '/scan'
                AND EXISTS (SELECT FROM scan s
                             WHERE s.organization_id = call.organization_id
                               AND s.at BETWEEN call.at - interval '1 second' AND call.at + interval '1 minute'
                               AND s.id = call.id
                               AND s.status IS NOT NULL));
