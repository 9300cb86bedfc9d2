-- Files of many cards, to print or to pass on: a job that a worker runs in steps, and the file in sealed parts.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint

-- `reached` is the last ticket of the newest part; it moves in the transaction that writes that part, together with the
-- counts. `due_at` is when the next step may begin: a worker moves it ahead while it draws, so that another one goes
-- on if it dies. `form_key` comes with the form, so that one form makes one file. `objects` is the number of the next
-- object of a PDF. `boxed` counts names with letters that the fonts lack.
CREATE TABLE card_export (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    form_key uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('csv', 'pdf')),
    layout text NOT NULL CHECK (layout IN ('', 'a4', 'card', 'badge', 'page')),
    with_names boolean NOT NULL,
    category_id uuid,
    ticket_ids uuid[],
    token_until timestamptz NOT NULL,
    state text NOT NULL DEFAULT 'under_way' CHECK (state IN ('under_way', 'ready', 'stopped', 'failed', 'deleted')),
    problem text,
    total integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    boxed integer NOT NULL DEFAULT 0,
    reached uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    parts integer NOT NULL DEFAULT 0,
    objects integer NOT NULL DEFAULT 0,
    pages integer NOT NULL DEFAULT 0,
    size bigint NOT NULL DEFAULT 0,
    failures smallint NOT NULL DEFAULT 0,
    downloads integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    due_at timestamptz NOT NULL,
    ended_at timestamptz,
    expires_at timestamptz,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, form_key),
    FOREIGN KEY (organization_id, event_id) REFERENCES event (organization_id, id)
) WITH (fillfactor = 50);
CREATE INDEX card_export_of_event ON card_export (organization_id, event_id, id);
CREATE INDEX card_export_under_way ON card_export (due_at) WHERE state = 'under_way';
CREATE INDEX card_export_kept ON card_export (expires_at) WHERE state = 'ready';

-- A part of a file, sealed. `offsets` are those of its objects in the file, for a PDF; `first_object` is the number of the
-- first of them, and `pages` how many pages it has.
CREATE TABLE card_export_part (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    export_id uuid NOT NULL,
    place integer NOT NULL,
    sealed_content bytea NOT NULL,
    first_object integer NOT NULL DEFAULT 0,
    pages integer NOT NULL DEFAULT 0,
    offsets bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, export_id, place),
    FOREIGN KEY (organization_id, export_id) REFERENCES card_export (organization_id, id)
);
-- What is encrypted cannot be compressed.
ALTER TABLE card_export_part ALTER COLUMN sealed_content SET STORAGE EXTERNAL;
