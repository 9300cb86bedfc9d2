"""Columns of a file: what each of them holds, guessed from its heading or remembered from the last file."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.imports.job import Field, Import

# Headings of other systems, in the languages of the first organizations.
KNOWN: Final[dict[Field, frozenset[str]]] = {
    Field.CARD_NUMBER: frozenset("card cardnumber cardno cardid cardnr kartennummer kaartnummer numerodecarte".split()),
    Field.NAME: frozenset(
        "name fullname holder holdername attendee attendeename guest participant naam "
        "firstname givenname forename attendeefirstname vorname voornaam prenom prénom".split()
    ),
    Field.LAST_NAME: frozenset(
        "lastname surname familyname attendeelastname nachname familienname achternaam nomdefamille nom".split()
    ),
    Field.EMAIL: frozenset(
        "email mail emailaddress holderemail attendeeemail eposta courriel emailadres emailadresse adresseemail".split()
    ),
    Field.CATEGORY: frozenset("category tickettype type tier product item ticket kategorie categorie".split()),
    Field.REFERENCE: frozenset(
        "reference ref externalreference externalid order orderid ordercode ordernumber ticketid position referenz "
        "ordernummer bestelnummer bestellnummer".split()
    ),
}
NOT_A_LETTER: Final = re.compile(r"[\W_]+")


def guess(header: Sequence[str]) -> list[str]:
    """The field that each column seems to hold, each field once; an empty text for an unknown column."""
    guessed: list[str] = []
    for name in header:
        word = NOT_A_LETTER.sub("", name.casefold())
        field = next((field for field, words in KNOWN.items() if word in words and field not in guessed), None)
        guessed.append(field or "")
    if Field.NAME not in guessed and Field.LAST_NAME in guessed:
        guessed[guessed.index(Field.LAST_NAME)] = Field.NAME
    return guessed


async def remembered(tx: Tx, organization_id: UUID, job: Import) -> list[str] | None:
    """The columns as they were named for the last file with this header."""
    return await tx.value(REMEMBERED, organization_id, job.header, job.id)


async def name_columns(
    tx: Tx,
    organization_id: UUID,
    job: Import,
    columns: Sequence[str],
    category_id: UUID | None,
    *,
    companions: bool = False,
    by: str,
    at: datetime,
) -> None:
    """Set what each column holds, and begin the dry run. It may be set again after the dry run.

    With `companions` a guest who has a ticket already gets another one, on a card for a companion.
    """
    _require_valid(job, columns, category_id)
    if category_id is not None and not await tx.value(HAS_CATEGORY, organization_id, job.event_id, category_id):
        raise InvalidRequest("The event has no such category.", param="category_id")
    if not await tx.run(NAME, organization_id, job.id, list(columns), category_id, at, companions):
        raise NotAllowedFromHere("The columns of this import can no longer be changed.")
    named = ", ".join(f"{name} = {field}" for name, field in zip(job.header, columns, strict=True) if field)
    await audit_log.record(tx, organization_id, "import", job.id, "columns named", by=by, at=at, becomes=named[:2000])


def _require_valid(job: Import, columns: Sequence[str], category_id: UUID | None) -> None:
    named = [Field(field) for field in columns if field]
    if len(columns) != len(job.header):
        raise InvalidRequest("Every column needs an answer.", param="columns")
    if len(set(named)) < len(named):
        raise InvalidRequest("Two columns cannot hold the same.", param="columns")
    if not named:
        raise InvalidRequest("Say what at least one column holds.", param="columns")
    if Field.LAST_NAME in named and Field.NAME not in named:
        raise InvalidRequest("A last name needs a column with the first name, or is the name.", param="columns")
    if Field.CATEGORY not in named and category_id is None:
        raise InvalidRequest(
            "Choose the column that names the category, or one category for all rows.", param="category_id"
        )


REMEMBERED: Final = """
    SELECT i.columns
      FROM import i
     WHERE i.organization_id = $1
       AND i.header_key = (SELECT x.header_key
                             FROM import x
                            WHERE x.organization_id = $1
                              AND x.id = $3)
       AND i.header = $2
       AND i.columns IS NOT NULL
     ORDER BY i.created_at DESC
     LIMIT 1
"""

HAS_CATEGORY: Final = """
    SELECT true
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND id = $3
"""

NAME: Final = """
    UPDATE import
       SET state = 'checking', columns = $3, category_id = $4, companions = $6, round = round + 1, reached = 0,
           faulty = 0, wanted = '{}', advanced_at = $5
     WHERE organization_id = $1
       AND id = $2
       AND state IN ('mapping', 'checked')
"""
