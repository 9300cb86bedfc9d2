"""Parsing a row, once its columns are named. Pure: the event's categories are an argument, nothing is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.domain import cards
from gatepass.domain.cards import LONGEST_NAME, HolderDetails
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.job import Fault, Field, Import

LONGEST_REFERENCE: Final = 128


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """The ticket that a row asks for: on the card with this number, which keeps its holder, or for a person."""

    line: int
    category_id: UUID
    card_number: str | None
    holder: HolderDetails | None
    reference: str | None

    @property
    def address(self) -> str | None:
        return self.holder.address if self.holder else None


class RowParser:
    """Parses the rows of one import."""

    def __init__(self, job: Import, categories: Sequence[TicketCategory]) -> None:
        columns = list(job.columns or ())
        self._indexes = {Field(name): index for index, name in enumerate(columns) if name}
        # The category may have been removed after the columns were named.
        self._default_category = next((category.id for category in categories if category.id == job.category_id), None)
        self._by_name: dict[str, list[UUID]] = {}
        self._by_tier: dict[str, list[UUID]] = {}
        for category in categories:
            self._by_name.setdefault(category.name.strip().casefold(), []).append(category.id)
            self._by_tier.setdefault(category.tier, []).append(category.id)

    def parse(self, line: int, cells: Sequence[str]) -> ParsedRow | Fault:
        name = f"{self._cell(cells, Field.NAME)} {self._cell(cells, Field.LAST_NAME)}".strip()
        email = self._cell(cells, Field.EMAIL)
        number, reference = self._cell(cells, Field.CARD_NUMBER), self._cell(cells, Field.REFERENCE)
        if fault := _fault_of_person(name, email):
            return fault
        if len(reference) > LONGEST_REFERENCE or not reference.isprintable():
            return Fault.REFERENCE_TOO_LONG
        category = self._category(self._cell(cells, Field.CATEGORY))
        if isinstance(category, Fault):
            return category
        if number:
            number = cards.normalize_number(number)
            if not cards.is_number(number):
                return Fault.BAD_CARD_NUMBER
        # A holder must have a name; without one the e-mail address is used.
        name = name or email[:LONGEST_NAME]
        holder = None if number or not name else HolderDetails(name, email or None)
        return ParsedRow(line, category, number or None, holder, reference or None)

    def _cell(self, cells: Sequence[str], field: Field) -> str:
        index = self._indexes.get(field)
        return cells[index].strip() if index is not None and index < len(cells) else ""

    def _category(self, text: str) -> UUID | Fault:
        if not text:
            return self._default_category or Fault.NO_CATEGORY
        word = text.casefold()
        found = self._by_name.get(word) or self._by_tier.get(word, [])
        if len(found) > 1:
            return Fault.AMBIGUOUS_CATEGORY
        return found[0] if found else Fault.UNKNOWN_CATEGORY


def _fault_of_person(name: str, email: str) -> Fault | None:
    if len(name) > LONGEST_NAME:
        return Fault.NAME_TOO_LONG
    if name and not cards.is_name(name):
        return Fault.NAME_UNPRINTABLE
    return Fault.EMAIL_INVALID if email and not cards.is_email(email) else None
