-- An IANA name. Times about an event are in the event's own zone.
ALTER TABLE organization ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';

-- The checklists of the studio that a member does not want to see any more.
ALTER TABLE member ADD COLUMN dismissed text[] NOT NULL DEFAULT '{}';
