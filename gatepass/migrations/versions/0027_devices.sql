-- A phone or a reader at a gate. As with API keys, the organization owns it, and the mode says whether it works on the
-- organization's own events or on those of its twin.
CREATE TABLE device (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    mode text NOT NULL CHECK (mode IN ('live', 'sandbox')),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    status text NOT NULL DEFAULT 'paired' CHECK (status IN ('paired', 'retired', 'revoked')),
    paired_at timestamptz NOT NULL,
    paired_by text NOT NULL,
    ended_at timestamptz,
    ended_by text,
    last_seen_at timestamptz,
    queued integer,
    clock_offset_ms integer,
    app text CHECK (length(app) <= 100),
    -- It was revoked and paired again then: nobody knows who held it before, and what its journal says of that time
    -- opens incidents only.
    distrusted_until timestamptz,
    PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX device_by_public_key ON device (organization_id, mode, public_key);
CREATE INDEX device_list ON device (organization_id, mode, paired_at, id);

-- Which event and gate a device worked for, and when. The one without an end is the present one.
CREATE TABLE device_assignment (
    organization_id uuid NOT NULL,
    device_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz,
    event_id uuid NOT NULL,
    gate text NOT NULL CHECK (length(gate) BETWEEN 1 AND 64),
    assigned_by text NOT NULL,
    PRIMARY KEY (organization_id, device_id, since),
    FOREIGN KEY (organization_id, device_id) REFERENCES device (organization_id, id)
);
CREATE INDEX device_assignment_of_event ON device_assignment (organization_id, event_id);

-- A code that a lead shows, for one device or for several at one gate. Its hash is enough: the code is on a screen.
CREATE TABLE pairing_code (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    code_hash bytea NOT NULL CHECK (length(code_hash) = 32),
    mode text NOT NULL CHECK (mode IN ('live', 'sandbox')),
    event_id uuid NOT NULL,
    gate text NOT NULL CHECK (length(gate) BETWEEN 1 AND 64),
    devices smallint NOT NULL CHECK (devices BETWEEN 1 AND 50),
    made_at timestamptz NOT NULL,
    made_by text NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_reason text,
    PRIMARY KEY (organization_id, id)
);
-- A device shows a code before we know the organization, so this index does not begin with it. It is not unique: 45
-- random bits of ten minutes do not meet.
CREATE INDEX pairing_code_hash ON pairing_code (code_hash);
CREATE INDEX pairing_code_expiry ON pairing_code (expires_at);

-- A device that asks to be paired. `request` is a name and no secret: what it gives needs the device's signature.
CREATE TABLE pairing_request (
    organization_id uuid NOT NULL,
    code_id uuid NOT NULL,
    request text NOT NULL,
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    app text CHECK (length(app) <= 100),
    words text[] NOT NULL,
    address inet,
    asked_at timestamptz NOT NULL,
    status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'confirmed', 'refused', 'ended')),
    decided_at timestamptz,
    decided_by text,
    device_id uuid,
    -- The device's time in the last signature that got a key. An older one gets none: a copy is worth nothing.
    fetched_at timestamptz,
    PRIMARY KEY (organization_id, code_id, request),
    FOREIGN KEY (organization_id, code_id) REFERENCES pairing_code (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX pairing_request_by_request ON pairing_request (request);
CREATE UNIQUE INDEX pairing_request_by_public_key ON pairing_request (organization_id, code_id, public_key);

-- The key of a device opens its event only, and its scans are stored with its gate.
ALTER TABLE api_key
    ADD COLUMN device_id uuid,
    ADD COLUMN event_id uuid,
    ADD COLUMN gate text,
    ADD CONSTRAINT api_key_device_check CHECK ((device_id IS NULL) = (event_id IS NULL) AND (device_id IS NULL) = (gate IS NULL)) NOT VALID;

-- Few keys are of devices, and none when this runs. The table is small, so that both indexes are built at once.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX api_key_of_device ON api_key (organization_id, device_id) WHERE device_id IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX api_key_of_event ON api_key (organization_id, event_id) WHERE device_id IS NOT NULL;
