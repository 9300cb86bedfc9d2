-- Partitions of the histories, and generations of idempotency keys. `maintenance.py` calls these routines.

-- Make the earliest missing partition between now and `ahead` steps from now. Return its name, or null if none is
-- missing. Rows of its time in the default partition are moved into it.
CREATE OR REPLACE FUNCTION make_missing_partition(p_history text, p_at timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    step interval;
    ahead integer;
    starts timestamptz;
    piece text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));  -- one process at a time
    SELECT h.step, h.ahead INTO STRICT step, ahead FROM history h WHERE h.name = p_history;
    FOR n IN 0..ahead LOOP
        starts := date_bin(step, p_at, timestamptz '2001-01-01 00:00:00+00') + n * step;
        piece := p_history || to_char(starts AT TIME ZONE 'UTC', '_YYYYMMDD');
        CONTINUE WHEN to_regclass(piece) IS NOT NULL;
        IF n = 0 THEN
            -- Rows of this time are being written. One that waits for the default partition alone would then be
            -- refused there; one that waits for the whole table finds its partition.
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_history);
        END IF;
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_history || '_default');
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', piece, p_history);
        EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= $1 AND at < $2 RETURNING *)
                        INSERT INTO %I SELECT * FROM moved', p_history || '_default', piece)
          USING starts, starts + step;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                       p_history, piece, starts, starts + step);
        RETURN piece;
    END LOOP;
    RETURN NULL;
END
$$;

-- Drop the oldest partition whose rows are all past their retention. Return its name, or null.
CREATE OR REPLACE FUNCTION drop_expired_partition(p_history text, p_at timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    piece text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));  -- one process at a time
    SELECT child.relname INTO piece
      FROM pg_inherits i
      JOIN pg_class child ON child.oid = i.inhrelid
      JOIN history h ON h.name = p_history
     WHERE i.inhparent = p_history::regclass
       AND child.relname ~ '_[0-9]{8}$'
       AND to_date(right(child.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' + h.step <= p_at - h.keep
     ORDER BY child.relname
     LIMIT 1;
    IF piece IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', piece);
    END IF;
    RETURN piece;
END
$$;

-- Truncate the next generation. Nothing reads it any more.
CREATE OR REPLACE FUNCTION empty_next_generation() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    next_generation smallint;
BEGIN
    SELECT (g.current + 1) % 3 INTO next_generation FROM idempotency_generation g;
    EXECUTE format('TRUNCATE %I', 'idempotency_' || next_generation);
END
$$;

-- Make the next generation the current one, if that is still due; return whether it was. The lock waits for every
-- running scan, so that no idempotency key is in two generations.
CREATE OR REPLACE FUNCTION open_next_generation(p_at timestamptz, p_due timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE;
    UPDATE idempotency_generation SET current = (current + 1) % 3, opened_at = p_at WHERE opened_at <= p_due;
    RETURN FOUND;
END
$$;
