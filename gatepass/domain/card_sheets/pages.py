"""Drawing cards: where each text and the code stand, in millimetres, for each layout.

A text that is too long is first set smaller, then broken into the lines that there are, then cut with an ellipsis.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fpdf import FPDF

from gatepass.domain.card_sheets.cards import Layout, PrintedCard, PrintedEvent
from gatepass.domain.card_sheets.letters import BOLD, REGULAR, visual
from gatepass.domain.card_sheets.qr_code import picture

CARD_SIZE: Final = (85.6, 54.0)
BADGE_SIZE: Final = (90.0, 130.0)
A4_SIZE: Final = (210.0, 297.0)
COLUMNS, ROWS = 2, 5
# Cut marks begin this far from the cards, and are this long.
MARK_GAP, MARK_LENGTH = 1.5, 5.0
POINT: Final = 25.4 / 72
LEADING: Final = 1.22
# A text is set down to this share of its size before it is broken or cut.
SMALLEST: Final = 0.8
ELLIPSIS: Final = "…"
INK, GREY, LINE = 0, 95, 190
FAMILY: Final = "DejaVu"
NO_CODE: Final = "Show the code on your phone."


def draw(event: PrintedEvent, cards: Iterable[PrintedCard], layout: Layout) -> bytes:
    """A PDF of these cards."""
    return bytes(_Pages(event, layout).drawn(list(cards)).output())


@dataclass(frozen=True, slots=True)
class _Style:
    """A text of at most this many lines; sizes are in points."""

    size: float
    lines: int = 1
    bold: bool = False
    grey: int = INK
    centred: bool = False


class _Pages:
    def __init__(self, event: PrintedEvent, layout: Layout) -> None:
        self._event = event
        self._layout = layout
        # The lines of each text: most of them stand on every card.
        self._known: dict[tuple[str, float, _Style], tuple[_Style, list[str]]] = {}
        size = {Layout.CARD: CARD_SIZE, Layout.BADGE: BADGE_SIZE}.get(layout, A4_SIZE)
        self._pdf = FPDF(unit="mm", format=size)
        self._pdf.set_auto_page_break(auto=False)
        self._pdf.set_margin(0)
        self._pdf.c_margin = 0
        self._pdf.add_font(FAMILY, "", REGULAR)
        self._pdf.add_font(FAMILY, "B", BOLD)

    def drawn(self, cards: Sequence[PrintedCard]) -> FPDF:
        for place, card in enumerate(cards):
            on_page = place % self._layout.cards_a_page
            if on_page == 0:
                self._pdf.add_page()
                if self._layout is Layout.A4:
                    self._cut_marks()
            match self._layout:
                case Layout.A4:
                    self._card(card, *_place_on_a4(on_page))
                case Layout.CARD:
                    self._card(card, 0, 0)
                case Layout.BADGE:
                    self._badge(card)
                case Layout.PAGE:
                    self._page(card)
        return self._pdf

    def _card(self, card: PrintedCard, x: float, y: float) -> None:
        width, height = CARD_SIZE
        pad, code = 5.0, 36.0
        self._code(card, x + width - code - 2.5, y + 3.0, code)
        left = width - code - 2.5 - pad
        below = self._text(self._event.title, x + pad, y + 5.2, left, _Style(10.5, 3, bold=True))
        below = self._text(self._event.when, x + pad, below + 1.3, left, _Style(7))
        self._text(self._event.venue, x + pad, below + 0.6, left, _Style(7, 2, grey=GREY))
        if card.name:
            self._text(card.name, x + pad, y + 34.2, left, _Style(9.5, 2, bold=True), upwards_from=y + 42.6)
        self._category(card.category, x + pad, y + height - 9.6, left)
        self._text(card.number, x + width - code - 2.5, y + 40.6, code, _Style(8.5, bold=True, centred=True))

    def _badge(self, card: PrintedCard) -> None:
        width, height = BADGE_SIZE
        pad, code = 7.0, 66.0
        inner = width - 2 * pad
        below = self._text(self._event.title, pad, 8.0, inner, _Style(14, 2, bold=True, centred=True))
        where = " · ".join(part for part in (self._event.when, self._event.venue) if part)
        self._text(where, pad, below + 1.0, inner, _Style(8, 2, grey=GREY, centred=True))
        self._text(card.name, pad, 31.5, inner, _Style(17, 1, bold=True, centred=True))
        self._code(card, (width - code) / 2, 41.0, code)
        self._text(card.number, pad, 107.5, inner, _Style(11, bold=True, centred=True))
        self._category(card.category, pad, height - 14.0, inner, centred=True, size=10)

    def _page(self, card: PrintedCard) -> None:
        width, _ = A4_SIZE
        pad, code = 25.0, 90.0
        inner = width - 2 * pad
        below = self._text(self._event.title, pad, 30.0, inner, _Style(26, 3, bold=True))
        below = self._text(self._event.when, pad, below + 4.0, inner, _Style(14))
        below = self._text(self._event.venue, pad, below + 1.5, inner, _Style(14, 2, grey=GREY))
        self._pdf.set_draw_color(LINE)
        self._pdf.line(pad, below + 8.0, width - pad, below + 8.0)
        below = self._text(card.name, pad, below + 16.0, inner, _Style(20, 2, bold=True))
        self._category(card.category, pad, below + 3.0, inner, size=12)
        self._code(card, (width - code) / 2, 150.0, code)
        self._text(card.number, pad, 243.0, inner, _Style(16, bold=True, centred=True))

    def _code(self, card: PrintedCard, x: float, y: float, side: float) -> None:
        """The code with its quiet zone; for an event that takes phones' own codes only, a sentence."""
        if card.token is not None:
            self._pdf.image(picture(card.token), x, y, side, side)
            return
        self._pdf.set_draw_color(LINE)
        inset = side / 14
        self._pdf.rect(x + inset, y + inset, side - 2 * inset, side - 2 * inset)
        style = _Style(side / 4.5, 4, grey=GREY, centred=True)
        self._text(NO_CODE, x + 2 * inset, y + side * 0.36, side - 4 * inset, style)

    def _category(
        self, words: str, x: float, y: float, width: float, *, centred: bool = False, size: float = 7.5
    ) -> None:
        """White on black: a gate sees it from afar, and a printer without colour prints it."""
        style = _Style(size, bold=True, grey=255)
        high = size * POINT * 1.9
        self._style(style)
        text = self._cut(words, width - high, style)
        drawn = self._pdf.get_string_width(visual(text)) + high
        left = x + (width - drawn) / 2 if centred else x
        self._pdf.set_fill_color(INK)
        self._pdf.rect(left, y, drawn, high, style="F", round_corners=True, corner_radius=high / 4)
        self._line(text, left + high / 2, y + high * 0.5 - size * POINT * 0.5, drawn - high, style)

    def _text(
        self, text: str, x: float, y: float, width: float, style: _Style, *, upwards_from: float | None = None
    ) -> float:
        """Draw a text below `y`, or above `upwards_from`; the lower edge of what was drawn."""
        if not text.strip():
            return y
        key = (text, width, style)
        style, lines = self._known.get(key) or self._known.setdefault(key, self._set(text, width, style))
        high = style.size * POINT * LEADING
        top = y if upwards_from is None else upwards_from - high * len(lines)
        for place, line in enumerate(lines):
            self._line(line, x, top + place * high, width, style)
        return top + high * len(lines)

    def _line(self, text: str, x: float, top: float, width: float, style: _Style) -> None:
        self._style(style)
        drawn = visual(text)
        left = x + (width - self._pdf.get_string_width(drawn)) / 2 if style.centred else x
        self._pdf.text(left, top + style.size * POINT * 0.88, drawn)

    def _set(self, text: str, width: float, style: _Style) -> tuple[_Style, list[str]]:
        """The lines of a text, and the size at which they fit."""
        text = " ".join(text.split())
        smaller = _Style(style.size * SMALLEST, style.lines, style.bold, style.grey, style.centred)
        for tried in (style, smaller):
            self._style(tried)
            lines = self._broken(text, width)
            if len(lines) <= tried.lines and all(self._width(line) <= width for line in lines):
                return tried, lines
        kept = lines[: style.lines - 1]
        rest = " ".join(lines[style.lines - 1 :])
        return smaller, [*(self._cut(line, width, smaller) for line in kept), self._cut(rest, width, smaller)]

    def _broken(self, text: str, width: float) -> list[str]:
        lines: list[str] = []
        for word in text.split(" "):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self._width(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _cut(self, text: str, width: float, style: _Style) -> str:
        """As much of the text as fits, with an ellipsis if that is not all."""
        self._style(style)
        if self._width(text) <= width:
            return text
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            tried = (fits + too_long) // 2
            fits, too_long = (tried, too_long) if self._width(text[:tried] + ELLIPSIS) <= width else (fits, tried)
        return text[:fits].rstrip(" ,.-·") + ELLIPSIS

    def _width(self, text: str) -> float:
        return self._pdf.get_string_width(visual(text))

    def _style(self, style: _Style) -> None:
        self._pdf.set_font(FAMILY, "B" if style.bold else "", style.size)
        self._pdf.set_text_color(style.grey)

    def _cut_marks(self) -> None:
        """At the end of each cut, outside of the cards."""
        left, top = _place_on_a4(0)
        width, height = CARD_SIZE
        right, bottom = left + COLUMNS * width, top + ROWS * height
        self._pdf.set_draw_color(INK)
        self._pdf.set_line_width(0.15)
        for column in range(COLUMNS + 1):
            x = left + column * width
            self._pdf.line(x, top - MARK_GAP - MARK_LENGTH, x, top - MARK_GAP)
            self._pdf.line(x, bottom + MARK_GAP, x, bottom + MARK_GAP + MARK_LENGTH)
        for row in range(ROWS + 1):
            y = top + row * height
            self._pdf.line(left - MARK_GAP - MARK_LENGTH, y, left - MARK_GAP, y)
            self._pdf.line(right + MARK_GAP, y, right + MARK_GAP + MARK_LENGTH, y)


def _place_on_a4(place: int) -> tuple[float, float]:
    """The upper left corner of a card on a page of ten."""
    row, column = divmod(place, COLUMNS)
    left = (A4_SIZE[0] - COLUMNS * CARD_SIZE[0]) / 2
    top = (A4_SIZE[1] - ROWS * CARD_SIZE[1]) / 2
    return left + column * CARD_SIZE[0], top + row * CARD_SIZE[1]
