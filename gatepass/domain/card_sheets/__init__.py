"""Cards on paper: pages of PDF in several sizes, drawn in parts that join to one file. It knows no database.

Whoever draws imports `pages`: the libraries behind it take half a second to load, and no other process needs them.
"""

from gatepass.domain.card_sheets.cards import Layout, PrintedCard, PrintedEvent
from gatepass.domain.card_sheets.joined_pdf import FIRST_OBJECT, PdfPart, beginning, ending, part_of

__all__ = [
    "FIRST_OBJECT",
    "Layout",
    "PdfPart",
    "PrintedCard",
    "PrintedEvent",
    "beginning",
    "ending",
    "part_of",
]
