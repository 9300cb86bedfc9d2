-- A pass that lies in a wallet. Its name is the hash of the link from which it was taken, so a new link makes a new pass. The
-- token with which a wallet asks for it is kept as a hash. `fingerprint` is that of what the wallets were last told of.
--
-- Version 0.2 deletes cards without knowing of these tables: their rows go with the card. The new tables are empty, so that
-- constraints are checked at once:
-- squawk-ignore-file adding-foreign-key-constraint, constraint-missing-not-valid, prefer-bigint-over-smallint
CREATE TABLE wallet_pass (
    organization_id uuid NOT NULL,
    link_hash bytea NOT NULL CHECK (length(link_hash) = 32),
    card_id uuid NOT NULL,
    token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
    fingerprint text NOT NULL CHECK (length(fingerprint) = 32),
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, link_hash),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE
);

-- A wallet names the pass before we know the organization. Not unique: the hashes of 256 random bits do not meet.
CREATE INDEX wallet_pass_link ON wallet_pass (link_hash);
CREATE INDEX wallet_pass_card ON wallet_pass (organization_id, card_id);

-- A phone that wants to hear of changes. `push_at` is when it is told next; NULL while it knows everything.
CREATE TABLE wallet_registration (
    organization_id uuid NOT NULL,
    link_hash bytea NOT NULL,
    device text NOT NULL CHECK (length(device) BETWEEN 1 AND 100),
    push_token text NOT NULL CHECK (length(push_token) BETWEEN 1 AND 200),
    registered_at timestamptz NOT NULL,
    push_at timestamptz,
    push_tries smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, link_hash, device),
    FOREIGN KEY (organization_id, link_hash) REFERENCES wallet_pass (organization_id, link_hash) ON DELETE CASCADE
);

-- A phone asks for all of its passes at once, and knows no organization.
CREATE INDEX wallet_registration_device ON wallet_registration (device, organization_id, link_hash);
CREATE INDEX wallet_registration_due ON wallet_registration (push_at) WHERE push_at IS NOT NULL;
