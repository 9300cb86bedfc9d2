"""Plain words: none that a reader has to think about, and one word for one figure."""

import re
from collections.abc import Iterator

import pytest

from tests.markdown_page import ROOT, pages

# A ticket is issued, sold or not. `sold_out` and `quantity_sold` are frozen names of the API.
BAD = re.compile(r"\b(mend(?:s|ed|ing)?|anew|tickets (?:are |were )?(?:sold|given out)|numbers? sold)\b", re.IGNORECASE)
# Labels of the studio that said less than the words which they have now.
LABELS = re.compile(r">\s*(Leave it|Not said)\s*<|Paste any id|given out|\bsold of\b")


def texts() -> Iterator[tuple[str, str]]:
    yield from ((page.name, page.text) for page in pages())
    for path in (ROOT / "gatepass/studio/templates").rglob("*.html"):
        yield str(path.relative_to(ROOT)), path.read_text()


def test_pages_use_plain_words() -> None:
    assert [(name, found[0]) for name, text in texts() for found in BAD.finditer(text)] == []
    labels = [(name, text) for name, text in texts() if name.endswith(".html")]
    assert [(name, found[0]) for name, text in labels for found in LABELS.finditer(text)] == []
    assert len(labels) > 50


@pytest.mark.parametrize("text", ["once mended", "Make it anew.", "40 tickets are sold", "tickets given out"])
def test_a_word_that_is_not_plain_is_found(text: str) -> None:
    assert BAD.search(text)
