-- One word for one idea: `request_log` has one row for each API call, `audit_log` says who changed what, and an
-- answer is kept under an `idempotency_key`.
--
-- Processes of version 0.1 do not know these names: stop them, migrate, start the new version.

-- Tables, their partitions and their indexes. `audit` goes first, so that its name is free of `audit_log`.
DO $$
DECLARE
    word record;
    one record;
BEGIN
    FOR word IN SELECT * FROM (VALUES ('audit', 'request_log'), ('change', 'audit_log')) w (old, new) LOOP
        FOR one IN
            SELECT c.oid::regclass AS name, c.relkind, word.new || substr(c.relname, length(word.old) + 1) AS renamed
              FROM pg_class c
             WHERE c.relnamespace = current_schema()::regnamespace
               AND c.relkind IN ('r', 'p', 'i', 'I')
               AND c.relname ~ ('^' || word.old || '(_|$)')
             ORDER BY c.relname
        LOOP
            EXECUTE format('ALTER %s %s RENAME TO %I',
                           CASE WHEN one.relkind IN ('r', 'p') THEN 'TABLE' ELSE 'INDEX' END, one.name, one.renamed);
        END LOOP;
    END LOOP;
END
$$;

UPDATE history SET name = 'request_log' WHERE name = 'audit';
UPDATE history SET name = 'audit_log' WHERE name = 'change';

-- squawk-ignore renaming-column
ALTER TABLE idempotency RENAME COLUMN retry_key TO idempotency_key;

-- PostgreSQL does not rename the arguments of a function that exists.
-- squawk-ignore ban-drop-function
DROP FUNCTION IF EXISTS activate_scans(
    timestamptz, jsonb, uuid[], uuid[], text[], uuid[], text[], timestamptz[], integer[], uuid[], uuid[], uuid[],
    text[], uuid[], boolean[], text[], text[], timestamptz[], jsonb[]
);
