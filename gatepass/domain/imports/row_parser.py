"""What a row asks for, once its columns are named. Pure: it knows the event's categories and looks nothing up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.domain import cards
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.job import Fault, Field, Import

LONGEST_NAME: Final = 200
LONGEST_EMAIL: Final = 320
LONGEST_REFERENCE: Final = 100
# Loose on purpose: whether an address works is found out by writing to it.
EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
CARD_NUMBER: Final = re.compile(r"[A-Z]{2,6} \d{4} \d{4} \d{4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wish:
    """A ticket that a row asks for. Without a card number a new card is made for it."""

    line: int
    category_id: UUID
    card_number: str | None
    name: str | None
    email: str | None
    reference: str | None


class Reader:
    """Reads the rows of one import."""

    def __init__(self, job: Import, categories: Sequence[TicketCategory]) -> None:
        columns = list(job.columns or ())
        self._places = {Field(name): place for place, name in enumerate(columns) if name}
        # A category may be gone since the columns were named.
        self._otherwise = next((category.id for category in categories if category.id == job.category_id), None)
        self._by_name: dict[str, list[UUID]] = {}
        self._by_tier: dict[str, list[UUID]] = {}
        for category in categories:
            self._by_name.setdefault(category.name.strip().casefold(), []).append(category.id)
            self._by_tier.setdefault(category.tier, []).append(category.id)

    def read(self, line: int, cells: Sequence[str]) -> Wish | Fault:
        name, email = self._cell(cells, Field.NAME), self._cell(cells, Field.EMAIL)
        number, reference = self._cell(cells, Field.CARD_NUMBER), self._cell(cells, Field.REFERENCE)
        if len(name) > LONGEST_NAME:
            return Fault.NAME_TOO_LONG
        if email and (len(email) > LONGEST_EMAIL or not EMAIL.fullmatch(email)):
            return Fault.EMAIL_INVALID
        if len(reference) > LONGEST_REFERENCE:
            return Fault.REFERENCE_TOO_LONG
        category = self._category(self._cell(cells, Field.CATEGORY))
        if isinstance(category, Fault):
            return category
        if number:
            number = cards.read(number)
            if not CARD_NUMBER.fullmatch(number) or not cards.has_good_check_digit(number):
                return Fault.BAD_CARD_NUMBER
        # A holder has a name; who gave an address alone is called by it.
        name = name or email[:LONGEST_NAME]
        return Wish(line, category, number or None, name or None, email or None, reference or None)

    def _cell(self, cells: Sequence[str], field: Field) -> str:
        place = self._places.get(field)
        return cells[place].strip() if place is not None and place < len(cells) else ""

    def _category(self, text: str) -> UUID | Fault:
        if not text:
            return self._otherwise or Fault.NO_CATEGORY
        word = text.casefold()
        found = self._by_name.get(word) or self._by_tier.get(word, [])
        if len(found) > 1:
            return Fault.AMBIGUOUS_CATEGORY
        return found[0] if found else Fault.UNKNOWN_CATEGORY
