-- Credentials, challenges, failed tries and invitations.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint
--
-- Credentials are a person's own, whatever organizations they work for.

CREATE TABLE password (
    person_id uuid PRIMARY KEY REFERENCES person (id),
    hash text NOT NULL CHECK (length(hash) <= 500),
    set_at timestamptz NOT NULL
);

-- `confirmed_at` is when the first code was typed; until then nothing asks for one. A code belongs to a step of time,
-- and a step is taken once: `last_step` is the last one that was.
CREATE TABLE one_time_code (
    person_id uuid PRIMARY KEY REFERENCES person (id),
    id uuid NOT NULL,
    sealed_seed bytea NOT NULL,
    last_step bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    confirmed_at timestamptz
);

CREATE TABLE recovery_code (
    person_id uuid NOT NULL REFERENCES person (id),
    hash bytea NOT NULL CHECK (length(hash) = 32),
    made_at timestamptz NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (person_id, hash)
);

-- `suspect_at` is when something signed with an older count than we had seen: there may be two of this key.
CREATE TABLE passkey (
    person_id uuid NOT NULL REFERENCES person (id),
    id uuid NOT NULL,
    credential_id bytea NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
    public_key bytea NOT NULL CHECK (length(public_key) <= 2000),
    sign_count bigint NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    backed_up boolean NOT NULL,
    created_at timestamptz NOT NULL,
    used_at timestamptz,
    suspect_at timestamptz,
    PRIMARY KEY (person_id, id)
);
-- A sign-in shows a credential before we know the person.
CREATE UNIQUE INDEX passkey_credential ON passkey (credential_id);

-- A question that is open: what we asked for and of whom, if we knew. Its answer deletes it. Somebody who signs up by
-- an invitation is asked before they are a person, so this refers to none.
CREATE TABLE challenge (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    purpose text NOT NULL CHECK (purpose IN ('sign_in', 'confirm', 'add_passkey', 'second_factor')),
    person_id uuid,
    expires_at timestamptz NOT NULL
);
CREATE INDEX challenge_expired ON challenge (expires_at);

-- Failed tries, and when the next one is allowed. `subject` is a hash of the e-mail address or of the client, so that the
-- addresses of strangers are not kept.
CREATE TABLE failed_try (
    subject bytea PRIMARY KEY CHECK (length(subject) = 32),
    failures integer NOT NULL,
    last_at timestamptz NOT NULL,
    waits_until timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX failed_try_forgotten ON failed_try (last_at);

CREATE TABLE invitation (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    email text NOT NULL CHECK (length(email) BETWEEN 3 AND 320),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'gate_lead', 'viewer')),
    token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
    invited_by text NOT NULL,
    invited_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    accepted_by uuid REFERENCES person (id),
    revoked_at timestamptz,
    PRIMARY KEY (organization_id, id)
);
-- A link shows its token before we know the organization. Not unique: 256 random bits do not repeat.
CREATE INDEX invitation_token ON invitation (token_hash);
CREATE INDEX invitation_open ON invitation (organization_id, invited_at, id)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
-- The team's list, in the order of joining.
CREATE INDEX member_joined ON member (organization_id, joined_at, person_id);
