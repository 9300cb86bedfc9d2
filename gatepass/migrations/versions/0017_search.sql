-- While the indexes are built, cards, holders and external ids are read and not written: gates scan, and issuing waits.
-- squawk-ignore-file require-concurrent-index-creation, require-concurrent-index-deletion

-- The words of a text: in lower case, without accents, split at every sign of ASCII that is no letter or digit. A question
-- is split by the same function. The bodies are parsed here and now, because PostgreSQL builds an index with no search_path.
CREATE FUNCTION search_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
RETURN string_to_array(
    btrim(regexp_replace(
        lower(regexp_replace(normalize(p_text, NFKD), '[\u0300-\u036f]', '', 'g')),
        '[\s!-/:-@\[-`{-~]+', ' ', 'g')),
    ' ');

-- The words of a holder, with the organization as one of them: an index of this kind has no first column.
CREATE FUNCTION holder_words(p_organization_id uuid, p_name text, p_email text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN array_to_tsvector(('@' || p_organization_id::text) || search_words(p_name || ' ' || coalesce(p_email, '')));

-- The groups of four digits of a card number, likewise.
CREATE FUNCTION card_groups(p_organization_id uuid, p_number text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('@' || p_organization_id::text) || string_to_array(p_number, ' ');

-- It replaces the index on the beginning of a name.
CREATE INDEX card_holder_words ON card_holder USING gin (holder_words(organization_id, name, email));
DROP INDEX card_holder_name;
CREATE INDEX card_groups ON card USING gin (card_groups(organization_id, number));
-- External ids in any case, by their beginning.
CREATE INDEX ticket_reference_beginning ON ticket_reference (organization_id, lower(reference) text_pattern_ops);
