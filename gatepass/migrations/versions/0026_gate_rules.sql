-- When the doors open, and when the event ended: scans from before its end are taken until 72 hours after it.
-- `offline`: whom a device without a network admits.
ALTER TABLE event
    ADD COLUMN doors_open_at timestamptz,
    ADD COLUMN ended_at timestamptz,
    ADD COLUMN offline text NOT NULL DEFAULT 'manifest',
    ADD CONSTRAINT event_offline_check CHECK (offline IN ('manifest', 'signature', 'stop')) NOT VALID;

-- When and where the tickets of a category open the gate. NULL: always, everywhere.
ALTER TABLE ticket_category
    ADD COLUMN valid_from timestamptz,
    ADD COLUMN valid_until timestamptz,
    ADD COLUMN gates text[],
    ADD CONSTRAINT ticket_category_window_check CHECK (valid_from < valid_until) NOT VALID;

-- A retry gets the details of the first answer too: when the doors open, say. Null for all but the rules above.
ALTER TABLE idempotency ADD COLUMN details jsonb;
