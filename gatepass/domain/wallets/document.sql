-- All that a pass in a wallet tells of a card, as one document: two equal documents make equal passes. `subject.py` reads
-- it; `registrations.py` and `pushes.py` compare its hash with that of what a phone was told of.
--
-- It is NULL if the card is not there. `period` matters to a code that ends before its last event does, because the next
-- period then has another code; so does the newest signing key. Times are numbers: text would depend on the session.
CREATE OR REPLACE FUNCTION wallet_document(
    p_organization uuid, p_card uuid, p_link_hash bytea, p_at timestamptz, p_period timestamptz)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
#variable_conflict use_column
BEGIN
    RETURN (
        SELECT jsonb_build_object(
                   'organizer', o.name,
                   'live', c.status <> 'revoked'
                       AND o.closed_at IS NULL
                       AND EXISTS (SELECT FROM card_link l
                                    WHERE l.organization_id = p_organization
                                      AND l.card_id = p_card
                                      AND l.secret_hash = p_link_hash),
                   'number', c.number,
                   'status', CASE WHEN o.suspended_at IS NULL THEN c.status ELSE 'suspended' END,
                   'phone', c.phone IS NOT NULL,
                   'key', (SELECT k.id
                             FROM signing_key k
                            WHERE k.organization_id = p_organization
                              AND k.retired_at IS NULL
                            ORDER BY k.created_at DESC, k.id DESC
                            LIMIT 1),
                   'events', listed.events,
                   'period', CASE WHEN listed.last > p_period + interval '59 days'
                                  THEN extract(epoch FROM p_period)::bigint END)
               -- Not there before one is chosen, so that an upgrade tells no phone of a change.
               || coalesce((SELECT jsonb_build_object('colour', l.colour)
                              FROM card_look l
                             WHERE l.organization_id = p_organization), '{}')
          FROM card c
          JOIN organization o ON o.id = p_organization
         CROSS JOIN LATERAL (
                SELECT coalesce(jsonb_agg(to_jsonb(shown) - 'last' ORDER BY shown.starts_at, shown.id), '[]') AS events,
                       max(shown.last) AS last
                  FROM (SELECT e.id, e.title, e.venue, e.city, e.time_zone, e.status, e.codes, k.name AS category,
                               extract(epoch FROM e.starts_at)::bigint AS starts_at,
                               extract(epoch FROM e.ends_at)::bigint AS ends_at, e.ends_at AS last
                          FROM ticket t
                          JOIN event e ON e.organization_id = p_organization AND e.id = t.event_id
                          JOIN ticket_category k ON k.organization_id = p_organization AND k.id = t.category_id
                         WHERE t.organization_id = p_organization
                           AND t.card_id = p_card
                           AND e.ends_at > p_at - interval '6 hours'
                           AND ((e.status = 'published' AND t.cancelled_at IS NULL) OR e.status = 'cancelled')
                         ORDER BY e.starts_at, e.id
                         LIMIT 20) shown) listed
         WHERE c.organization_id = p_organization
           AND c.id = p_card);
END
$$;
