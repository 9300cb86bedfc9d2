"""Addresses are compared by IDNA and in lower case: those that NFKC and case folding changed get their new form.

Few addresses are not ASCII, and most of these keep their form, so that the version before still finds people beside it.
The SQL for database administrators leaves this out: PostgreSQL knows no IDNA.
"""

import unicodedata

import sqlalchemy as sa
from alembic import context, op

from gatepass.base.web.domain_names import compared_domain
from gatepass.migrations.sql import run_beside

revision = "0032"
down_revision = "0031"

BEYOND_ASCII = """
    SELECT x.organization_id, x.card_id, x.email AS was, h.email AS written
      FROM card_holder h
      JOIN holder_email x ON x.organization_id = h.organization_id AND x.card_id = h.card_id
     WHERE octet_length(h.email) > length(h.email)
        OR h.email ILIKE '%@%xn--%'
"""

# Of two cards that are now of one person, the one that has the form already stays the one for new tickets.
CHANGE = """
    UPDATE holder_email x
       SET email = :becomes,
           current = x.current AND NOT EXISTS (SELECT FROM holder_email o
                                                WHERE o.organization_id = x.organization_id
                                                  AND o.email = :becomes
                                                  AND o.current)
     WHERE x.organization_id = :organization_id
       AND x.card_id = :card_id
       AND x.email = :was
"""


def upgrade() -> None:
    run_beside(__file__)
    if context.is_offline_mode():
        return
    connection = op.get_bind()
    for row in connection.execute(sa.text(BEYOND_ASCII)).mappings().all():
        becomes = compared(row["written"])
        if becomes != row["was"]:
            values = {name: row[name] for name in ("organization_id", "card_id", "was")}
            connection.execute(sa.text(CHANGE), {**values, "becomes": becomes})


def compared(email: str) -> str:
    """As the program makes it at this revision."""
    local_part, at, domain = unicodedata.normalize("NFC", email.strip()).rpartition("@")
    return unicodedata.normalize("NFC", local_part.lower()) + at + compared_domain(domain)
