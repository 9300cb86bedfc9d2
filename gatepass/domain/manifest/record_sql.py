"""The parts of SQL from which every statement makes the same record. `$4` and `$5` are the pads of the salt."""

from typing import Final

# HMAC-SHA-256 in its two halves. A number has letters, digits and spaces, so that text and bytes are the same.
HMAC: Final = "sha256($5::bytea || sha256($4::bytea || c.number::bytea))"

# The flags of the card itself: suspended, revoked, and in the high four bits the number of its phone.
OF_CARD: Final = "CASE c.status WHEN 'suspended' THEN 2 WHEN 'revoked' THEN 4 ELSE 0 END + 16 * coalesce(c.phone, 0)"

# The last two bytes of a record: category, then flags. `$3` has the categories in the order of the header.
IN_USE: Final = (
    "substring(int4send(256 * (array_position($3::uuid[], t.category_id) - 1)"
    " + CASE WHEN t.activated_at IS NULL THEN 0 ELSE 1 END + " + OF_CARD + ") FROM 3 FOR 2)"
)
CANCELLED: Final = "substring(int4send(256 * 255 + 8 + " + OF_CARD + ") FROM 3 FOR 2)"
MOVED_AWAY: Final = "substring(int4send(256 * 255 + " + OF_CARD + ") FROM 3 FOR 2)"
