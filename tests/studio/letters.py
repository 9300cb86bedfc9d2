"""Letters that the studio has written, as their readers get them: with the values unsealed."""

import json
import re
from dataclasses import dataclass
from typing import Final

from gatepass.base.database import Database, Row
from gatepass.domain.mail import values_context
from tests import factory

PATH: Final = re.compile(r"https://studio\.test(/studio/\S+)")


@dataclass(frozen=True)
class ReadLetter:
    kind: str
    address: str
    values: dict[str, str]

    @property
    def path(self) -> str:
        """The path of its link."""
        found = PATH.fullmatch(self.values["link"])
        assert found is not None
        return found[1]


async def letters_to(db: Database, address: str) -> list[ReadLetter]:
    """The oldest first."""
    async with db.autocommit() as tx:
        rows = await tx.rows(LETTERS, address)
    return [ReadLetter(row["kind"], row["address"], _values(row)) for row in rows]


async def letter_to(db: Database, address: str, kind: str) -> ReadLetter:
    """The newest of this kind."""
    return [one for one in await letters_to(db, address) if one.kind == kind][-1]


def _values(row: Row) -> dict[str, str]:
    context = values_context(row["organization_id"], row["id"])
    return json.loads(factory.VAULT.open(row["sealed_values"], context))


LETTERS: Final = """
    SELECT organization_id, id, kind, address, sealed_values
      FROM letter
     WHERE lower(address) = lower($1)
     ORDER BY written_at, id
"""
