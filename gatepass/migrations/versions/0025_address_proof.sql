-- Links that went to an address by mail. They stand apart from sign_in_link: version 0.2 would take one of these for a
-- link of the operator, which asks for no code. One without a person went nowhere: nobody has the address that was typed.
CREATE TABLE mailed_link (
    token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
    purpose text NOT NULL CHECK (purpose IN ('sign_in', 'address')),
    person_id uuid REFERENCES person (id) ON DELETE CASCADE,
    -- The address that it proves.
    email text CHECK (length(email) BETWEEN 3 AND 320),
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CHECK ((purpose = 'address') = (email IS NOT NULL)),
    CHECK (purpose = 'sign_in' OR person_id IS NOT NULL)
);
CREATE INDEX mailed_link_person ON mailed_link (person_id);
CREATE INDEX mailed_link_old ON mailed_link (expires_at);

-- How many letters an address got, and a network asked for, since a window began. The subject is a hash.
CREATE TABLE mail_allowance (
    subject bytea PRIMARY KEY CHECK (length(subject) = 32),
    began_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    letters integer NOT NULL
);
CREATE INDEX mail_allowance_old ON mail_allowance (ends_at);

-- When an account that nobody has proven was last sent a letter about that.
ALTER TABLE person ADD COLUMN proof_mailed_at timestamptz;

-- When the link went to the invited address, and to nobody else; null if the inviting person was shown it.
ALTER TABLE invitation ADD COLUMN mailed_at timestamptz;

-- A notice that a letter will tell of. Version 0.2 writes none.
ALTER TABLE notice ADD COLUMN letter_due boolean NOT NULL DEFAULT false;
-- A few rows for each person of staff, kept for a while: it is built in milliseconds.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX notice_letter_due ON notice (at) WHERE letter_due;

-- The failure that a letter has told of: its `failing_since`.
ALTER TABLE webhook_endpoint ADD COLUMN told_failing_since timestamptz;

-- The end of this key that a letter has told of, and how many days ahead: 14, then 1. Another end is told of anew.
ALTER TABLE api_key ADD COLUMN told_expires_at timestamptz, ADD COLUMN told_days smallint;

-- Letters to everybody with a ticket of an event that was changed or cancelled, because somebody chose so. The worker
-- writes them in batches; `reached` is the last card that was looked at.
CREATE TABLE announcement (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('event_changed', 'event_cancelled')),
    state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'written', 'stopped')),
    reached uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    holders integer NOT NULL CHECK (holders >= 0),
    written integer NOT NULL DEFAULT 0,
    begun_at timestamptz NOT NULL,
    begun_by text NOT NULL CHECK (length(begun_by) <= 100),
    ended_at timestamptz,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event (organization_id, id)
);
CREATE INDEX announcement_of_event ON announcement (organization_id, event_id, begun_at);
CREATE INDEX announcement_under_way ON announcement (begun_at) WHERE state = 'writing';
-- Two at once would write to the same people.
CREATE UNIQUE INDEX announcement_one_at_a_time ON announcement (organization_id, event_id) WHERE state = 'writing';
