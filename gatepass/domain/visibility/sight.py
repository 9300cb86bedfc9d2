"""What one role sees of the rows that are read for it.

A row with fields of guests says which they are: `guest: ClassVar[Columns] = {"card_number": NUMBER, "name": NAME}`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

from gatepass.domain.visibility.fields import GuestField
from gatepass.domain.visibility.masking import masked, masked_in

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Column:
    """A column with a field of a guest, and what is shown in its place."""

    field: GuestField
    instead: Callable[[str], str | None]


Columns = Mapping[str, Column]


def _nothing(_: str) -> None:
    return None


NAME: Final = Column(GuestField.NAME, _nothing)
EMAIL: Final = Column(GuestField.EMAIL, _nothing)
NUMBER: Final = Column(GuestField.NUMBER, masked)
# Words that may have a card number among them, such as a reason or the body of a message.
WORDS: Final = Column(GuestField.NUMBER, masked_in)


@dataclass(frozen=True, slots=True)
class Sight:
    fields: frozenset[GuestField]

    def sees(self, field: GuestField) -> bool:
        return field in self.fields

    def number(self, card_number: str) -> str:
        return card_number if self.sees(GuestField.NUMBER) else masked(card_number)

    def words(self, text: str) -> str:
        return text if self.sees(GuestField.NUMBER) else masked_in(text)

    def of(self, shown: Shown) -> Shown:
        """A row, or rows in a list or a mapping, without what may not be seen. Anything else stays as it is."""
        return shown if self.fields >= frozenset(GuestField) else cast("Shown", self._of(shown))

    def _of(self, shown: Any) -> Any:
        if type(shown) in (list, tuple):
            return type(shown)(self._of(one) for one in shown)
        if type(shown) is dict:
            return {key: self._of(value) for key, value in cast("dict[Any, Any]", shown).items()}
        if is_dataclass(shown) and type(shown).__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return self._of_row(shown)
        return shown

    def _of_row(self, row: Any) -> Any:
        """A row itself, and the rows in it."""
        columns: Columns = getattr(row, "guest", {})
        changed: dict[str, Any] = {}
        for one in fields(row):
            value, column = getattr(row, one.name), columns.get(one.name)
            if column is None:
                seen = self._of(value)
            else:
                seen = value if value is None or self.sees(column.field) else column.instead(value)
            if seen is not value:
                changed[one.name] = seen
        return replace(row, **changed) if changed else row
