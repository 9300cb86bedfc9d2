-- The data of an organization's sandbox belong to a row of its own, its twin: events, cards and tickets of the sandbox
-- are rows of another tenant, and no statement has to tell them apart. Keys, endpoints and logs of calls are its owner's.
--
-- `used_at` is the time of the last change in a twin. A twin that nobody uses is erased by its `erase_at`, and made again
-- when it is needed.
--
-- There are few organizations, and no row has a value yet, so the constraints are checked at once:
-- squawk-ignore-file adding-foreign-key-constraint, constraint-missing-not-valid
ALTER TABLE organization
    ADD COLUMN twin_of uuid REFERENCES organization (id),
    ADD COLUMN used_at timestamptz;

-- The id of a twin is its owner's with the four bits of the version inverted: 7 becomes 8 (`domain/twin.py`). So each is
-- known from the other without a query, and nobody can have two.
ALTER TABLE organization
    ADD CONSTRAINT organization_twin CHECK (
        CASE WHEN twin_of IS NULL THEN get_byte(uuid_send(id), 6) < 128
             ELSE set_byte(uuid_send(twin_of), 6, get_byte(uuid_send(twin_of), 6) # 240) = uuid_send(id) END);
