-- `activation_key`: the digest of the Idempotency-Key of the scan that used a ticket. Retry keys live a day or two, and
-- journals longer: by it a scan is known again at any age. `admitted_at`: when somebody was first let in with a ticket
-- that was not used up by it, so that the scan that uses it later is known to be the second admission.
ALTER TABLE ticket
    ADD COLUMN activation_key uuid,
    ADD COLUMN admitted_at timestamptz;
ALTER TABLE undone_activation
    ADD COLUMN activation_key uuid;

-- Entries that a device was not believed: a wrong signature, a sequence that was used twice, another's event.
ALTER TABLE device
    ADD COLUMN refused_entries bigint NOT NULL DEFAULT 0,
    ADD COLUMN refused_at timestamptz;

-- What devices wrote while nobody could ask us, each entry once. As with scans, `organization_id` is whose tickets they
-- are: the twin of the device's organization in the sandbox. `content` is the digest of all that is signed.
CREATE TABLE journal_entry (
    organization_id uuid NOT NULL,
    device_id uuid NOT NULL,
    sequence bigint NOT NULL CHECK (sequence > 0),
    id uuid NOT NULL,
    content uuid NOT NULL,
    fingerprint uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    event_id uuid NOT NULL,
    card_id uuid,
    ticket_id uuid,
    typed boolean NOT NULL,
    admitted boolean NOT NULL,
    gate text NOT NULL,
    scanner_id text,
    occurred_at timestamptz NOT NULL,
    clock_offset_ms integer,
    corrected_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('activated', 'recorded')),
    code text,
    PRIMARY KEY (organization_id, device_id, sequence)
);
CREATE INDEX journal_entry_by_key ON journal_entry (organization_id, idempotency_key);
CREATE INDEX journal_entry_of_ticket ON journal_entry (organization_id, ticket_id, received_at, id) WHERE admitted AND ticket_id IS NOT NULL;
CREATE INDEX journal_entry_typed ON journal_entry (organization_id, device_id, corrected_at) WHERE typed;

-- Where what happened at a door disagrees with the record. `first_…` is the admission before, of a duplicate.
CREATE TABLE incident (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('duplicate', 'revoked_meanwhile', 'suspended', 'cancelled', 'unknown_card', 'no_ticket',
                                       'expired', 'outside_window', 'wrong_gate', 'override')),
    ticket_id uuid,
    card_id uuid,
    card_number text,
    gate text,
    device_id uuid,
    sequence bigint,
    scanner_id text,
    occurred_at timestamptz,
    corrected_at timestamptz,
    received_at timestamptz NOT NULL,
    first_gate text,
    first_device_id uuid,
    first_scanner_id text,
    first_occurred_at timestamptz,
    first_received_at timestamptz,
    reason text,
    opened_by text,
    closed_at timestamptz,
    closed_by text,
    note text,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX incident_list ON incident (organization_id, received_at, id);
CREATE INDEX incident_of_event ON incident (organization_id, event_id, received_at, id);
CREATE INDEX incident_open ON incident (organization_id, event_id, received_at, id) WHERE closed_at IS NULL;
CREATE INDEX incident_of_entry ON incident (organization_id, device_id, sequence) WHERE sequence IS NOT NULL;
CREATE INDEX incident_of_ticket ON incident (organization_id, ticket_id) WHERE ticket_id IS NOT NULL;
CREATE INDEX incident_of_card ON incident (organization_id, card_id) WHERE card_id IS NOT NULL;
