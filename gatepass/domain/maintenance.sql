-- Partitions of the histories, and generations of idempotency keys. `maintenance.py` calls these routines.

-- The partitions of a history without the default one, and the time of their rows.
CREATE OR REPLACE FUNCTION history_partitions(p_history text)
RETURNS TABLE (name text, starts timestamptz, ends timestamptz) LANGUAGE sql STABLE AS $$
    SELECT child.relname::text,
           substring(b.bound FROM 'FROM \(''([^'']*)''\)')::timestamptz,
           substring(b.bound FROM 'TO \(''([^'']*)''\)')::timestamptz
      FROM pg_inherits i
      JOIN pg_class child ON child.oid = i.inhrelid
     CROSS JOIN LATERAL (SELECT pg_get_expr(child.relpartbound, child.oid) AS bound) b
     WHERE i.inhparent = p_history::regclass
       AND b.bound <> 'DEFAULT'
$$;

-- The beginning of the earliest step between now and `ahead` steps from now that has no partition, or null.
CREATE OR REPLACE FUNCTION missing_step(p_history text, p_at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT s.starts
      FROM history h
     CROSS JOIN LATERAL generate_series(0, h.ahead) n
     CROSS JOIN LATERAL (SELECT date_bin(h.step, p_at, timestamptz '2001-01-01 00:00:00+00') + n * h.step AS starts) s
     WHERE h.name = p_history
       AND NOT EXISTS (SELECT FROM history_partitions(p_history) p WHERE p.starts <= s.starts AND s.starts < p.ends)
     ORDER BY s.starts
     LIMIT 1
$$;

-- Whether the default partition has more rows than can be moved while a gate waits.
CREATE OR REPLACE FUNCTION default_is_crowded(p_history text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted integer;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %I LIMIT 2001) found', p_history || '_default') INTO counted;
    RETURN counted > 2000;
END
$$;

-- Make the earliest missing partition between now and `ahead` steps from now. Return its name, or null if none is
-- missing. Rows of its time in the default partition are moved into it; if there are too many, null is returned, and the
-- default partition must be put in place first.
CREATE OR REPLACE FUNCTION make_missing_partition(p_history text, p_at timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    step interval;
    starts timestamptz;
    piece text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));  -- one process at a time
    starts := missing_step(p_history, p_at);
    IF starts IS NULL OR default_is_crowded(p_history) THEN
        RETURN NULL;
    END IF;
    SELECT h.step INTO STRICT step FROM history h WHERE h.name = p_history;
    piece := p_history || to_char(starts AT TIME ZONE 'UTC', '_YYYYMMDD');
    IF starts <= p_at THEN
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
END
$$;

-- A default partition that is crowded is not emptied: it becomes the partition of the time that its rows are of, and an
-- empty one takes its place. Nothing of that holds a lock for as long as it takes to read or to move its rows.
--
-- This is that time, if a partition is missing and the default one is crowded: the gap between partitions that now is in,
-- from a step ago or the first of its rows to the end of the next step. While that is checked, rows of other times have
-- no partition and are refused, and a maintenance that was killed may leave it so: hence a step on both sides. If there
-- is a partition for now, it is the gap of the last of its rows.
CREATE OR REPLACE FUNCTION place_of_default(p_history text, p_at timestamptz)
RETURNS TABLE (starts timestamptz, ends timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    origin constant timestamptz := '2001-01-01 00:00:00+00';
    step interval;
    here timestamptz;
    first_row timestamptz;
    last_row timestamptz;
BEGIN
    IF missing_step(p_history, p_at) IS NULL OR NOT default_is_crowded(p_history) THEN
        RETURN;
    END IF;
    SELECT h.step INTO STRICT step FROM history h WHERE h.name = p_history;
    here := date_bin(step, p_at, origin);
    EXECUTE format('SELECT min(at), max(at) FROM %I', p_history || '_default') INTO first_row, last_row;
    IF EXISTS (SELECT FROM history_partitions(p_history) p WHERE p.starts <= here AND here < p.ends) THEN
        here := date_bin(step, last_row, origin);
    END IF;
    starts := date_bin(step, greatest(least(first_row, here - step), here - 60 * step), origin);
    ends := here + 2 * step;
    SELECT greatest(place_of_default.starts, max(p.ends)) INTO starts FROM history_partitions(p_history) p WHERE p.ends <= here;
    SELECT least(place_of_default.ends, min(p.starts)) INTO ends FROM history_partitions(p_history) p WHERE p.starts > here;
    RETURN NEXT;
END
$$;

-- Let the default partition take rows of this time alone. Those that it has are not looked at. Without a time: any.
CREATE OR REPLACE FUNCTION bound_default(p_history text, p_starts timestamptz, p_ends timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));
    IF EXISTS (SELECT FROM pg_constraint c
                WHERE c.conrelid = (p_history || '_default')::regclass
                  AND c.conname = 'place') THEN
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT place', p_history || '_default');
    END IF;
    IF p_starts IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT place CHECK (at >= %L AND at < %L) NOT VALID',
                       p_history || '_default', p_starts, p_ends);
    END IF;
END
$$;

-- Take some rows of other times out of the default partition until it is in place; return how many.
CREATE OR REPLACE FUNCTION set_rows_aside(p_history text, p_starts timestamptz, p_ends timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    crowded text := p_history || '_default';
    is_other boolean;
    moved integer;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE at < $1 OR at >= $2)', crowded)
       INTO is_other USING p_starts, p_ends;
    IF NOT is_other THEN
        RETURN 0;
    END IF;
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I (LIKE %I)', p_history || '_aside', p_history);
    EXECUTE format('WITH moved AS (DELETE FROM %I
                                    WHERE ctid = ANY (ARRAY(SELECT ctid FROM %I WHERE at < $1 OR at >= $2 LIMIT 5000))
                                   RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', crowded, crowded, p_history || '_aside')
      USING p_starts, p_ends;
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN moved;
END
$$;

-- Read whether all rows of the default partition are of its time. They can be written and read meanwhile.
CREATE OR REPLACE FUNCTION check_default(p_history text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT place', p_history || '_default');
END
$$;

-- Make the default partition, which was checked, the partition of this time, and an empty one the default; its name.
CREATE OR REPLACE FUNCTION put_default_in_place(p_history text, p_starts timestamptz, p_ends timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    crowded text := p_history || '_default';
    piece text := p_history || to_char(p_starts AT TIME ZONE 'UTC', '_YYYYMMDD');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_history);
    IF NOT EXISTS (SELECT FROM pg_constraint c
                    WHERE c.conrelid = crowded::regclass
                      AND c.conname = 'place'
                      AND c.convalidated) THEN
        RETURN NULL;
    END IF;
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', p_history, crowded);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', crowded, piece);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', crowded, p_history);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', p_history, crowded);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   p_history, piece, p_starts, p_ends);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT place', piece);
    RETURN piece;
END
$$;

-- Bring back some of the rows that were set aside; return how many.
CREATE OR REPLACE FUNCTION bring_rows_back(p_history text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    aside text := p_history || '_aside';
    moved integer;
BEGIN
    IF to_regclass(aside) IS NULL THEN
        RETURN 0;
    END IF;
    EXECUTE format('WITH moved AS (DELETE FROM %I
                                    WHERE ctid = ANY (ARRAY(SELECT ctid FROM %I LIMIT 5000))
                                   RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', aside, aside, p_history);
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved = 0 THEN
        EXECUTE format('DROP TABLE %I', aside);
    END IF;
    RETURN moved;
END
$$;

-- Drop the oldest partition whose rows are all past their retention, at most one a day: if the clock of PostgreSQL
-- itself is wrong, there is time to see it. Return its name, or null.
CREATE OR REPLACE FUNCTION drop_expired_partition(p_history text, p_at timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    piece text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('history'), hashtext(p_history));  -- one process at a time
    SELECT p.name INTO piece
      FROM history h
     CROSS JOIN LATERAL history_partitions(h.name) p
     WHERE h.name = p_history
       AND p.ends <= p_at - h.keep
       -- A time to come was written by a clock that was ahead.
       AND (h.dropped_at IS NULL OR h.dropped_at <= p_at - interval '1 day' OR h.dropped_at > p_at)
     ORDER BY p.starts
     LIMIT 1;
    IF piece IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', piece);
        UPDATE history SET dropped_at = p_at WHERE name = p_history;
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
