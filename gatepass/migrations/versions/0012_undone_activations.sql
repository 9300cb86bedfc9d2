-- The scans whose activation was undone. A ticket has the id of the scan that activated it, and forgets it when that is
-- undone; an index of all activations would be written by every scan. What version 0.2 undoes beside it is not kept.
--
-- Without foreign keys: one that names `ticket` would add a trigger to the table that every scan updates.
CREATE TABLE undone_activation (
    organization_id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    scan_at timestamptz NOT NULL,
    scan_id uuid NOT NULL,
    PRIMARY KEY (organization_id, ticket_id, scan_at, scan_id)
);
