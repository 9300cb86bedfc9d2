-- Imports of tickets, what tickets are called elsewhere, and finding cards by their holder.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint

-- One file that is made into tickets. `reached` is the line up to which the present step has come, and moves in the
-- transaction that did the work. `upload_key` comes with the form, so that one form makes one import. `round` counts the
-- times that its columns were named. The ids of what it makes are made of its own id and the line.
CREATE TABLE import (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    upload_key uuid NOT NULL,
    file_name text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 200),
    state text NOT NULL DEFAULT 'receiving'
        CHECK (state IN ('receiving', 'refused', 'mapping', 'checking', 'checked', 'applying', 'done', 'undoing',
                         'undone', 'discarded')),
    problem text,
    header text[] NOT NULL DEFAULT '{}',
    header_key uuid,
    columns text[],
    category_id uuid,
    round smallint NOT NULL DEFAULT 0,
    row_count integer NOT NULL DEFAULT 0,
    last_line integer NOT NULL DEFAULT 0,
    reached integer NOT NULL DEFAULT 0,
    faulty integer NOT NULL DEFAULT 0,
    wanted jsonb NOT NULL DEFAULT '{}',
    tickets_made integer NOT NULL DEFAULT 0,
    cards_made integer NOT NULL DEFAULT 0,
    tickets_removed integer NOT NULL DEFAULT 0,
    tickets_kept integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    advanced_at timestamptz NOT NULL,
    ended_at timestamptz,
    swept_at timestamptz,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, upload_key),
    FOREIGN KEY (organization_id, event_id) REFERENCES event (organization_id, id)
) WITH (fillfactor = 50);
CREATE INDEX import_of_event ON import (organization_id, event_id, id);
CREATE INDEX import_of_header ON import (organization_id, header_key, created_at) WHERE columns IS NOT NULL;
CREATE INDEX import_under_way ON import (advanced_at) WHERE state IN ('checking', 'applying', 'undoing');
CREATE INDEX import_to_sweep ON import (advanced_at) WHERE swept_at IS NULL;

-- The file's rows as they came. A row goes when its ticket is made; what stays is what could not be imported, with the
-- reason.
CREATE TABLE import_row (
    organization_id uuid NOT NULL,
    import_id uuid NOT NULL,
    line integer NOT NULL,
    cells text[] NOT NULL,
    fault text,
    PRIMARY KEY (organization_id, import_id, line)
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX import_row_faulty ON import_row (organization_id, import_id, line) WHERE fault IS NOT NULL;

-- Card numbers and references, each of which a file may hold once. Only while it is checked.
CREATE TABLE import_key (
    organization_id uuid NOT NULL,
    import_id uuid NOT NULL,
    round smallint NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (organization_id, import_id, round, kind, value)
);

-- The reference of a ticket in the organizer's own system: one ticket in use per event and reference.
-- No foreign key to the ticket: it would look a ticket up for each row of an import, and rows go with their tickets.
CREATE TABLE ticket_reference (
    organization_id uuid NOT NULL,
    reference text NOT NULL CHECK (length(reference) BETWEEN 1 AND 100),
    event_id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    PRIMARY KEY (organization_id, reference, event_id)
);
CREATE INDEX ticket_reference_of_ticket ON ticket_reference (organization_id, ticket_id);

-- Lists of an event's tickets. No column of these ever changes, so that an activation stays a HOT update. They go by hashes,
-- so that the plan of a scan, which asks for an event's ticket of a card, can never be tempted by them.
CREATE INDEX ticket_of_event ON ticket (organization_id, uuid_hash(event_id), id);
CREATE INDEX ticket_of_category ON ticket (organization_id, uuid_hash(category_id), id);

-- Cards by the beginning of their holder's name or address, and those that are out of use.
CREATE INDEX card_holder_name ON card_holder (organization_id, lower(name) text_pattern_ops, card_id);
CREATE INDEX card_holder_email ON card_holder (organization_id, lower(email) text_pattern_ops, card_id);
CREATE INDEX card_out_of_use ON card (organization_id, status, id) WHERE status <> 'active';

-- The refused scans of a card. What activates a ticket is found through it, so that an activation does not write here.
CREATE INDEX scan_refused ON scan (organization_id, card_id, at) WHERE verdict <> 'activated';
