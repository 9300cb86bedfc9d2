"""Cards on paper: whatever the texts, the code can be read and nothing leaves the card."""

from pathlib import Path

import pytest

from gatepass.domain.card_sheets import Layout, PrintedCard, PrintedEvent
from gatepass.domain.card_sheets.joined_pdf import UnknownForm, part_of
from gatepass.domain.card_sheets.pages import draw
from tests.domain.card_exports.printed_pages import codes_on, rendered

TOKEN = "SVC1.U1ZDIDAzMTEgMzI4OCA2MDU3.1790000000." + "A" * 86
NUMBER = "SVC 0311 3288 6057"
LONG = "A title without end that goes on and on until nobody can read it any more " * 3
TEXTS = [
    "",
    "Ann",
    LONG,
    "W" * 200,
    "محمد عبد الله " * 10,
    "王" * 200,
    "=1+1",
    "%s {0} \\( ) endobj 5 0 R stream",
    "\u202e\0x",
]


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_card_with_any_text_has_its_code_and_its_margins(layout: Layout, text: str, tmp_path: Path) -> None:
    event = PrintedEvent(text or "Jazz", text or "Sat 21 Nov 2026, 19:30", text)
    document = draw(event, [PrintedCard(NUMBER, text or "VIP", text, TOKEN)], layout)
    assert part_of(document, 3).pages == 1
    (tmp_path / "card.pdf").write_bytes(document)
    (page,) = rendered(tmp_path / "card.pdf", tmp_path)
    assert codes_on(page) == [TOKEN]
    if layout is not Layout.A4:
        # Nothing is drawn within two millimetres of the edge.
        inset = 12
        edge = page.copy()
        edge.paste(255, (inset, inset, page.width - inset, page.height - inset))
        assert edge.getextrema() == (255, 255)


def test_a_card_without_a_token_has_no_code(tmp_path: Path) -> None:
    event = PrintedEvent("Jazz", "Sat 21 Nov 2026, 19:30", "")
    (tmp_path / "card.pdf").write_bytes(draw(event, [PrintedCard(NUMBER, "VIP", "Ann", None)] * 3, Layout.A4))
    (page,) = rendered(tmp_path / "card.pdf", tmp_path)
    assert codes_on(page) == []


def test_another_form_of_document_is_refused() -> None:
    event = PrintedEvent("Jazz", "now", "")
    good = draw(event, [PrintedCard(NUMBER, "VIP", "Ann", TOKEN)], Layout.CARD)
    for bad in (b"", b"%PDF-1.7", good[: len(good) // 2], good.replace(b"/Type /Pages", b"/Type /Sheet")):
        with pytest.raises(UnknownForm):
            part_of(bad, 3)
