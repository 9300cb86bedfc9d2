"""Visibility: the fields of a guest, what a role sees of a row, and how a card number is masked."""

from gatepass.domain.visibility.fields import GuestField
from gatepass.domain.visibility.masking import masked, masked_in
from gatepass.domain.visibility.sight import EMAIL, NAME, NUMBER, WORDS, Columns, Sight

__all__ = ["EMAIL", "NAME", "NUMBER", "WORDS", "Columns", "GuestField", "Sight", "masked", "masked_in"]
