-- Who may enter the studio of an organization, and what a person is told about their own account.
--
-- Nobody uses the new table yet, so:
-- squawk-ignore-file require-concurrent-index-creation, adding-foreign-key-constraint, constraint-missing-not-valid

-- `studio_networks` is null if the studio can be used from every address.
ALTER TABLE organization
    ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false,
    ADD COLUMN studio_networks cidr[];

-- Whether more than a password or a link was shown in this session. Processes of version 0.2 do not know it: a session
-- that they open counts as one without.
ALTER TABLE studio_session ADD COLUMN second_factor boolean NOT NULL DEFAULT false;

-- What a person should know about their account: new credentials, and sign-ins from elsewhere.
CREATE TABLE notice (
    person_id uuid NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL CHECK (length(kind) <= 50),
    detail text CHECK (length(detail) <= 300),
    address inet,
    seen_at timestamptz,
    PRIMARY KEY (person_id, id)
);
CREATE INDEX notice_unseen ON notice (person_id) WHERE seen_at IS NULL;
CREATE INDEX notice_old ON notice (at);
