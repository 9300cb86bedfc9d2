-- Accounts: proven addresses, removed people, and one form of an address.

-- `proven_at` is when the operator vouched that this account belongs to its address. Nothing else sets it.
-- `removed_at` marks an account that was removed: its address is free, its name stays for the audit log.
ALTER TABLE person
    ADD COLUMN proven_at timestamptz,
    ADD COLUMN removed_at timestamptz;

-- Whether the operator made it: such a link is handed to its owner by somebody who knows them.
ALTER TABLE invitation
    ADD COLUMN proves_email boolean NOT NULL DEFAULT false;

UPDATE invitation SET proves_email = true WHERE invited_by = 'operator';

-- The account was made by the bearer of the operator's link: a person gets the id of their first invitation.
UPDATE person p
   SET proven_at = p.created_at
  FROM invitation i
 WHERE i.id = p.id
   AND i.accepted_by = p.id
   AND i.proves_email;

-- In the collation "C" only the letters A to Z have a lower case, in every locale, as in `person.folded`. There are few
-- people, so the index is made at once.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX person_email_folded ON person (lower(email COLLATE "C"));
