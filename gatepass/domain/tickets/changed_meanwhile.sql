-- `activation.sql` calls it in a place that no scan reaches while nothing changes under it.
-- Two statements saw different states: a card was resumed in between, say. Nothing is decided; the caller tries again.
CREATE OR REPLACE FUNCTION changed_meanwhile() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was judged changed meanwhile' USING ERRCODE = 'serialization_failure';
END
$$;
