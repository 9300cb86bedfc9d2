-- What the manifest of an event is made of: a salt, and a way to find what has changed.
--
-- `transaction` is the id of the outermost transaction. `xmin` is that of a savepoint, if there was one, and snapshots do
-- not list those. Older entries have none: whoever follows an event begins with all of it. Neither step rewrites the
-- table, and few entries are in an index. A scan writes no entry, so that no gate waits while they are made:
-- squawk-ignore-file require-concurrent-index-creation, adding-foreign-key-constraint, constraint-missing-not-valid
ALTER TABLE audit_log ADD COLUMN transaction xid8;
ALTER TABLE audit_log ALTER COLUMN transaction SET DEFAULT pg_current_xact_id();

CREATE INDEX audit_log_by_transaction ON audit_log (organization_id, transaction) WHERE transaction IS NOT NULL;

-- The cards that tickets were moved away from, by number: a gate is to refuse them. There are few.
CREATE INDEX audit_log_moved_from ON audit_log (organization_id, was)
    WHERE subject = 'ticket' AND action = 'moved to another card';

-- The salt of the hashes in an event's manifest. Another one is drawn if two cards have the same hash. Version 0.2 deletes
-- events without knowing of it: the row goes with the event.
CREATE TABLE event_manifest (
    organization_id uuid NOT NULL,
    event_id uuid NOT NULL,
    salt bytea NOT NULL CHECK (length(salt) = 32),
    drawn_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, event_id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event (organization_id, id) ON DELETE CASCADE
);
