-- Phones that show their own codes (SVC2). A card has one at a time, and keeps a row for each that it had.
--
-- `phone` is the enrolment number modulo 16 of the phone that is enrolled, and null if none is. A scan reads the card's row
-- anyway, and compares it with the number in the code. It has no constraint, because checking one reads every card.
--
-- Version 0.2 deletes cards without knowing of these tables: their rows go with the card. The new tables are empty, and
-- there are few events, so that constraints are checked at once:
-- squawk-ignore-file adding-foreign-key-constraint, constraint-missing-not-valid, prefer-bigint-over-int, prefer-bigint-over-smallint
ALTER TABLE card ADD COLUMN phone smallint;

-- Which codes open the event: `any`, or those alone that a phone made itself a moment ago.
ALTER TABLE event ADD COLUMN codes text NOT NULL DEFAULT 'any' CHECK (codes IN ('any', 'phone'));

CREATE TABLE card_phone (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    enrolment integer NOT NULL CHECK (enrolment >= 0),
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    enrolled_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_by text,
    PRIMARY KEY (organization_id, card_id, enrolment),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE,
    CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

-- One phone at a time. And a key that has ended does not come back, so that an old signature moves nothing.
CREATE UNIQUE INDEX card_phone_enrolled ON card_phone (organization_id, card_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX card_phone_key ON card_phone (organization_id, card_id, public_key);

-- Codes that were sent by mail, to move a card to another phone. At most three a card: older ones are deleted first.
CREATE TABLE card_phone_code (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    code_hash bytea NOT NULL CHECK (length(code_hash) = 32),
    sent_at timestamptz NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (organization_id, card_id, code_hash),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE
);
