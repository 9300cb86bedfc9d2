-- One person, one card; the ids that other systems have for cards and tickets; when each was changed last.
--
-- Nobody uses the new tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, adding-foreign-key-constraint, constraint-missing-not-valid, ban-drop-constraint

-- The address of a holder in one form, which only `domain/cards/holders.py` makes. The card that tickets for this person
-- go to is `current`; a companion's card carries the same holder. Holders that version 0.2 stores have no row here until
-- somebody issues to their address. The row moves and goes with its holder, whichever version moves or erases them.
CREATE TABLE holder_email (
    organization_id uuid NOT NULL,
    card_id uuid NOT NULL,
    email text NOT NULL CHECK (length(email) BETWEEN 1 AND 320),
    current boolean NOT NULL,
    companion boolean NOT NULL,
    PRIMARY KEY (organization_id, card_id),
    FOREIGN KEY (organization_id, card_id) REFERENCES card_holder (organization_id, card_id)
        ON UPDATE CASCADE ON DELETE CASCADE,
    CHECK (NOT (current AND companion))
);
CREATE UNIQUE INDEX holder_email_current ON holder_email (organization_id, email) WHERE current;
CREATE INDEX holder_email_cards ON holder_email (organization_id, email, card_id);

-- The id of a card in another system, with the fingerprint of the request that made the card.
CREATE TABLE card_external_id (
    organization_id uuid NOT NULL,
    external_id text NOT NULL CHECK (length(external_id) BETWEEN 1 AND 128),
    card_id uuid NOT NULL,
    fingerprint uuid NOT NULL,
    PRIMARY KEY (organization_id, external_id),
    FOREIGN KEY (organization_id, card_id) REFERENCES card (organization_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX card_external_id_of_card ON card_external_id (organization_id, card_id);

-- `reference` is the external_id of a ticket. References of version 0.2 have no fingerprint, and at most 100 characters,
-- so that nothing is to be validated.
ALTER TABLE ticket_reference
    ADD COLUMN fingerprint uuid,
    DROP CONSTRAINT ticket_reference_reference_check,
    ADD CONSTRAINT ticket_reference_length CHECK (length(reference) BETWEEN 1 AND 128) NOT VALID;

-- Whether a row of a guest who has a ticket already makes a card and a ticket for a companion.
ALTER TABLE import ADD COLUMN companions boolean NOT NULL DEFAULT false;

-- Null in every row, so that nothing is to be validated: that would read every holder under an exclusive lock.
ALTER TABLE card_holder
    ADD COLUMN locale text,
    ADD CONSTRAINT card_holder_locale_length CHECK (length(locale) <= 35) NOT VALID;

-- Null until something changes that has no time of its own. A scan writes neither.
ALTER TABLE card ADD COLUMN changed_at timestamptz;
ALTER TABLE ticket ADD COLUMN changed_at timestamptz;
