-- The link of a card's page. Whoever has it sees the card, so only a hash of its secret is looked up; the sealed copy lets
-- it be sent again. Links are made when somebody first asks for one. Version 0.2 deletes cards when an import is undone.
CREATE TABLE card_link (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
    sealed_secret bytea NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, card_id),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE
);

-- Whoever opens a link shows its secret before we know the organization, so these two indexes do not begin with it.
-- They are not unique: 256 random bits do not meet.
CREATE INDEX card_link_secret ON card_link (secret_hash);

-- Links that ended, so that each can say why. The newest of a card are kept.
CREATE TABLE ended_card_link (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    ended_at timestamptz NOT NULL,
    secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
    reason text NOT NULL CHECK (reason IN ('replaced', 'card_replaced', 'ended')),
    PRIMARY KEY (organization_id, card_id, ended_at, secret_hash),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX ended_card_link_secret ON ended_card_link (secret_hash);

-- What an organizer chose of the card page (domain/card_look). Without a row the page has its first look.
CREATE TABLE card_look (
    organization_id uuid PRIMARY KEY REFERENCES organization (id),
    shows_name boolean NOT NULL,
    colour text NOT NULL CHECK (colour ~ '^#[0-9a-f]{6}$'),
    line text CHECK (length(line) <= 140),
    logo_id uuid,
    logo_kind text CHECK (logo_kind IN ('png', 'jpg', 'webp')),
    logo bytea,
    changed_at timestamptz NOT NULL,
    CHECK (num_nulls(logo_id, logo_kind, logo) IN (0, 3))
);
