-- Gatepass: the first schema.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint
--
-- organization_id leads every primary, unique and foreign key of a tenant table, so that an
-- organization can move to another cell, and so that no key can reach across two of them.

CREATE TABLE organization (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    card_prefix text NOT NULL DEFAULT 'SVC' CHECK (card_prefix ~ '^[A-Z]{2,6}$'),
    demo boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL
);

CREATE TABLE api_key (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    hash bytea NOT NULL CHECK (length(hash) = 32),
    mode text NOT NULL CHECK (mode IN ('live', 'sandbox')),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    last_four text NOT NULL,
    scopes text[] NOT NULL,
    allowed_networks cidr[],
    rate_per_second integer CHECK (rate_per_second > 0),
    burst integer CHECK (burst > 0),
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    revoked_by text,
    last_used_at timestamptz,
    last_used_from inet,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 80);

-- A caller shows a key before we know the organization, so this one index does not begin with it.
-- It is not unique: 179 random bits do not meet.
CREATE INDEX api_key_hash ON api_key (hash);

-- Card tokens are signed by one key of the organization and verified by any that is not retired.
CREATE TABLE signing_key (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    sealed_private_key bytea NOT NULL,
    created_at timestamptz NOT NULL,
    retired_at timestamptz,
    PRIMARY KEY (organization_id, id)
);

CREATE TABLE event (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    title text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    description text CHECK (length(description) <= 10000),
    venue text CHECK (length(venue) <= 200),
    city text CHECK (length(city) <= 200),
    country text CHECK (country ~ '^[A-Z]{2}$'),
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    cover_url text CHECK (length(cover_url) <= 2000),
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'cancelled', 'ended')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CHECK (starts_at < ends_at)
);

CREATE INDEX event_published ON event (organization_id, starts_at, id) WHERE status = 'published';
CREATE INDEX event_cancelled ON event (organization_id, id) WHERE status = 'cancelled';
CREATE INDEX event_to_end ON event (ends_at) WHERE status = 'published';

CREATE TABLE ticket_category (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    tier text NOT NULL DEFAULT 'standard' CHECK (tier ~ '^[a-z][a-z0-9_-]{0,31}$'),
    price_minor bigint NOT NULL CHECK (price_minor BETWEEN 0 AND 1000000000000),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    quantity_total integer NOT NULL CHECK (quantity_total >= 0),
    quantity_sold integer NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, event_id, id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event (organization_id, id),
    CHECK (quantity_sold BETWEEN 0 AND quantity_total)
) WITH (fillfactor = 80);

CREATE TABLE card (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    number text NOT NULL CHECK (number ~ '^[A-Z]{2,6} [0-9]{4} [0-9]{4} [0-9]{4}$'),
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'revoked')),
    issued_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, number)
) WITH (fillfactor = 90);

-- All that we know about a person. Erasing a holder deletes this row and touches no history.
CREATE TABLE card_holder (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    email text CHECK (length(email) <= 320),
    PRIMARY KEY (organization_id, card_id),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id)
);

-- A ticket has no state column. issued: neither time below is set; activated: the first is;
-- cancelled: the second is. An activation changes no indexed column, so that it stays a HOT update.
CREATE TABLE ticket (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    category_id uuid NOT NULL,
    card_id uuid NOT NULL,
    issued_at timestamptz NOT NULL,
    activated_at timestamptz,
    activated_by uuid,
    activated_gate text,
    activated_scanner_id text,
    cancelled_at timestamptz,
    cancel_reason text,
    PRIMARY KEY (organization_id, id),
    -- The category belongs to the event, so this is a reference to the event too.
    FOREIGN KEY (organization_id, event_id, category_id)
        REFERENCES ticket_category (organization_id, event_id, id),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX ticket_in_use ON ticket (organization_id, event_id, card_id) WHERE cancelled_at IS NULL;
CREATE INDEX ticket_cancelled ON ticket (organization_id, event_id, card_id) WHERE cancelled_at IS NOT NULL;
CREATE INDEX ticket_of_card ON ticket (organization_id, card_id, event_id);

-- The answers under an Idempotency-Key. Rows are unique over their whole life, so they are not
-- partitioned by time but by generation: new ones go to the current one, the one before is still
-- looked at, the third is empty. A rotation, at most once a day, truncates and moves on, so that
-- clean-up costs the same for a row and for a hundred million, and leaves nothing to vacuum.
CREATE TABLE idempotency (
    organization_id uuid NOT NULL,
    retry_key uuid NOT NULL,
    generation smallint NOT NULL,
    fingerprint uuid NOT NULL,
    at timestamptz NOT NULL,
    verdict text NOT NULL,
    ticket_id uuid,
    tier text,
    category_name text,
    first_at timestamptz,
    first_gate text,
    first_scanner_id text,
    PRIMARY KEY (organization_id, retry_key, generation)
) PARTITION BY LIST (generation);

CREATE TABLE idempotency_0 PARTITION OF idempotency FOR VALUES IN (0);
CREATE TABLE idempotency_1 PARTITION OF idempotency FOR VALUES IN (1);
CREATE TABLE idempotency_2 PARTITION OF idempotency FOR VALUES IN (2);

-- One row. A scan reads it first and so holds a shared lock on this table until it commits; the
-- rotation takes the table for itself and therefore meets no scan half-way.
CREATE TABLE idempotency_generation (
    current smallint NOT NULL CHECK (current BETWEEN 0 AND 2),
    opened_at timestamptz NOT NULL
);
INSERT INTO idempotency_generation (current, opened_at) VALUES (0, now());

-- History. Partitioned by time; the default partition takes what finds no other, so that an insert
-- never fails for want of one. No foreign keys: they would lock the event's row at every scan.
CREATE TABLE scan (
    organization_id uuid NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    mode text NOT NULL,
    key_id uuid NOT NULL,
    event_id uuid NOT NULL,
    card_number text NOT NULL,
    card_id uuid,
    ticket_id uuid,
    verdict text NOT NULL,
    gate text,
    scanner_id text,
    occurred_at timestamptz,
    PRIMARY KEY (organization_id, at, id)
) PARTITION BY RANGE (at);
CREATE INDEX scan_of_event ON scan (organization_id, event_id, at);
CREATE TABLE scan_default PARTITION OF scan DEFAULT;

-- One row for every call made with a known key. `id` is the request id without its prefix.
CREATE TABLE audit (
    organization_id uuid NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    mode text NOT NULL,
    key_id uuid NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status smallint NOT NULL,
    code text,
    address inet,
    duration_us integer NOT NULL,
    event_id uuid,
    card_id uuid,
    PRIMARY KEY (organization_id, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_default PARTITION OF audit DEFAULT;

-- One row for each change: actor, subject, time and reason.
CREATE TABLE change (
    organization_id uuid NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    actor text NOT NULL,
    subject text NOT NULL,
    subject_id uuid NOT NULL,
    action text NOT NULL,
    was text,
    becomes text,
    reason text,
    PRIMARY KEY (organization_id, at, id)
) PARTITION BY RANGE (at);
CREATE INDEX change_of_subject ON change (organization_id, subject_id, at);
CREATE TABLE change_default PARTITION OF change DEFAULT;

-- Which history is cut into what pieces, and how long it is kept.
CREATE TABLE history (
    name text PRIMARY KEY,
    step interval NOT NULL,
    ahead integer NOT NULL CHECK (ahead >= 1),
    keep interval NOT NULL
);
INSERT INTO history (name, step, ahead, keep) VALUES
    ('scan', '7 days', 8, '400 days'),
    ('audit', '7 days', 8, '400 days'),
    ('change', '28 days', 4, '2555 days');
