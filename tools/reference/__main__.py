"""`make reference`: write the generated parts of the reference pages."""

from tools.reference.pages import DOCS, generated, replaced

for name, text in generated().items():
    page = DOCS / name
    page.write_text(replaced(page.read_text(encoding="utf-8"), text), encoding="utf-8")
