-- The studio's people: who they are, where they work, and the sessions that they have open.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint
--
-- A person may work for several organizations, so a person belongs to none of them. What leads from a person to
-- an organization is a member's row.

CREATE TABLE person (
    id uuid PRIMARY KEY,
    email text NOT NULL CHECK (length(email) BETWEEN 3 AND 320),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL
);
-- People type their address in any case; it is one person.
CREATE UNIQUE INDEX person_email ON person (lower(email));

CREATE TABLE member (
    organization_id uuid NOT NULL REFERENCES organization (id),
    person_id uuid NOT NULL REFERENCES person (id),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'gate_lead', 'viewer')),
    joined_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, person_id)
);
CREATE INDEX member_of_person ON member (person_id);

-- A cookie names the session; we keep its hash. `chosen_organization_id` is where the person is at work now.
CREATE TABLE studio_session (
    id uuid PRIMARY KEY,
    token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
    person_id uuid NOT NULL REFERENCES person (id),
    chosen_organization_id uuid REFERENCES organization (id) ON DELETE SET NULL,
    began_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    ended_at timestamptz,
    address inet,
    browser text CHECK (length(browser) <= 300)
);
CREATE UNIQUE INDEX studio_session_token ON studio_session (token_hash);
CREATE INDEX studio_session_of_person ON studio_session (person_id, began_at);
CREATE INDEX studio_session_expired ON studio_session (expires_at);

-- A link that signs a person in, once: `gatepass dev` opens one, and an operator can make one.
CREATE TABLE sign_in_link (
    token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
    person_id uuid NOT NULL REFERENCES person (id),
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
CREATE INDEX sign_in_link_expired ON sign_in_link (expires_at);

-- From where a change was made. Those of workers and operators have no address.
ALTER TABLE change ADD COLUMN address inet;
