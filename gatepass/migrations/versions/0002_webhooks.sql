-- Webhooks: who is told, what happened, and what is still to be sent.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-foreign-key-constraint, disallowed-unique-constraint

-- A deleted one stays for the history's sake, without its secrets; `cleared_at` is when nothing was left in its queue.
-- The columns from `failures` on are written by workers, and only while an endpoint fails: the gate reads
-- this row at each scan and must never wait for it.
CREATE TABLE webhook_endpoint (
    organization_id uuid NOT NULL REFERENCES organization (id),
    id uuid NOT NULL,
    mode text NOT NULL CHECK (mode IN ('live', 'sandbox')),
    url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    types text[] NOT NULL CHECK (cardinality(types) BETWEEN 1 AND 32),
    description text CHECK (length(description) <= 500),
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
    paused_reason text,
    sealed_secret bytea NOT NULL,
    -- While a secret is rotated. The new one signs beside the old, from `switches_at` on instead of it,
    -- and from `retires_at` on alone.
    sealed_new_secret bytea,
    switches_at timestamptz,
    retires_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    deleted_at timestamptz,
    cleared_at timestamptz,
    failures integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    blocked_until timestamptz,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50);
CREATE INDEX webhook_endpoint_listening ON webhook_endpoint (organization_id, mode) WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoint_paused ON webhook_endpoint (organization_id, id)
    WHERE status = 'paused' AND deleted_at IS NULL;
CREATE INDEX webhook_endpoint_to_clear ON webhook_endpoint (organization_id, id)
    WHERE deleted_at IS NOT NULL AND cleared_at IS NULL;

-- Somebody reads the feed of events, so they are kept although no endpoint asks for them.
CREATE TABLE webhook_feed (
    organization_id uuid NOT NULL REFERENCES organization (id),
    mode text NOT NULL CHECK (mode IN ('live', 'sandbox')),
    open_until timestamptz NOT NULL,
    PRIMARY KEY (organization_id, mode)
);

-- Messages, in the bytes that are signed and sent. `txid` is the transaction that wrote it: a reader who
-- takes only what finished transactions wrote, in this order, never misses an event that commits late.
CREATE TABLE webhook_event (
    organization_id uuid NOT NULL,
    mode text NOT NULL,
    txid bigint NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    type text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (organization_id, mode, txid, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE webhook_event_default PARTITION OF webhook_event DEFAULT;

-- One event for one endpoint, and what became of it. While it is pending there is a row in webhook_queue too.
CREATE TABLE webhook_delivery (
    organization_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    event_txid bigint NOT NULL,
    event_id uuid NOT NULL,
    event_at timestamptz NOT NULL,
    type text NOT NULL,
    ordering_key uuid NOT NULL,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz,
    ended_at timestamptz,
    last_status smallint,
    last_error text,
    replay_id uuid,
    PRIMARY KEY (organization_id, endpoint_id, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE webhook_delivery_default PARTITION OF webhook_delivery DEFAULT;

CREATE TABLE webhook_attempt (
    organization_id uuid NOT NULL,
    at timestamptz NOT NULL,
    delivery_id uuid NOT NULL,
    n integer NOT NULL,
    status smallint,
    error text,
    address text,
    dns_ms real,
    connect_ms real,
    answer_ms real,
    total_ms real NOT NULL,
    answer_head text,
    PRIMARY KEY (organization_id, delivery_id, n, at)
) PARTITION BY RANGE (at);
CREATE TABLE webhook_attempt_default PARTITION OF webhook_attempt DEFAULT;

-- The queue: a row comes with its message and goes with its delivery.
-- `next_at` is when it is due, and while a worker has it, when that worker's claim lapses. `attempt` counts the claims,
-- so that a worker which comes back too late finds that the row is no longer its own. Of two rows with the same
-- `ordering_key` the one with the lower id goes first. Lane 0 is for what happens now, lane 1 for what can wait:
-- what was held, and what is replayed.
CREATE TABLE webhook_queue (
    organization_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    ordering_key uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    lane smallint NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    delivery_at timestamptz NOT NULL,
    delivery_id uuid NOT NULL,
    PRIMARY KEY (organization_id, endpoint_id, ordering_key, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.2);
CREATE INDEX webhook_queue_due ON webhook_queue (organization_id, endpoint_id, lane, next_at, id);

-- Sending again what was sent before: a worker goes through the deliveries from `since` to `until` in their order and
-- remembers how far it came.
CREATE TABLE webhook_replay (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    types text[],
    states text[],
    total integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    reached_at timestamptz,
    reached_id uuid,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoint (organization_id, id)
);
CREATE INDEX webhook_replay_of_endpoint ON webhook_replay (organization_id, endpoint_id, created_at);
CREATE INDEX webhook_replay_under_way ON webhook_replay (created_at) WHERE ended_at IS NULL;

INSERT INTO history (name, step, ahead, keep) VALUES
    ('webhook_event', '7 days', 8, '30 days'),
    ('webhook_delivery', '7 days', 8, '90 days'),
    ('webhook_attempt', '7 days', 8, '90 days');
