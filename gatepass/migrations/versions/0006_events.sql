-- Events: the clock of the venue, cover pictures, and lists of every status.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint

-- The IANA name of the clock on the wall at the venue. Times are kept in UTC; people say and read them by this clock.
ALTER TABLE event
    ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC' CHECK (length(time_zone) BETWEEN 1 AND 64);

CREATE INDEX event_by_start ON event (organization_id, starts_at, id);
CREATE INDEX event_by_status ON event (organization_id, status, starts_at, id);

-- A removed category takes no more tickets and is not shown, but the tickets that it once had still name it.
ALTER TABLE ticket_category
    ADD COLUMN removed_at timestamptz;

-- A picture that was uploaded. An event names it by its path in `cover_url`; a duplicate names the same one.
CREATE TABLE event_cover (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('png', 'jpg', 'webp')),
    width integer NOT NULL CHECK (width > 0),
    height integer NOT NULL CHECK (height > 0),
    content bytea NOT NULL CHECK (length(content) BETWEEN 1 AND 2097152),
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (organization_id, id)
);
-- A picture is compressed already.
ALTER TABLE event_cover ALTER content SET STORAGE EXTERNAL;
-- The URL of a picture has its id and not its organization, so this index does not begin with the organization.
CREATE INDEX event_cover_shown ON event_cover (id);
CREATE INDEX event_with_cover ON event (organization_id, cover_url) WHERE cover_url LIKE '/covers/%';
