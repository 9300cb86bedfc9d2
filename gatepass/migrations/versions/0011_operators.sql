-- For operators: organizations that are suspended or closed, and people who are disabled.

-- A closed organization is suspended too; maintenance erases it after `erase_at`. The reason is shown in its studio.
ALTER TABLE organization
    ADD COLUMN suspended_at timestamptz,
    ADD COLUMN suspended_reason text,
    ADD COLUMN closed_at timestamptz,
    ADD COLUMN erase_at timestamptz;

-- While its organization is suspended, a key has expired, so that every statement and every process that checks keys
-- refuses it. This is the expiry that it gets back: `infinity` for none, and null if the key is not suspended.
ALTER TABLE api_key ADD COLUMN resumed_expires_at timestamptz;

-- A disabled person cannot sign in, and has no session.
ALTER TABLE person ADD COLUMN disabled_at timestamptz;
