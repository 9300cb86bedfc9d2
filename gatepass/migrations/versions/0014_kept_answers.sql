-- The answers to calls other than scans are kept in the same generations, under keys of the same kind.
--
-- `kept` holds ids and statuses, never a token, a link or a secret: a replay makes its answer again. It is null for a
-- scan, and `json`, because `jsonb` would change the order of the fields. Processes of version 0.2 meet such a key with
-- another fingerprint, and refuse to reuse it.
ALTER TABLE idempotency ADD COLUMN kept json;

-- The version of an event and of a category: the ETag of the API, and what a form of the studio was filled from. A trigger
-- keeps it, because processes of version 0.2 change both and do not know it. It fires for what organizers write; neither
-- a sale nor a scan does that. `now()` is evaluated once here, so no row is rewritten.
ALTER TABLE event ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE ticket_category ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at + interval '1 microsecond');
    RETURN NEW;
END
$$;

CREATE TRIGGER event_updated BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER ticket_category_updated
    BEFORE UPDATE OF name, tier, price_minor, currency, quantity_total, removed_at ON ticket_category
    FOR EACH ROW EXECUTE FUNCTION set_updated_at();
