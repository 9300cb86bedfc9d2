"""A PDF of several parts is one file that readers open, and each of its codes is the card's."""

from pathlib import Path

import pytest

from gatepass.domain import cards
from gatepass.domain.card_exports import ExportKind, ExportState, job
from gatepass.domain.card_sheets import Layout
from tests.domain.card_exports.conftest import Press
from tests.domain.card_exports.printed_pages import codes_on, rendered


@pytest.mark.parametrize("layout", [Layout.A4, Layout.CARD, Layout.BADGE])
async def test_a_file_of_parts_has_every_code_once(
    press: Press, layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "CARDS_OF_PDF_PART", 10)
    numbers = [(await press.tenant.card()).number for _ in range(23)]
    made = await press.made(await press.begin(ExportKind.PDF, layout=layout))
    document = tmp_path / "cards.pdf"
    document.write_bytes(await press.content(made.id))
    pages = list(rendered(document, tmp_path))
    assert made.state is ExportState.READY
    assert len(pages) == made.pages == (3 if layout is Layout.A4 else 23)
    async with press.tenant.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, press.tenant.id)
    read = [text for page in pages for text in codes_on(page)]
    assert sorted(cards.read_token(text, keys).card_number for text in read) == sorted(numbers)


async def test_a_file_of_whole_parts_ends_well(press: Press, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "CARDS_OF_PDF_PART", 10)
    for _ in range(20):
        await press.tenant.card()
    made = await press.made(await press.begin(ExportKind.PDF))
    document = tmp_path / "cards.pdf"
    document.write_bytes(await press.content(made.id))
    assert len(list(rendered(document, tmp_path))) == 2
