-- An IANA name. Times about an event are in the event's own zone.
ALTER TABLE organization ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
