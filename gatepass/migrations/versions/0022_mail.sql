-- Mail: letters that wait to be sent and what became of them, and mailings that write many.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation

-- A letter. It is written in the transaction of what it tells of, and sent by a worker. Letters of no organization, such
-- as the proof of an address, have the UUID of zeros. `next_at` is when it is due, and while it is sent the end of its
-- lease; somebody waits for an urgent one. `attempt` is the fencing token. `tries` counts the times that the
-- mail server put it off. `doubtful` counts the times that it was sent again although it may have arrived.
-- `answer` is what the mail server said last. The values hold links and codes: they go when the letter has ended.
CREATE TABLE letter (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 50),
    language text NOT NULL CHECK (length(language) = 2),
    address text NOT NULL CHECK (length(address) <= 320),
    sealed_values bytea NOT NULL,
    card_id uuid,
    event_id uuid,
    person_id uuid,
    mailing_id uuid,
    urgent boolean NOT NULL,
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'sending', 'sent', 'refused', 'bounced', 'expired', 'stopped')),
    written_at timestamptz NOT NULL,
    next_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    tries smallint NOT NULL DEFAULT 0,
    doubtful smallint NOT NULL DEFAULT 0,
    answer text CHECK (length(answer) <= 500),
    ended_at timestamptz,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX letter_due ON letter (urgent, next_at) WHERE state IN ('waiting', 'sending');
CREATE INDEX letter_of_card ON letter (organization_id, card_id, id) WHERE card_id IS NOT NULL;
CREATE INDEX letter_of_mailing ON letter (organization_id, mailing_id, state) WHERE mailing_id IS NOT NULL;
CREATE INDEX letter_of_person ON letter (organization_id, person_id, id) WHERE person_id IS NOT NULL;
-- An ended letter loses its address first, and is deleted much later: each index has the letters of one of these steps.
CREATE INDEX letter_addressed ON letter (ended_at) WHERE ended_at IS NOT NULL AND address <> '';
CREATE INDEX letter_ended ON letter (ended_at) WHERE ended_at IS NOT NULL AND address = '';

-- The cards of an event, sent by mail: a selection of tickets, or everybody who has no letter yet (`ticket_ids` is null).
-- `reached` is the last ticket that was looked at, and moves in the transaction that writes the letters. It has ended when
-- none of its letters waits any more.
CREATE TABLE mailing (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    ticket_ids uuid[],
    state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'written', 'stopped')),
    reached uuid,
    wanted integer NOT NULL CHECK (wanted >= 0),
    written integer NOT NULL DEFAULT 0,
    without_address integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    advanced_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 70);
CREATE INDEX mailing_of_event ON mailing (organization_id, event_id, id);
CREATE INDEX mailing_under_way ON mailing (advanced_at) WHERE ended_at IS NULL;
-- Two at once could write to the same people.
CREATE UNIQUE INDEX mailing_one_at_a_time ON mailing (organization_id, event_id) WHERE state = 'writing';
